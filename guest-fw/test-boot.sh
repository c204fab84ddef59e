#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The guests under QEMU's own CPU emulation: both boot protocols, the words,
# the ways to end, the other CPUs. No KVM is needed, and none of this says
# anything about the timer, which that emulation does not offer.
# Arguments: hello.elf lateness.elf smp.elf. Prints TAP.
set -eu

hello=$1
lateness=$2
smp=$3
count=0
failed=0

if ! command -v qemu-system-x86_64 >/dev/null; then
	echo "1..0 # SKIP qemu-system-x86_64 is not installed"
	exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# QEMU prefers multiboot where it finds it; without the magic number it takes
# the PVH note.
LC_ALL=C sed 's/\x02\xb0\xad\x1b/\x00\x00\x00\x00/' "$hello" \
	>"$scratch/hello-pvh.elf"

# run STATUS TEXT IMAGE ARGS...: QEMU's exit status and a line of output.
# isa-debug-exit turns the guest's status n into 2n+1; a reset ends with 0.
run() {
	want=$1
	text=$2
	image=$3
	shift 3
	count=$((count + 1))
	got=0
	timeout 60 qemu-system-x86_64 -accel tcg -cpu max -smp 4,sockets=4 -m 64 \
		-nodefaults -display none -serial stdio -no-reboot \
		-device isa-debug-exit,iobase=0xf4,iosize=4 \
		-kernel "$image" -append "$*" \
		</dev/null >"$scratch/out" 2>&1 || got=$?
	name="$(basename "$image") $*"
	if [ "$got" -eq "$want" ] && grep -qF -- "$text" "$scratch/out"; then
		echo "ok $count - $name"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $count - $name"
	echo "# status $got, expected $want, and the text: $text"
	tail -n 5 "$scratch/out" | tr -cd '\n\40-\176' | sed 's/^/# /'
}

echo "1..19"
run 1 'booted by multiboot' "$hello"
run 11 'status=5' "$hello" status=5
run 15 'booted by pvh, command line "status=7"' "$scratch/hello-pvh.elf" \
	status=7
run 127 'booted by pvh' "$scratch/hello-pvh.elf" status=63
run 3 'hello: 4 CPUs' "$hello" cpus=4 status=1
run 127 'guest: exception 6' "$hello" fault
run 0 'hello:' "$hello" reset
run 0 'hello:' "$hello" reset=cf9
run 0 'hello:' "$hello" triple
run 121 'command line: stauts: unknown word' "$hello" stauts=5
run 121 'command line: status: not a decimal number' "$hello" status=five
run 121 'command line: status: given twice' "$hello" status=1 status=2
run 125 'CPUID offers no TSC-deadline timer' "$lateness"
# All that is not of the timer is emulated, in xAPIC mode; and a fault is found.
run 1 ' 0 failed' "$smp" cpus=4
run 121 'apic: CPUID offers no x2APIC' "$smp" apic=x2apic
run 3 'CPUID leaf 1: CPU 3' "$smp" cpus=4 count=100 fault=id
run 3 'did not take it: FAILED' "$smp" cpus=4 count=100 fault=lost
run 3 'took something else: FAILED' "$smp" cpus=4 count=100 fault=stray
run 3 'doubled 1' "$smp" cpus=4 count=100 fault=pong-twice
[ "$failed" -eq 0 ]
