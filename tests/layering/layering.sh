#!/bin/bash
# SPDX-License-Identifier: MIT
#
# layering.sh SOURCE-ROOT BUILD-ROOT - checks the layering rules of checks.sh,
# on a plain build (sanitizers and coverage import much more), and then that
# each check can fail: every breach is planted in a scratch copy.
set -eu -o pipefail

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/style/tap.sh
. "$here/../style/tap.sh"
# shellcheck source=tests/layering/checks.sh
. "$here/checks.sh"

source=$1
build=$2
archives='timer/libtimer.a timer/libhosttimer.a apic/libapic.a
	vmm/dev/libdev.a'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# planted CHECK FILE LINE WORDS: with LINE at the end of FILE in a copy of
# the sources, CHECK must say WORDS.
planted()
{
	printf '%s\n' "$3" >>"$scratch/src/$2"
	tap_found "found: $2: $3" "$4" "$1" "$scratch/src"
	cp "$source/$2" "$scratch/src/$2"
}

# planted_import ARCHIVE BODY WORDS: with BODY compiled in the place of
# ARCHIVE, the check must say WORDS, or nothing if WORDS is empty. The rest
# of the build is linked to, by directory: thin archives hold relative paths.
planted_import()
{
	local dir=${1%/*} fake=$scratch/build

	rm -rf "$fake"
	mkdir -p "$fake/vmm"
	ln -s "$build/timer" "$build/apic" "$fake"
	ln -s "$build/vmm/dev" "$fake/vmm"
	rm "$fake/$dir"
	mkdir "$fake/$dir"
	[ "$dir" != timer ] || cp "$scratch/below.o" "$fake/timer/libtimer.a"
	printf '%s\n' "$2" | gcc -x c -c -O2 -o "$fake/$1" -
	if [ -n "$3" ]; then
		tap_found "found: $3" "$3" check_archives "$fake" "$1"
	else
		tap_clean "allowed: $1: $2" check_archives "$fake" "$1"
	fi
}

self_test_sources()
{
	mkdir "$scratch/src"
	cp -r "$source"/{timer,apic,vmm,guest-fw} "$scratch/src"
	planted check_includes timer/tsc.h '#include "../apic/lapic_timer.h"' \
		'timer/tsc.h includes "../apic/lapic_timer.h"'
	planted check_includes timer/tsc.c '#include "lapic_timer.h"' \
		'timer/tsc.c includes "lapic_timer.h"'
	planted check_includes timer/tsc.c '  #  include <time.h> // why' \
		'timer/tsc.c includes <time.h>'
	planted check_includes apic/lapic_timer.c '#include <pthread.h>' \
		'apic/lapic_timer.c includes <pthread.h>'
	planted check_includes apic/lapic_timer.h '#include "uart16550.h"' \
		'apic/lapic_timer.h includes "uart16550.h"'
	planted check_includes vmm/dev/uart16550.c '#include "lapic_timer.h"' \
		'vmm/dev/uart16550.c includes "lapic_timer.h"'
	planted check_includes vmm/dev/uart16550.c '#include HEADER' \
		'vmm/dev/uart16550.c includes HEADER'
	planted check_kvm_headers vmm/dev/uart16550.c \
		'#include <linux/kvm.h>' \
		'vmm/dev/uart16550.c includes <linux/kvm.h>'
	planted check_kvm_headers apic/lapic_timer.h '#include <asm/kvm.h>' \
		'apic/lapic_timer.h includes <asm/kvm.h>'
	planted check_ioctl_calls vmm/main.c \
		'/* */ int f(int fd) { return ioctl (fd, 0); }' \
		'vmm/main.c calls ioctl'
	printf '/* ioctl(a) */\nchar *s = "ioctl(b)"; // ioctl(c)\n%s\n' \
		'int kvm_ioctl(int d);' >>"$scratch/src/vmm/main.c"
	tap_clean 'allowed: ioctl( in comments, strings, longer names' \
		check_ioctl_calls "$scratch/src"
	rm -rf "$scratch/src/apic"
	tap_found 'found: a module without sources' 'apic: no sources' \
		check_includes "$scratch/src"
}

self_test_archives()
{
	local symbol fake=$scratch/build

	echo 'void below(void); void below(void) {}' |
		gcc -x c -c -o "$scratch/below.o" -
	symbol=$(exports_of "$build/timer/libtimer.a" | sed -n 1p)
	planted_import apic/libapic.a \
		"void $symbol(void); void f(void) { $symbol(); }" ''
	symbol=$(exports_of "$build/apic/libapic.a" | sed -n 1p)
	planted_import timer/libtimer.a \
		"void $symbol(void); void f(void) { $symbol(); }" \
		"timer/libtimer.a imports $symbol"
	planted_import apic/libapic.a \
		'int getpid(void); int f(void) { return getpid(); }' \
		'apic/libapic.a imports getpid'
	planted_import vmm/dev/libdev.a \
		'void *malloc(unsigned long); void *f(void) { return malloc(9); }' \
		'vmm/dev/libdev.a imports malloc'
	planted_import timer/libhosttimer.a \
		'int ioctl(int, ...); int f(void) { return ioctl(0); }' \
		'timer/libhosttimer.a imports ioctl'

	cp "$fake/timer/libhosttimer.a" "$fake/vmm/main.c.o"
	tap_found 'found: ioctl imported outside of kvm.c' \
		'vmm/main.c.o imports ioctl' check_ioctl_imports "$fake"
	tap_found 'found: kvm.c missing' 'vmm/kvm.c: not built' \
		check_ioctl_imports "$fake"
	rm "$fake/timer/libtimer.a"
	tap_found 'found: an archive missing' \
		'timer/libtimer.a: not built' \
		check_archives "$fake" apic/libapic.a
}

tap_clean 'timer, apic and vmm/dev include what stands below them' \
	check_includes "$source"
tap_clean 'KVM headers in vmm/ alone' check_kvm_headers "$source"
tap_clean 'ioctl called in vmm/kvm.c alone' check_ioctl_calls "$source"
for archive in $archives; do
	tap_clean "$archive imports what stands below it" \
		check_archives "$build" "$archive"
done
tap_clean 'ioctl imported by kvm.c alone' check_ioctl_imports "$build"
self_test_sources
self_test_archives
tap_end
