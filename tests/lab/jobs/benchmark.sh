# SPDX-License-Identifier: MIT
# hosts: intel amd-icount
# timeout: 300
# standard: yes
# shellcheck shell=sh
# What the timer costs where a tick is an instruction, for records.sh to compare
# with what it cost before. A cell is two runs, which differ in their fires
# alone: what the longer one took more, divided by the fires it had more, is the
# cost of a fire without that of a start.
# Distances are random: with equal ones every fire meets the spin's loop in the
# same phase, and a build moves that phase by some ticks.
fires_few=200 fires_more=800
period_us=625 # 250 000 ticks on intel
points=0

# Less than an entry costs on the host, and the same for every build: lateness is
# the code's alone, and not that of where a calibration happened to end.
case $LAB_HOST in
intel*) entry_cost=2450,2700 ;;
*) entry_cost=2300,2600 ;;
esac

point() {
	points=$((points + 1))
	if [ "$1" = 0 ]; then
		echo "ok $points - $2"
	else
		echo "not ok $points - $2: exit status $1"
	fi
}

# run NAME FIRES OPTION...: any early, lost or doubled fire is a status, too
run() {
	run=$1 fires=$2
	shift 2
	punctual run -q /configs/lateness.json --samples --json="/out/$run.json" \
		--set boot_args.dist=random --set boot_args.period_us=$period_us \
		--set boot_args.fires="$fires" --set timer.max_spin_share=1 "$@" \
		> "/out/$run.text"
	point $? "$run"
}

cell() {
	cell=$1
	shift
	for wait in spin hlt; do
		for count in $fires_few $fires_more; do
			run "$cell.$wait.$count" "$count" \
				--set boot_args.wait=$wait "$@"
		done
	done
}

# arms NAME OPTION...: what a deadline costs for which nobody waits
arms() {
	arms=arms.$1
	shift
	punctual run -q /configs/lateness.json --json="/out/$arms.json" \
		--set boot-source.boot_args="arms_only fires=1000" "$@" \
		> "/out/$arms.text"
	point $? "$arms"
}

# How the costs were found is in the results, and compared by eye.
punctual bench -q /configs/lateness.json --rounds 1 \
	--vary timer.mode=userspace --vary boot_args.wait=hlt \
	--set boot_args.fires=1 --set boot_args.warmup=0 \
	--json=/out/calibration.json > /out/calibration.text
point $? "calibration"
calibrated=$(awk -F'[ ,:]+' '/"result_tsc"/ { printf "%s%s", s, $3; s = "," }' \
	/out/calibration.json)
echo "# vmentry_advance auto takes off, running and halted: $calibrated"

cell kernel --set timer.mode=kernel
cell off --set timer.advance=off --set timer.vmentry_advance=off
cell fixed --entry-cost=$entry_cost
cell posix --set timer.source=posix --entry-cost=$entry_cost
cell auto --entry-cost="$calibrated"
arms kernel --set timer.mode=kernel
arms userspace --entry-cost=$entry_cost
arms posix --set timer.source=posix --entry-cost=$entry_cost
echo "1..$points"
