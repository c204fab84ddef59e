#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check-records - what lab makes of a new measurement, without an emulator: when
# it is a failure, when a gift, and when nobody can tell. Prints TAP.
set -eu -o pipefail

lab_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lab/records.sh
. "$lab_dir/records.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0

# record FILE COMPILER TIMES
record() {
	jq -n --arg compiler "$2" --argjson times "$3" \
		'{key: {$compiler}, $times}' > "$work/$1"
}

# expect NAME WANTED: WANTED is the one line of the comparison
expect() {
	local got

	got=$(record_compare "$work/old" "$work/new")
	number=$((number + 1))
	if [[ $2 == "$got" ]]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		echo "# wanted: $2"
		echo "# got: ${got//$'\n'/$'\n#      '}"
	fi
}

# times TIME OLD NEW: two records of one time by one compiler
times() {
	record old gcc "{\"$1\": $2}"
	record new gcc "{\"$1\": $3}"
}

echo "1..13"
times fixed.spin.p50 100 109
expect "nine ticks more are worse" "worse fixed.spin.p50 100 109"
times fixed.spin.p50 100 108
expect "eight are not" "same fixed.spin.p50 100 108"
times fixed.hlt.min 100 91
expect "nine less are better" "better fixed.hlt.min 100 91"
times fixed.hlt.min 100 92
expect "eight are not" "same fixed.hlt.min 100 92"
times arm.userspace.p50 4600 5000
expect "an arm counts" "worse arm.userspace.p50 4600 5000"
times arm.kernel.p50 900 5000
expect "the kernel's does not" "seen arm.kernel.p50 900 5000"
times kernel.spin.p50 100 900
expect "nor do its fires" "seen kernel.spin.p50 100 900"
times fixed.spin.p99 100 900
expect "nor does the tail" "seen fixed.spin.p99 100 900"
record old gcc '{"fixed.spin.p50": 100}'
record new gcc '{}'
expect "a time that is gone is worse" "worse fixed.spin.p50 100 null"
record old clang '{"fixed.spin.p50": 100}'
record new gcc '{"fixed.spin.p50": 900}'
expect "another compiler is another record" "seen fixed.spin.p50 100 900"
record old gcc '{}'
expect "a time without a record" "seen fixed.spin.p50 null 900"
echo '{}' > "$work/old"
expect "no record at all" "seen fixed.spin.p50 null 900"

# Every committed record has what record_make writes.
number=$((number + 1)) bad=''
for file in "$lab_dir"/records/*.json; do
	jq -e '(.key | keys) == ["compiler", "emulator", "host", "kernel"] and
		([.times[] | numbers] | length) == (.times | length) and
		.times["fixed.spin.p50"] > 0 and
		(.warmup | length) == 10' "$file" > /dev/null || bad+=" $file"
done
if [[ -z $bad ]]; then
	echo "ok $number - the records are records"
else
	echo "not ok $number - not a record:$bad"
fi
