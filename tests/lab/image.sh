# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# image - what an emulated host boots: Debian's cloud kernel and an initramfs.
# Reads: lab_dir (this directory), guest_linux, source_dir, cache, and lab's
# functions.
# shellcheck disable=SC2154

# need_packages PACKAGE...: install what is missing, or skip the lab.
need_packages() {
	local p missing=()

	for p in "$@"; do
		[[ $(dpkg-query -W -f '${db:Status-Status}' "$p" 2> /dev/null) == \
			installed ]] || missing+=("$p")
	done
	((${#missing[@]})) || return 0
	note "installing ${missing[*]}"
	apt_lists_ready "${missing[0]}" || skip "no package ${missing[0]}"
	as_root apt-get -o DPkg::Lock::Timeout=300 -qq -y \
		--no-install-recommends install "${missing[@]}" \
		> "$cache/apt.log" 2>&1 < /dev/null ||
		skip "cannot install ${missing[*]} (see $cache/apt.log)"
}

# Sets kernel_release, kernel_image, kernel_modules and fetches the tools.
fetch_kernel() {
	local package images

	if [[ ! -d $cache/kernel ]]; then
		package=$(kernel_package linux-image-cloud-amd64)
		unpack "$cache/kernel" "$package"
	fi
	fetch_tools
	images=("$cache"/kernel/boot/vmlinuz-*)
	kernel_image=${images[0]}
	kernel_release=${kernel_image##*/vmlinuz-}
	kernel_modules=$cache/kernel/lib/modules/$kernel_release/kernel
}

# base_archive [DIR]: the part of the initramfs that no run changes: busybox,
# agent, init, and the modules, those in DIR instead of the kernel's own.
# Prints the archive's path; its name holds a hash of all that went into it.
base_archive() {
	local archive busybox=$cache/busybox/bin/busybox
	local modules=("$kernel_modules"/arch/x86/kvm/kvm{,-amd,-intel}.ko
		"$kernel_modules"/virt/lib/irqbypass.ko)

	[[ -z $1 ]] || modules+=("$1"/*.ko)
	archive=$cache/base-$(cat "$lab_dir"/{image.sh,init,agent.c} \
		"$guest_linux/initrd.sh" "$busybox" "${modules[@]}" |
		sha256sum | cut -c1-16).cpio
	[[ -e $archive ]] || make_base "$archive" "${modules[@]}"
	touch "$archive"
	find "$cache" -name 'base-*.cpio' -mmin +10000 -delete
	echo "$archive"
}

# make_base ARCHIVE MODULE...: a later module replaces an earlier one
make_base() {
	local archive=$1 root file
	shift

	root=$(mktemp -d "$cache/base.XXXXXX")
	busybox_tree "$root"
	mkdir -p "$root"/{lab,mod,sys/kernel,x}
	# objcopy drops their signatures: to check one takes Bochs seconds.
	for file in "$@"; do
		objcopy --strip-debug "$file" "$root/mod/${file##*/}"
	done
	install "$lab_dir/init" "$root/init"
	"${CC:-gcc}" -O2 -static -o "$root/bin/agent" "$lab_dir/agent.c" ||
		skip "cannot build a static program with ${CC:-gcc}"
	pack "$root" > "$archive.$$"
	mv "$archive.$$" "$archive"
	rm -rf "$root"
}

# stage_build BUILD ROOT: what the project's build has for a guest to run
stage_build() {
	local build=$1 root=$2 f

	mkdir -p "$root"/{bin,guest-fw,configs,tests/kvm,build}
	# Where the configurations look for their images.
	ln -sfn ../guest-fw "$root/build/guest-fw"
	cp "$build/vmm/punctual" "$root/bin/"
	[[ ! -x $build/tests/soak/soak ]] ||
		cp "$build/tests/soak/soak" "$root/bin/"
	cp "$source_dir"/configs/*.json "$root/configs/"
	for f in "$build"/guest-fw/*.elf; do
		[[ ! -e $f ]] || cp "$f" "$root/guest-fw/"
	done
	for f in "$build"/tests/kvm/*; do
		[[ ! -f $f || ! -x $f ]] || cp "$f" "$root/tests/kvm/"
	done
}

# stage_guests PLAN ROOT: the Linux guests that its jobs need, where configs/
# says they are. For others the host's memory starts without them.
stage_guests() {
	local dir=$2/build/guest/linux

	plan_needs "$1" linux || return 0
	mkdir -p "$dir" "$2/lab"
	cp "$kernel_image" "$dir/vmlinuz"
	cp "$lab_dir/linux.sh" "$2/lab/"
	exec 9> "$cache/lock"
	flock 9
	guest_initrd "$dir/initrd" "$guest_linux/init"
	if plan_needs "$1" linux-generic; then
		fetch_vmlinuz "$cache/vmlinuz-generic" linux-image-amd64
		cp "$cache/vmlinuz-generic" "$dir/"
	fi
	if plan_needs "$1" cyclictest; then
		unpack "$cache/rt-tests" rt-tests libnuma1
		stage_program "$run_dir/rt-tests" \
			"$cache/rt-tests/usr/bin/cyclictest" \
			"$cache/rt-tests/usr/lib/x86_64-linux-gnu"
		guest_initrd "$dir/initrd-cyclictest" "$guest_linux/init" \
			"$run_dir/rt-tests"
	fi
	if plan_needs "$1" qemu; then
		stage_program "$2" "$(command -v qemu-system-x86_64)"
		install -D -t "$2/usr/share/qemu" \
			/usr/share/qemu/{qboot.rom,linuxboot_dma.bin}
	fi
	exec 9>&-
}

# stage_program ROOT FILE [DIR]: FILE as /bin/NAME, with its loader and libraries,
# those in DIR before this machine's own.
stage_program() {
	local root=$1 file=$2 path

	install -D "$file" "$root/bin/${file##*/}"
	LD_LIBRARY_PATH=${3-} ldd "$file" |
		sed -n 's,^[^/]*\(/[^ ]*\) (.*,\1,p' |
		while read -r path; do
			case $path in
			# Programs name it so; the loader looks in /lib.
			*/ld-linux*) install -D "$path" "$root$path" ;;
			*) install -D "$path" "$root/lib/${path##*/}" ;;
			esac
		done
}
