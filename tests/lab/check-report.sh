#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check-report - what lab makes of a report, without an emulator: every way a
# job can end, and the ways a report could mislead its reader. Prints TAP.
set -eu -o pipefail

lab_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lab/report.sh
. "$lab_dir/report.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0

# expect NAME WANTED GOT
expect() {
	number=$((number + 1))
	if [[ $2 == "$3" ]]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		printf '# wanted: %s\n# got: %s\n' "$2" "${3//$'\n'/$'\n#      '}"
	fi
}

# ends NAME WANTED: the report on stdin, of the one planned job "a"; WANTED is
# passed/failed/skipped
ends() {
	declare -gA job_missing=([a]=1)
	show_jobs > "$work/tap"
	expect "$1" "$2" "$passed/$failed/$skipped"
}

echo "1..14"
ends "a good job counts its points and itself" 3/0/0 << 'END'
:S a
:o 1..2
:o ok 1 - x
:o ok 2 - y
:X a exit 0
END
ends "a failed point" 2/1/0 << 'END'
:S a
:o ok 1
:o not ok 2 - y
:X a exit 0
END
ends "a skipped point" 1/0/1 << 'END'
:S a
:o ok 1 - y # SKIP not here
:X a exit 0
END
ends "a bad status" 1/1/0 << 'END'
:S a
:o ok 1 - x
:X a exit 3
END
ends "a signal" 0/1/0 << 'END'
:S a
:X a signal 11
END
ends "a timeout" 0/1/0 << 'END'
:S a
:X a timeout
END
ends "status 77 is a skip" 0/0/1 << 'END'
:S a
:X a exit 77
END
ends "a plan not kept" 1/1/0 << 'END'
:S a
:o 1..2
:o ok 1 - x
:X a exit 0
END
ends "a bail-out" 0/1/0 << 'END'
:S a
:o Bail out! no more
:X a exit 0
END
ends "a job that is cut off" 1/1/0 << 'END'
:S a
:o ok 1 - x
END
ends "an empty report" 0/1/0 < /dev/null
ends "an end marker in a job's output is output" 0/1/0 << 'END'
:S a
:o :X a exit 0
some emulator's chatter
END

printf '%s\n' ":F a f" ":D aGVs" ":D bG8=" ":f a f" ":F .. g" ":D aGVs" \
	":f .. g" ":F a ../g" ":D aGVs" ":f a ../g" > "$work/report"
save_files "$work/report" "$work/out/files"
expect "a file arrives" hello "$(cat "$work/out/files/a/f")"
expect "and nothing outside its directory" "$work/out/files/a/f" \
	"$(find "$work/out" -type f)"
