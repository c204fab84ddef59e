# SPDX-License-Identifier: MIT
# hosts: amd amd-icount
# timeout: 900
# standard: no
# needs: linux
# needs: qemu
# shellcheck shell=sh
# How long a Linux guest takes from the start of the VMM to its end, beside QEMU's
# microvm: the same kernel, initrd and command line. Without ACPI, which the other
# one has only with a slower firmware, a triple fault ends the guest. "Uncalibrated"
# is without the eight VMs that measure the entry cost beside the start: this host
# has one CPU for all. Judged where a tick is an instruction.
# shellcheck source=tests/lab/linux.sh
. /lab/linux.sh
rounds=3
args="$(boot_args) run=\"reboot -f\""
dir=/build/guest/linux

now_ms() {
	awk '{ print $1 * 1000 }' /proc/uptime
}

# timed NAME STATUS COMMAND...: one boot
timed() {
	name=$1 wanted=$2
	out=/out/$name.txt err=/out/$name.err
	shift 2
	began_ms=$(now_ms)
	"$@" > "$out" 2> "$err" < /dev/null
	status=$?
	took_ms=$(($(now_ms) - began_ms))
	failed=no
	holds "$name: ends, status $status" [ "$status" = "$wanted" ]
	holds "$name: is up" grep -q "guest: Linux" "$out"
	echo "# $name: $took_ms ms, $(sed -n 's/.*\(up for [0-9.]* s\).*/\1/p' "$out")"
	echo "$took_ms" >> "/tmp/${name%-*}"
	explain
}

median() {
	sort -n "/tmp/$1" | sed -n "$((rounds / 2 + 1))p"
}

# ours NAME MODE OPTION...
ours() {
	name=$1 mode=$2
	shift 2
	timed "$name" 120 punctual run -q $config --set timer.mode="$mode" \
		--set run.timeout_ms=200000 \
		--set boot-source.boot_args="$args" "$@"
}

for round in $(seq $rounds); do
	ours "kernel-$round" kernel
	ours "userspace-$round" userspace
	ours "uncalibrated-$round" userspace --set timer.vmentry_advance=off
	timed "microvm-$round" 0 qemu-system-x86_64 \
		-M microvm,acpi=off,x-option-roms=off,isa-serial=on,rtc=on \
		-accel kvm -cpu host -m 256 -nodefaults -no-user-config \
		-no-reboot -display none -serial stdio -L /usr/share/qemu \
		-kernel $dir/vmlinuz -initrd $dir/initrd -append "$args"
done
for name in kernel userspace uncalibrated microvm; do
	echo "# $name: median of $rounds: $(median $name) ms"
done
for name in kernel uncalibrated; do
	[ "$LAB_HOST" = amd-icount ] || continue
	holds "$name: not slower than microvm" \
		[ "$(median $name)" -le "$(median microvm)" ]
done
echo "1..$points"
