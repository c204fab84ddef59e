# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# packages - Debian's packages, downloaded and unpacked, never installed: this
# machine's own kernel and tools are none of our business.
# Reads: cache (a directory), and its reader's note and skip (which ends it).
# shellcheck disable=SC2154

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

# download DIR PACKAGE[=VERSION]...: the .deb files
download() {
	local dir=$1
	shift

	note "fetching $*"
	apt_lists_ready "${1%=*}" || skip "no package $1"
	# The download user of apt cannot write here, and has no need to.
	(cd "$dir" && apt-get -qq -o APT::Sandbox::User=root download \
		"$@" < /dev/null) > "$cache/apt.log" 2>&1 ||
		skip "cannot download $* (see $cache/apt.log)"
}

# unpack DIR PACKAGE[=VERSION]...: download and unpack, once. DIR appears
# complete or not at all, so that an interrupted download is not taken for a
# cached one. DIR/.version is the (first) package's version.
unpack() {
	local dir=$1 tmp deb
	shift

	[[ ! -d $dir ]] || return 0
	tmp=$(mktemp -d "$cache/unpack.XXXXXX")
	download "$tmp" "$@"
	for deb in "$tmp"/*.deb; do
		dpkg -x "$deb" "$tmp/root"
		[[ $deb != "$tmp/${1%=*}"_* ]] ||
			dpkg-deb -f "$deb" Version > "$tmp/root/.version"
	done
	mv "$tmp/root" "$dir"
	rm -rf "$tmp"
}

# kernel_package META: the package of the newest kernel, which META depends on
kernel_package() {
	local package

	apt_lists_ready "$1" || skip "no package $1 (a Debian one)"
	package=$(apt-cache depends "$1" |
		sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p')
	[[ -n $package ]] || skip "$1 depends on no kernel"
	echo "$package"
}

# fetch_vmlinuz FILE META: the image of META's kernel alone, once. It stands
# near the beginning of a package of hundreds of megabytes.
fetch_vmlinuz() {
	local file=$1 package tmp

	[[ ! -e $file ]] || return 0
	package=$(kernel_package "$2")
	tmp=$(mktemp -d "$cache/unpack.XXXXXX")
	download "$tmp" "$package"
	{ dpkg-deb --fsys-tarfile "$tmp/$package"_*.deb 2> /dev/null || true; } |
		tar -x -O --occurrence=1 "./boot/vmlinuz-${package#linux-image-}" \
			> "$tmp/vmlinuz"
	mv "$tmp/vmlinuz" "$file"
	rm -rf "$tmp"
}
