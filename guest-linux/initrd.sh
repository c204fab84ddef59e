# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# initrd - file systems of busybox and a script, for guests and the labs' hosts.
# Reads: cache, as packages.sh, which it needs.
# shellcheck disable=SC2154

# pack DIR: its files as a cpio archive on stdout, all owned by root. The same
# files make the same bytes: the memory that starts with them is alike in every
# run, or the deterministic labs were none.
pack() {
	find "$1" -exec touch -h -d @0 {} +
	(cd "$1" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
		"$cache/cpio/bin/cpio" --null -o -H newc -R 0:0 --quiet \
			--reproducible)
}

fetch_tools() {
	unpack "$cache/busybox" busybox-static
	unpack "$cache/cpio" cpio
}

# busybox_tree ROOT: busybox under each of its names, and where to mount things
busybox_tree() {
	local root=$1 busybox=$cache/busybox/bin/busybox name

	mkdir -p "$root"/{bin,dev,proc,root,sys,tmp}
	for name in $("$busybox" --list); do
		ln -sf busybox "$root/bin/$name"
	done
	# The list names busybox itself: the file replaces that link.
	rm -f "$root/bin/busybox"
	install "$busybox" "$root/bin/busybox"
}

# guest_initrd FILE INIT [TREE]: INIT, and what TREE holds, in a busybox tree
guest_initrd() {
	local file=$1 init=$2 tree=${3-} tmp

	tmp=$(mktemp -d "$cache/initrd.XXXXXX")
	busybox_tree "$tmp/root"
	install "$init" "$tmp/root/init"
	[[ -z $tree ]] || cp -a "$tree/." "$tmp/root/"
	pack "$tmp/root" > "$tmp/initrd"
	mv "$tmp/initrd" "$file"
	rm -rf "$tmp"
}
