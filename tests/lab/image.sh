# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# image - what an emulated host boots: Debian's cloud kernel and an initramfs.
# The kernel, busybox and cpio are unpacked into the cache and never installed:
# this machine's own kernel and initramfs tools are none of our business.
# Reads: lab_dir (this directory), source_dir, cache, and lab's functions.
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

as_root() {
	if ((EUID == 0)); then
		DEBIAN_FRONTEND=noninteractive "$@"
	elif command -v sudo > /dev/null; then
		sudo -n DEBIAN_FRONTEND=noninteractive "$@"
	else
		return 1
	fi
}

# True if apt knows the package, after an update at the most.
apt_lists_ready() {
	command -v apt-cache > /dev/null || skip "no apt on this machine"
	[[ -n $(apt-cache madison "$1" 2> /dev/null) ]] && return
	as_root apt-get update -qq > "$cache/apt.log" 2>&1 < /dev/null || true
	[[ -n $(apt-cache madison "$1" 2> /dev/null) ]]
}

# unpack DIR PACKAGE[=VERSION]...: download and unpack, once. DIR appears
# complete or not at all, so that an interrupted download is not taken for a
# cached one. DIR/.version is the (first) package's version.
unpack() {
	local dir=$1 tmp deb
	shift

	[[ ! -d $dir ]] || return 0
	note "fetching $*"
	apt_lists_ready "${1%=*}" || skip "no package $1"
	tmp=$(mktemp -d "$cache/unpack.XXXXXX")
	# The download user of apt cannot write here, and has no need to.
	(cd "$tmp" && apt-get -qq -o APT::Sandbox::User=root download \
		"$@" < /dev/null) > "$cache/apt.log" 2>&1 ||
		skip "cannot download $* (see $cache/apt.log)"
	for deb in "$tmp"/*.deb; do
		dpkg -x "$deb" "$tmp/root"
		[[ $deb != "$tmp/${1%=*}"_* ]] ||
			dpkg-deb -f "$deb" Version > "$tmp/root/.version"
	done
	mv "$tmp/root" "$dir"
	rm -rf "$tmp"
}

# Sets kernel_release, kernel_image, kernel_modules and the tools' paths.
fetch_kernel() {
	local meta=linux-image-cloud-amd64 package images

	if [[ ! -d $cache/kernel ]]; then
		apt_lists_ready $meta || skip "no package $meta"
		package=$(apt-cache depends $meta |
			sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p')
		unpack "$cache/kernel" "$package"
	fi
	unpack "$cache/busybox" busybox-static
	unpack "$cache/cpio" cpio
	images=("$cache"/kernel/boot/vmlinuz-*)
	kernel_image=${images[0]}
	kernel_release=${kernel_image##*/vmlinuz-}
	kernel_modules=$cache/kernel/lib/modules/$kernel_release/kernel
}

# pack DIR: its files as a cpio archive on stdout, all owned by root. The same
# files make the same bytes: the host's memory starts alike in every run, or
# the deterministic labs were none.
pack() {
	find "$1" -exec touch -h -d @0 {} +
	(cd "$1" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
		"$cache/cpio/bin/cpio" --null -o -H newc -R 0:0 --quiet \
			--reproducible)
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
		"$busybox" "${modules[@]}" | sha256sum | cut -c1-16).cpio
	[[ -e $archive ]] || make_base "$archive" "$busybox" "${modules[@]}"
	touch "$archive"
	find "$cache" -name 'base-*.cpio' -mmin +10000 -delete
	echo "$archive"
}

# make_base ARCHIVE BUSYBOX MODULE...: a later module replaces an earlier one
make_base() {
	local archive=$1 busybox=$2 root file
	shift 2

	root=$(mktemp -d "$cache/base.XXXXXX")
	mkdir -p "$root"/{bin,dev,lab,mod,proc,root,sys/kernel,tmp,x}
	for file in $("$busybox" --list); do
		ln -sf busybox "$root/bin/$file"
	done
	# The list names busybox itself: the file replaces that link.
	rm -f "$root/bin/busybox"
	install "$busybox" "$root/bin/busybox"
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
