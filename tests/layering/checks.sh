# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# The layering rules, as checks that print one line for each breach:
#
#   vmm -> vmm/dev, apic -> timer, and nothing back;
#   timer, apic and vmm/dev are pure: no system call, clock, thread, lock or
#   allocation (timer/hosttimer.c apart, in an archive of its own);
#   only vmm/ knows KVM, and only vmm/kvm.c calls ioctl.
#
# Sources are asked what they include and archives what they import: an
# include can be dodged by declaring a function by hand, an import by an
# inline function in a header.

# Headers that bring types, limits and plain memory and string work.
pure_headers='assert.h errno.h inttypes.h limits.h stdbool.h stddef.h
	stdint.h string.h'
# The compiler emits calls of the mem* family by itself. The *_chk and
# __stack_chk_fail come with distributions that harden by default, the two
# divisions with unsigned __int128.
pure_symbols='bcmp memchr memcmp memcpy memmove memset strcmp strlen strncmp
	__assert_fail __memcpy_chk __memmove_chk __memset_chk
	__stack_chk_fail __udivti3 __umodti3 _GLOBAL_OFFSET_TABLE_'
hosttimer_headers='signal.h sys/timerfd.h sys/types.h time.h unistd.h'
hosttimer_symbols='timerfd_create timerfd_settime close
	timer_create timer_settime timer_delete
	__errno_location'

# has_word LIST WORD
has_word()
{
	local word

	for word in $1; do
		[ "$word" != "$2" ] || return 0
	done
	return 1
}

# includes_of FILE...: "FILE <header>", 'FILE "header"' or "FILE MACRO", a
# line each.
includes_of()
{
	local spaces='[[:space:]]*'

	grep -HE "^$spaces#${spaces}include" "$@" | sed -E \
		-e "s/^([^:]*):$spaces#${spaces}include$spaces/\1 /" \
		-e 's/^([^ ]* (<[^>]*>|"[^"]*")).*/\1/' || true
}

# A bare name must be a header of one of the directories DIRS: a path could
# lead anywhere.
# own_header DIRS NAME
own_header()
{
	local dir

	case $2 in
	*/*) return 1 ;;
	esac
	for dir in $1; do
		[ ! -f "$dir/$2" ] || return 0
	done
	return 1
}

# check_module DIR DIRS SYSTEM-HEADERS
check_module()
{
	local file include allowed files=("$1"/*.[chS])

	[ -f "${files[0]}" ] || {
		echo "$1: no sources"
		return
	}
	includes_of "${files[@]}" | while read -r file include; do
		allowed=$3
		case $file in
		*/hosttimer.[ch]) allowed+=" $hosttimer_headers" ;;
		esac
		case $include in
		'<'*'>') has_word "$allowed" "${include:1:-1}" && continue ;;
		'"'*'"') own_header "$2" "${include:1:-1}" && continue ;;
		esac
		echo "$file includes $include"
	done
}

# The checks of sources take the root of the tree, and a subshell to go there.
check_includes()
(
	cd "$1" || exit
	check_module timer timer "$pure_headers"
	check_module apic 'apic timer' "$pure_headers"
	check_module vmm/dev 'vmm/dev timer' "$pure_headers"
)

# C and assembly of the product, below the working directory. Tests may do
# anything.
product_files()
{
	find . \( -name .git -o -name 'build*' -o -path ./tests \) \
		-prune -o -name '*.[chS]' -type f -printf '%P\n' | sort
}

check_kvm_headers()
(
	local file include files

	cd "$1" || exit
	mapfile -t files < <(product_files)
	includes_of "${files[@]}" | while read -r file include; do
		case $file in
		vmm/dev/*) ;;
		vmm/*) continue ;;
		esac
		case $include in
		'<linux/kvm'* | '<asm/kvm'*) echo "$file includes $include" ;;
		esac
	done
)

# Comments and strings may name the call; the preprocessor drops the first
# (-fpreprocessed keeps it from following includes), sed the second.
check_ioctl_calls()
(
	local file files

	cd "$1" || exit
	mapfile -t files < <(product_files)
	grep -lw ioctl "${files[@]}" | while read -r file; do
		[ "$file" != vmm/kvm.c ] || continue
		gcc -fpreprocessed -dD -E -P -x c "$file" |
			sed -E 's/"([^"\\]|\\.)*"//g' |
			grep -E '(^|[^[:alnum:]_])ioctl[[:space:]]*\(' |
			sed "s|^|$file calls ioctl: |"
	done
)

exports_of()
{
	nm -P -g --defined-only "$1" | awk '$2 ~ /^[A-Z]$/ { print $1 }'
}

# imports_of FILE SYMBOL...: what FILE neither defines nor finds in the list.
imports_of()
{
	nm -P -g "$1" | awk -v known="${*:2}" '
		BEGIN { split(known, list); for (i in list) have[list[i]] }
		NF < 2 { next }
		$2 ~ /^[Uwv]$/ { want[$1]; next }
		{ have[$1] }
		END { for (s in want) if (!(s in have)) print s }' | sort
}

# check_archive BUILD ARCHIVE "ARCHIVE-BELOW..." SYMBOL...
check_archive()
{
	local file known="${*:4}"

	for file in $2 $3; do
		if [ ! -f "$1/$file" ]; then
			echo "$file: not built"
			return
		fi
	done
	for file in $3; do
		known+=" $(exports_of "$1/$file")"
	done
	# shellcheck disable=SC2086 # the list is meant to split
	imports_of "$1/$2" $known | sed "s|^|$2 imports |"
}

# check_archives BUILD ARCHIVE...
check_archives()
{
	local build=$1 archive symbols

	shift
	for archive; do
		symbols=$pure_symbols
		[ "$archive" != timer/libhosttimer.a ] ||
			symbols+=" $hosttimer_symbols"
		case $archive in
		timer/libtimer.a)
			check_archive "$build" "$archive" '' "$symbols" ;;
		*)
			check_archive "$build" "$archive" timer/libtimer.a \
				"$symbols" ;;
		esac
	done
}

# The same as check_ioctl_calls, from the other end: what the objects import.
# nm -A puts "FILE: " in front of each symbol.
check_ioctl_imports()
(
	cd "$1/vmm" || exit
	[ -n "$(find . -name kvm.c.o)" ] || echo "vmm/kvm.c: not built"
	find . -name '*.c.o' ! -name kvm.c.o -print0 | xargs -0r nm -A -P -u |
		sed -n 's|^\./\(.*\): ioctl U.*|vmm/\1 imports ioctl|p'
)
