# SPDX-License-Identifier: MIT
# hosts: amd amd-icount amd-swallow intel*
# timeout: 120
# standard: yes
# shellcheck shell=sh
# param: default
# param: kvm_intel.preemption_timer=0
# The guest lateness in both waits, with KVM's timer and with punctual's: no
# fire early, lost or doubled (its exit status says so), and for each that it
# had one deadline went through punctual's hands. No figure is judged here.
fires=200 warmup=20
points=0

point() {
	points=$((points + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $points - $3: $1"
	else
		echo "not ok $points - $3: $1, not $2"
	fi
}

# member FILE NAME: the first number of that name in a result
member() {
	awk -F'[ ,:"]+' -v name="$2" '$2 == name { print $3; exit }' "$1"
}

# late MODE SOURCE WAIT STATUS ARMS
late() {
	run=$1-$2-$3
	out=/out/$run.json
	punctual run -q /configs/lateness.json --json="$out" \
		--set timer.mode="$1" --set timer.source="$2" \
		--set boot_args.wait="$3" --set boot_args.fires=$fires \
		--set boot_args.warmup=$warmup
	point $? "$4" "$run: exit status"
	[ "$4" = 0 ] || return
	point "$(member "$out" fires)" $((fires + warmup)) "$run: fires"
	point "$(member "$out" early)" 0 "$run: early"
	point "$(member "$out" arms)" "$5" "$run: arms"
}

for wait in spin hlt; do
	late kernel timerfd $wait 0 ''
	for source in timerfd posix; do
		if [ "$LAB_HOST" = amd-swallow ]; then
			late userspace $source $wait 77
		else
			late userspace $source $wait 0 $((fires + warmup))
		fi
	done
done
echo "1..$points"
