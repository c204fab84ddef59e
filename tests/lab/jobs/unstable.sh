# SPDX-License-Identifier: MIT
# hosts: amd-unstable
# timeout: 60
# standard: yes
# shellcheck shell=sh
# A host whose TSC is no clock: timer mode userspace is refused, naming the
# clock that the host has instead, and runs where that is allowed, marked.
clock=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)
points=0

point() {
	points=$((points + 1))
	if [ "$1" = 0 ]; then
		echo "ok $points - $2"
	else
		echo "not ok $points - $2"
	fi
}

# run OPTION...: sets status, and leaves complaint and result
run() {
	rm -f /out/result.json
	punctual run /configs/lateness.json --json=/out/result.json -q \
		--set boot_args.fires=100 --set boot_args.wait=hlt "$@" \
		> /out/console.text 2> /out/complaint.text
	status=$?
	sed 's/^/# /' /out/complaint.text
}

[ "$clock" != tsc ]
point $? "the host's clock is not its TSC: $clock"
run
[ $status = 77 ]
point $? "refused: status $status"
[ "$(wc -l < /out/complaint.text)" = 1 ]
point $? "in one line"
grep -q "clocksource.*$clock" /out/complaint.text
point $? "that names the clock"
grep -q unstable_tsc /out/complaint.text
point $? "and the knob"
run --set timer.unstable_tsc=allow
# Deadlines of a TSC that differs between CPUs may well be met early.
[ $status = 0 ] || [ $status = 1 ]
point $? "allowed: status $status"
grep -q '"tsc_allowed_unstable": true' /out/result.json
point $? "and marked"
# Not with a deadline: with TSCs that really differ KVM's own timer waits for one
# that is far behind, and locks up the host.
punctual run -q /configs/hello.json --json=/out/kernel.json \
	--set timer.mode=kernel > /out/console.text
status=$?
[ $status = 0 ]
point $? "KVM's own timer is not refused: status $status"
grep -q '"tsc_allowed_unstable": false' /out/kernel.json
point $? "and not marked"
punctual probe > /out/probe.text
[ $? = 77 ]
point $? "probe refuses as well"
grep -q "$clock" /out/probe.text
point $? "and names the clock"
echo "1..$points"
