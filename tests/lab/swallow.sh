# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# swallow - KVM modules that keep IA32_TSC_DEADLINE writes to themselves.
#
# From Linux 6.18 on, KVM handles this WRMSR right after the exit and asks no
# MSR filter. The lab's 6.1 can do so, but only where it has a preemption
# timer; here that condition goes, and SVM joins in. Built from the source
# package of the lab's own kernel, against its headers.

swallow_packages=(gcc-12 make bc xz-utils)

# swallow_modules: prints the directory that has kvm.ko and kvm-amd.ko
swallow_modules() {
	local dir tmp version

	# A changed patch makes other modules.
	dir=$cache/swallow-$(sha256sum < "$lab_dir/swallow.sh" | cut -c1-16)
	if [[ ! -d $dir ]]; then
		note "building the modules of a later KVM"
		version=$(< "$cache/kernel/.version")
		tmp=$(mktemp -d "$cache/swallow.XXXXXX")
		unpack "$tmp/debs" "linux-headers-$kernel_release=$version" \
			"linux-headers-${kernel_release%-cloud-*}-common=$version" \
			"linux-kbuild-6.1=$version" "linux-source-6.1=$version"
		tar -xf "$tmp/debs/usr/src/linux-source-6.1.tar.xz" -C "$tmp" \
			linux-source-6.1/{arch/x86/kvm,virt/kvm}
		swallow_patch "$tmp/linux-source-6.1/arch/x86/kvm"
		swallow_build "$tmp/linux-source-6.1/arch/x86/kvm" \
			"$tmp/debs/usr/src" > "$cache/swallow.log" 2>&1 ||
			skip "cannot build KVM (see $cache/swallow.log)"
		mkdir "$tmp/modules"
		cp "$tmp"/linux-source-6.1/arch/x86/kvm/*.ko "$tmp/modules/"
		mv "$tmp/modules" "$dir"
		rm -rf "$tmp"
	fi
	echo "$dir"
}

# The emulated CPU does not save the next instruction's address, which the fast
# path steps to: WRMSR is two bytes long.
swallow_patch() {
	local kvm=$1 fastpath=svm_exit_handlers_fastpath

	sed -i '/^static int handle_fastpath_set_tscdeadline/,/^}/ {
		/kvm_can_use_hv_timer/,+1d
	}' "$kvm/x86.c"
	sed -i "/^static fastpath_t $fastpath/,/^}/ {
		s/nrips && control->next_rip)/swallow_wrmsr(vcpu))/
	}
	/^static fastpath_t $fastpath/i\\
static bool swallow_wrmsr(struct kvm_vcpu *vcpu)\\
{\\
	struct vcpu_svm *svm = to_svm(vcpu);\\
\\
	if (kvm_rcx_read(vcpu) != MSR_IA32_TSC_DEADLINE)\\
		return false;\\
	svm->next_rip = svm->vmcb->save.rip + 2;\\
	return true;\\
}\\
" "$kvm/svm/svm.c"
	grep -q 'swallow_wrmsr(vcpu))' "$kvm/svm/svm.c" ||
		skip "svm.c is not what swallow.sh expects"
	# The makefile and a trace header look for themselves in a whole tree.
	# shellcheck disable=SC2016
	sed -i 's,\$(srctree)/arch/x86/kvm,$(src),
		s,\$(srctree)/virt,$(src)/../../../virt,' "$kvm/Makefile"
	sed -i '/define TRACE_INCLUDE_PATH/s,[^ ]*$,.,' "$kvm/trace.h"
}

swallow_build() {
	local kvm=$1 headers=$2/linux-headers-$kernel_release

	# The packages expect to be unpacked in the root.
	sed -i "s,/usr/src/,$2/," "$headers/Makefile"
	make -s -j"$(nproc)" -C "$headers" M="$kvm" CONFIG_KVM_INTEL=n modules
}
