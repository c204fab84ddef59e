# SPDX-License-Identifier: MIT
# hosts: amd intel
# timeout: 400
# standard: amd
# needs: linux
# shellcheck shell=sh
# A stock kernel, the host's own, boots on punctual's interrupt controllers with
# both timers and on one and two CPUs: it finds its serial port's interrupt, and
# what is typed by it, its local timer ticks by deadlines, its clock knows the
# day, and it powers off. Once with the 8259s alone.
# shellcheck source=tests/lab/linux.sh
. /lab/linux.sh

# A guest of another day's midnight says what is not asked.
today=$(date -u +%F)

is_between() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

# session NAME CONTROLLER CPUS OPTION...: CONTROLLER is what ttyS0 is on
session() {
	name=$1 controller=$2 cpus=$3
	shift 3
	boot "$name" --set machine-config.vcpu_count="$cpus" "$@" <<- 'END'
		echo typed $((6 * 7))
		dmesg | grep "ttyS0 at"
		count() { awk '/ttyS0/ { print $2 + $3 }' /proc/interrupts; }
		before=$(count)
		head -c 4096 /dev/zero | tr '\0' .
		echo; echo "guest: interrupts for 4 KiB: $(($(count) - before))"
		cat /proc/interrupts
		sleep 1
		exit
	END
	holds "$name: powers off, status $status" [ "$status" = 0 ]
	holds "$name: is up" grep -q "guest: Linux .*CPUs: $cpus," "$out"
	holds "$name: knows the day" \
		grep -q -e "guest: date $today" -e "guest: date $(date -u +%F)" "$out"
	holds "$name: reads its serial port" grep -q "^typed 42" "$out"
	holds "$name: ttyS0 is a 16550A" grep -q "ttyS0 at.* 16550A" "$out"
	n=$(sed -n 's/.*guest: interrupts for 4 KiB: \([0-9][0-9]*\).*/\1/p' "$out")
	holds "$name: interrupts for 4 KiB, one for 16 bytes at most: $n" \
		is_between "${n:-0}" 1 300
	holds "$name: ttyS0 is on $controller" \
		grep -q "^ *4: .*[1-9].* $controller .*ttyS0" "$out"
	ticks_by="cpu 0: lapic-deadline"
	[ "$cpus" = 1 ] || ticks_by="$ticks_by, cpu 1: lapic-deadline"
	holds "$name: the deadline timer ticks" \
		grep -q "tick device $ticks_by;" "$out"
	n=$(ticks)
	holds "$name: local timer interrupts: $n" is_positive "$n"
	case $* in
	*timer.mode=userspace*)
		n=$(member arms)
		holds "$name: deadlines of punctual's: $n" is_positive "$n"
		;;
	esac
	explain
}

# What a boot takes on the Intel host is minutes: one of each timer, and no more.
case $LAB_HOST in
intel*) all_cpus=1 ;;
*) all_cpus='1 2' ;;
esac
for cpus in $all_cpus; do
	for mode in userspace kernel; do
		session "$mode-$cpus" IO-APIC "$cpus" --set "timer.mode=$mode"
	done
done
if [ "$all_cpus" != 1 ]; then
	session noapic XT-PIC 1 --set timer.mode=userspace \
		--set boot-source.boot_args="$(boot_args) noapic"
	n=$(member extints)
	holds "noapic: interrupts of the 8259s: $n" is_positive "$n"
fi
echo "1..$points"
