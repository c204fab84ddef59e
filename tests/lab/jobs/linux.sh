# SPDX-License-Identifier: MIT
# hosts: amd
# timeout: 400
# standard: yes
# needs: kernel
# shellcheck shell=sh
# A stock kernel, the host's own, boots on punctual's interrupt controllers with
# both timers and on one and two CPUs: it finds its serial port's interrupt, and
# a line of input by it, its local timer ticks, its clock knows the day, and it
# powers off. Once with the 8259s alone.
points=0 guest=/tmp/guest

# holds WHAT COMMAND...: a point
holds() {
	points=$((points + 1))
	what=$1
	shift
	if "$@"; then
		echo "ok $points - $what"
	else
		echo "not ok $points - $what"
		failed=yes
	fi
}

make_guest() {
	mkdir -p $guest/bin $guest/dev $guest/proc $guest/sys
	cp /bin/busybox $guest/bin/
	for applet in sh mount cat nproc poweroff awk dmesg grep head tr; do
		ln -s busybox $guest/bin/$applet
	done
	cat > $guest/init <<- 'END'
		#!/bin/sh
		mount -t proc none /proc
		mount -t sysfs none /sys
		echo "guest: up with $(nproc) CPUs"
		echo "guest: date $(cat /sys/class/rtc/rtc0/date)"
		read -r line
		echo "guest: read $line"
		dmesg | grep "ttyS0 at"
		count() { awk '/ttyS0/ { print $2 + $3 }' /proc/interrupts; }
		before=$(count)
		head -c 4096 /dev/zero | tr '\0' . > /dev/ttyS0
		echo "guest: interrupts for 4 KiB: $(($(count) - before))"
		cat /proc/interrupts
		poweroff -f
	END
	chmod +x $guest/init
	(cd $guest && find . | cpio -o -H newc) > /tmp/initrd 2> /dev/null
	cat > /tmp/linux.json <<- 'END'
		{
		  "boot-source": {
		    "kernel_image_path": "/boot/vmlinuz",
		    "initrd_path": "/tmp/initrd",
		    "protocol": "linux"
		  },
		  "machine-config": { "mem_size_mib": 256 },
		  "run": { "timeout_ms": 120000 }
		}
	END
}

# member NAME: the first number of that name in the run's result
member() {
	awk -F'[ ,:"]+' -v name="$1" '$2 == name { print $3; exit }' "$json"
}

# ticks: local timer interrupts of all CPUs; 0 if one had none
ticks() {
	awk '/^LOC:/ {
		sum = 0
		for (i = 2; $i ~ /^[0-9]+$/; i++) {
			if ($i == 0) { sum = 0; break }
			sum += $i
		}
		print sum
		exit
	}' "$out"
}

is_positive() {
	[ "${1:-0}" -gt 0 ]
}

is_between() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

# boot NAME CONTROLLER CPUS OPTIONS...: CONTROLLER is what ttyS0 is on; what a
# guest of another day's midnight says is not asked.
boot() {
	name=$1 controller=$2 cpus=$3 failed=no
	shift 3
	out=/out/$name.txt json=/out/$name.json
	# It waits before there is a guest.
	echo "a line of input" | punctual run -q /tmp/linux.json --json="$json" \
		--set machine-config.vcpu_count="$cpus" "$@" \
		> "$out" 2> "/out/$name.err"
	status=$?
	holds "$name: powers off, status $status" [ $status = 0 ]
	holds "$name: is up" grep -q "guest: up with $cpus CPUs" "$out"
	holds "$name: knows the day" \
		grep -q -e "guest: date $today" -e "guest: date $(date -u +%F)" "$out"
	holds "$name: reads its serial port" \
		grep -q "guest: read a line of input" "$out"
	holds "$name: ttyS0 is a 16550A" grep -q "ttyS0 at.* 16550A" "$out"
	n=$(sed -n 's/.*guest: interrupts for 4 KiB: \([0-9]*\).*/\1/p' "$out")
	holds "$name: interrupts for 4 KiB, one for 16 bytes at most: $n" \
		is_between "${n:-0}" 1 300
	holds "$name: ttyS0 is on $controller" \
		grep -q "^ *4: .*[1-9].* $controller .*ttyS0" "$out"
	n=$(ticks)
	holds "$name: local timer interrupts: $n" is_positive "$n"
	case $* in
	*timer.mode=userspace*)
		n=$(member arms)
		holds "$name: deadlines of punctual's: $n" is_positive "$n"
		;;
	esac
	[ $failed = no ] || tail -n 60 "$out" "/out/$name.err" | sed 's/^/# /'
}

console='console=ttyS0 panic=-1'
today=$(date -u +%F)
make_guest
for cpus in 1 2; do
	for mode in kernel userspace; do
		boot "$mode-$cpus" IO-APIC "$cpus" --set "timer.mode=$mode" \
			--set boot-source.boot_args="$console"
	done
done
boot noapic XT-PIC 1 --set timer.mode=userspace \
	--set boot-source.boot_args="$console noapic"
n=$(member extints)
holds "noapic: interrupts of the 8259s: $n" is_positive "$n"
echo "1..$points"
