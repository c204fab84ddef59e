# SPDX-License-Identifier: MIT
# hosts: amd-icount intel amd
# timeout: 3600
# standard: no
# shellcheck shell=sh
# Does a benchmark tell what is there to be told, and nothing else? Many times
# over: the same program twice, which must come out as no difference, within
# one benchmark and between two of them; and one that loses 2000 cycles after
# each wait for a deadline (tests/kvm/slowed.c), which must come out as worse.
# Without compensation: a calibration would measure the delay and take it off.
# Of equal rows one in twenty may seem to differ, of slower ones none may pass.
turns=20
points=0

count() { grep -c "$@" || :; }

# bench PROGRAM NAME
bench() {
	"$1" bench /configs/lateness.json --json="/out/$2.json" \
		--set boot_args.fires=80 --set timer.vmentry_advance=off \
		--vary timer.mode=userspace,userspace > "/out/$2.text" 2> /dev/null
	echo "$?" > "/out/$2.status"
}

# verdict FILE: those of p50, one a line
verdict() { sed -n 's/^.* p50 .*  \([a-z ]*[a-z]\).*$/\1/p' "$1"; }

# point WHAT COUNT LEAST MOST
point() {
	points=$((points + 1))
	echo "# $1: $2 of $4"
	if [ "$2" -ge "$3" ]; then
		echo "ok $points - $1"
	else
		echo "not ok $points - $1"
	fi
}

turn=0 same=0 again=0 pairs=0 worse=0
while [ $turn -lt $turns ]; do
	turn=$((turn + 1))
	bench punctual "a$turn"
	bench /tests/kvm/punctual-slowed "b$turn"
	punctual compare "/out/a$turn.json" "/out/b$turn.json" > "/out/ab$turn.text"
	same=$((same + $(verdict "/out/a$turn.text" | count -x 'no difference')))
	worse=$((worse + $(verdict "/out/ab$turn.text" | count -x worse)))
	[ $turn -gt 1 ] || continue
	pairs=$((pairs + 4))
	punctual compare "/out/a$((turn - 1)).json" "/out/a$turn.json" \
		> "/out/aa$turn.text"
	again=$((again + $(verdict "/out/aa$turn.text" | count -x 'no difference')))
done
echo "# the last turn, within, then between, then slower:"
sed 's/^/# /' "/out/a$turn.text" "/out/aa$turn.text" "/out/ab$turn.text"
# Two rows of two waits each: 2 verdicts within, 4 between.
point 'same program, one benchmark: no difference' \
	$same $((2 * turns * 19 / 20)) $((2 * turns))
point 'same program, two benchmarks: no difference' \
	$again $((pairs * 19 / 20)) $pairs
point '2000 cycles slower: worse' $worse $((4 * turns)) $((4 * turns))
echo "1..$points"
