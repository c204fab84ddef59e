# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# records - what the job "benchmark" measured on a host where a tick is an
# instruction, and whether it got worse. A record is what was measured once,
# with the versions of all that goes into it: tests/lab/records/HOST.json.
# The same versions, and a time is worse than in the record by more than
# record_slack ticks: a failure. Other versions: nothing to judge by, so both
# are shown. `lab HOST --record` writes the file anew.
# Reads: lab_dir, host, kernel_release and lab's functions.

record_slack=8 # a host may set its own

# record_key EMULATOR-PACKAGE: one JSON object
record_key() {
	jq -n --arg host "$host" \
		--arg kernel "$kernel_release $(cat "$cache/kernel/.version")" \
		--arg emulator "$1 $(dpkg-query -W -f '${Version}' "$1")" \
		--arg compiler "$("${CC:-gcc}" --version | head -n 1)" \
		'$ARGS.named'
}

# record_make DIR KEY: what the job left in DIR, as a record. In ticks of the
# TSC, each of which is an instruction; percentiles by nearest rank.
# host_per_fire: of a fire's period, what was not the guest's own waiting: for a
# spinning guest the ticks in which it did not turn its loop (six instructions),
# for a halted one the CPU time of the process.
# shellcheck disable=SC2016 # the dollars are jq's
record_make() {
	local file

	for file in "$1"/*.json; do
		jq --arg name "$(basename "$file" .json)" \
			--rawfile text "${file%.json}.text" '{$name, $text, doc: .}' \
			"$file"
	done | jq -s --argjson key "$2" '
def cpu: .doc | (.user_cpu_ns + .system_cpu_ns) * .tsc_khz / 1000000;
def cell($few; $more): $more.doc.lateness[0] as $l
	| {min: $l.min_tsc, p50: $l.p50_tsc, p99: $l.p99_tsc, max: $l.max_tsc,
	   host_per_fire:
		(if $l.loop_turns > 0
			then ($l.wait_tsc - 6 * $l.loop_turns) / $l.fires
			else (($more | cpu) - ($few | cpu)) /
				($l.fires - $few.doc.lateness[0].fires) end
		| round)}
	+ ($more.doc.vcpus[0].timer.tuner
		| if . then {advance: .advance_tsc} else {} end);
def arm: .text | capture("cost of an arm: min (?<min>\\d+) p50 (?<p50>\\d+) " +
	"p90 \\d+ p99 (?<p99>\\d+) p99.9 \\d+ max (?<max>\\d+)")
	| map_values(tonumber);
def flat: [paths(numbers) as $p | {($p | join(".")): getpath($p)}] | add;
INDEX(.name) as $run
| ["kernel", "off", "fixed", "posix", "auto"] as $ways
| {$key,
   times: ({entry_cost: ($run.calibration.doc.calibrations[0]
		| {running: .running.result_tsc, halted: .halted.result_tsc})}
	+ ([$ways[] as $c | {($c): ([("spin", "hlt") as $w
		| {($w): cell($run["\($c).\($w).200"]; $run["\($c).\($w).800"])}]
		| add)}] | add)
	+ {arm: ([("kernel", "userspace", "posix") as $m
		| {($m): ($run["arms.\($m)"] | arm)}] | add)} | flat),
   warmup: ([$ways[] as $c | ("spin", "hlt") as $w | $run["\($c).\($w).800"]
	| {(.name): .doc.lateness[0] | .samples_tsc[:.warmup]}] | add)}'
}

# record_compare OLD NEW: one line for each time, "VERDICT TIME OLD NEW".
# The verdict is "worse" (or gone) or "better" by more than the slack, "same"
# within it; "seen" where it is not for us to judge: what is the kernel's, and
# what a build may move by more than the slack: the tail, and times that hold
# the way through the scheduler.
# shellcheck disable=SC2016
record_compare() {
	jq -n -r --slurpfile old "$1" --slurpfile new "$2" \
		--argjson slack $record_slack '
($old[0].key == $new[0].key) as $judge
| ($old[0].times // {}) + $new[0].times | keys_unsorted[] as $time
| $new[0].times[$time] as $now | $old[0].times[$time] as $was
| (if ($judge and $was != null and
	($time | test("^((fixed|posix)\\..*|arm\\.(userspace|posix))\\.(min|p50)$")) | not)
	then "seen"
   elif $now == null then "worse"
   elif $now > $was + $slack then "worse"
   elif $now < $was - $slack then "better"
   else "same" end) + " \($time) \($was) \($now)"'
}

# record_check DIR: TAP for what the benchmark left in DIR
record_check() {
	local dir=$1 key verdict time was now
	local file=$lab_dir/records/$host.json new=$1/record.json

	key=$(record_key "${host_packages[0]}")
	record_make "$dir" "$key" > "$new.tmp"
	mv "$new.tmp" "$new"
	if [[ $record = yes ]]; then
		cp "$new" "$file"
		echo "# recorded in ${file#"$PWD/"}"
	fi
	if [[ ! -e $file ]]; then
		file=$dir/none.json
		echo '{}' > "$file"
	fi
	record_compare "$file" "$new" > "$dir/compared"
	while read -r verdict time was now; do
		case $verdict in
		worse) tap_point "not ok $((points + 1)) - $time: $was -> $now" ;;
		better)
			tap_point "ok $((points + 1)) - $time: $was -> $now"
			echo "# better than the record: lab $host --record"
			;;
		same) tap_point "ok $((points + 1)) - $time: $was -> $now" ;;
		*) echo "# $time: $was -> $now" ;;
		esac
	done < "$dir/compared"
}
