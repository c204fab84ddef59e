# SPDX-License-Identifier: MIT
# hosts: amd amd-icount intel
# timeout: 300
# standard: amd
# needs: linux
# needs: cyclictest
# shellcheck shell=sh
# What a Linux guest sees of its own timer: cyclictest, with both timers. Judges
# that every loop was counted, and no wake-up early; the latencies are a table.
# shellcheck source=tests/lab/linux.sh
. /lab/linux.sh
loops=500 interval_us=4000

# number NAME: what cyclictest says of it, in ns
number() {
	sed -n "s/^T: 0 .* $1: *\(-*[0-9][0-9]*\).*/\1/p" "$out"
}

in_order() {
	[ "$1" -gt 0 ] && [ "$1" -le "$2" ] && [ "$2" -le "$3" ]
} 2> /dev/null

# measure MODE
measure() {
	boot "$1" --set timer.mode="$1" --set boot-source.boot_args="$(boot_args) \
run=\"cyclictest -q -m -N -p 80 -i $interval_us -l $loops\"" \
		--set boot-source.initrd_path=/build/guest/linux/initrd-cyclictest \
		< /dev/null
	holds "$1: powers off, status $status" [ "$status" = 0 ]
	count=$(number C) min=$(number Min) avg=$(number Avg) max=$(number Max)
	holds "$1: loops: $count" [ "$count" = $loops ]
	holds "$1: not early, and in order: $min $avg $max" \
		in_order "$min" "$avg" "$max"
	printf '# %-10s %10s %10s %10s\n' "$1" "$min" "$avg" "$max" >> /tmp/table
	explain
}

measure kernel
measure userspace
n=$(member arms)
holds "userspace: deadlines of punctual's: $n" [ "${n:-0}" -ge $loops ]
printf '# %-10s %10s %10s %10s\n' "timer, ns" min avg max
cat /tmp/table
echo "1..$points"
