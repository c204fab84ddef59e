#!/bin/bash
# SPDX-License-Identifier: MIT
#
# test-report SOURCE-ROOT - the report over all scenarios, with a stand-in for
# punctual that says how it was called: no KVM, no gnuplot. Prints TAP.
set -eu -o pipefail

root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/style/tap.sh
. "$root/tests/style/tap.sh"

# expect WHAT COMMAND...
expect()
{
	tap_holds "$@" || true
}

# Ends with STATUS for the scenario whose period is 100 us; else with 0.
cat >"$work/punctual" <<'END'
#!/bin/bash
[ "$1" != --version ] || { echo 'punctual 9.9' && exit; }
printf 'called: %s\n' "$*"
for word; do
	case $word in --plot=*) echo '<svg/>' >"${word#--plot=}" ;; esac
done
# Not pgrep, which is no part of a bare system.
grep -lsx "PPid:[[:space:]]*$PPID" /proc/[0-9]*/status |
	wc -l >>"$WORK/children"
case $* in *period_us=100\ *) exit "${STATUS:-0}" ;; esac
END
chmod +x "$work/punctual"

report()
{
	WORK=$work STATUS=${status:-0} "$root/scenarios/report" "$work/out" \
		--punctual "$work/punctual" "$@" 2>"$work/err"
}

# is STATUS COMMAND...
is()
{
	local wanted=$1 status_was=0

	shift
	"$@" || status_was=$?
	[ $status_was -eq "$wanted" ]
}

count()
{
	[ "$(grep -c -- "$1" "$work/out/report.md")" -eq "$2" ]
}

names=$(sed -n 's/^\([^#|]*\) |.*/\1/p' "$root/scenarios/list")
total=$(wc -w <<<"$names")

expect 'all scenarios: status 0' is 0 report -- --rounds 7
expect 'a part for each' count '^## ' "$total"
expect 'a plot for each' count '^!\[.*\.svg)' "$total"
expect 'the rest of the command line goes to each' \
	count '^called: bench .*--rounds 7$' "$total"
expect 'the version is told' count '^# .*punctual 9.9' 1
# The stand-in, and one busy loop for each CPU.
expect 'busy loops beside one, and only beside it' \
	[ "$(awk '{ sum += $1 } END { print sum }' "$work/children")" -eq \
	$((total + $(nproc))) ]
expect 'one scenario alone' is 0 report random
expect 'is the only part' count '^## ' 1
status=1
expect 'cannot tell: status 1' is 1 report
expect 'but the others are there' count '^## ' "$total"
expect 'and its status is told' count '^Exit status 1\.$' 1
status=77
expect 'cannot run: its status' is 77 report
expect 'and no others' count '^## ' 2
expect 'an unknown scenario is refused' is 64 report nonsense
expect 'with its name' grep -q 'nonsense: no such scenario' "$work/err"
expect 'no directory: usage' is 64 "$root/scenarios/report" 2>/dev/null
tap_end
