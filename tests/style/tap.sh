# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# TAP output for test scripts. A check is a command that prints what it found
# wrong, a line each, and nothing if all is well; its status is not asked.

tap_points=0

tap_result()
{
	tap_points=$((tap_points + 1))
	printf '%s %d - %s\n' "$1" "$tap_points" "$2"
}

# tap_clean NAME CHECK...: passes if CHECK prints nothing.
tap_clean()
{
	local name=$1 found

	shift
	found=$("$@" 2>&1) || true
	if [ -z "$found" ]; then
		tap_result ok "$name"
	else
		tap_result 'not ok' "$name"
		printf '%s\n' "$found" | sed -n '1,60s/^/# /p'
	fi
}

# tap_found NAME WORDS CHECK...: passes if CHECK complains, in these words.
tap_found()
{
	local name=$1 words=$2 found

	shift 2
	found=$("$@" 2>&1) || true
	if grep -qF -- "$words" <<<"$found"; then
		tap_result ok "$name"
	else
		tap_result 'not ok' "$name"
		printf '# expected: %s\n# got: %s\n' "$words" "${found:-nothing}"
	fi
}

# tap_holds NAME COMMAND...: passes if COMMAND succeeds; what it prints goes
# nowhere. False if it does not pass, for those who have more to show.
tap_holds()
{
	local name=$1

	shift
	if "$@" >/dev/null; then
		tap_result ok "$name"
	else
		tap_result 'not ok' "$name"
		return 1
	fi
}

tap_skip()
{
	tap_result ok "$1 # SKIP $2"
}

tap_end()
{
	printf '1..%d\n' "$tap_points"
}
