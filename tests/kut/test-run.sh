#!/bin/bash
# SPDX-License-Identifier: MIT
#
# test-run SOURCE-ROOT - the table of run.sh, with stand-ins for QEMU and
# punctual that print what the test's arguments say: no KVM. Prints TAP.
set -eu -o pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/style/tap.sh
. "$1/tests/style/tap.sh"

# expect WHAT COMMAND...
expect()
{
	tap_holds "$@" || sed 's/^/# /' "$work/table"
}

mkdir "$work/bin" "$work/kut" "$work/dir" "$work/out"
cp "$1/tests/kut/run.sh" "$work/kut/"

# say TEXT: "PASS 3" is three lines, "exit 3" the status, "sleep 9" a wait
cat >"$work/bin/say" <<'END'
set -- $(echo "$1" | tr , ' ')
while [ $# -gt 1 ]; do
	case $1 in
	exit | sleep) $1 "$2" ;;
	*) i=0; while [ $i -lt "$2" ]; do echo "$1: point"; i=$((i + 1)); done ;;
	esac
	shift 2
done
exit 1
END
# What comes after "qemu=", "kernel=" or "userspace=" in the guest's arguments.
cat >"$work/bin/qemu-system-x86_64" <<'END'
#!/bin/sh
echo "$*" >>"$WORK/calls"
exec sh "$WORK/bin/say" "$(echo "$*" | sed -n 's/.*qemu=\([^ ]*\).*/\1/p')"
END
cat >"$work/bin/punctual" <<'END'
#!/bin/sh
for config; do :; done
cat "$config" >>"$WORK/calls"
mode=$(sed -n 's/.*"mode": "\([a-z]*\)".*/\1/p' "$config")
exec sh "$WORK/bin/say" "$(sed -n "s/.*[ \"]$mode=\([^ \"]*\).*/\1/p" "$config")"
END
chmod +x "$work"/bin/*
touch "$work/dir"/{a,b}.flat

# section NAME [LINE...]: one more in unittests.cfg
section()
{
	printf '[%s]\nfile = a.flat\n' "$1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@"
}

# shellcheck disable=SC2016 # whoever reads it must not run it
{
	section same smp\ =\ 2 \
		'test_args = "qemu=PASS,2,SKIP,1 kernel=PASS,2,SKIP,1 userspace=PASS,2,SKIP,1"' \
		'qemu_params = -cpu qemu64,-x2apic,+tsc-deadline'
	section fails \
		'test_args = qemu=PASS,2 kernel=PASS,1,FAIL,1,exit,3 userspace=PASS,2'
	section apart \
		"test_args = 'qemu=PASS,2 kernel=PASS,2 userspace=PASS,1'"
	section endless 'test_args = qemu=PASS,1,sleep,60 kernel=PASS,1 userspace=PASS,1'
	section stuck 'test_args = qemu=PASS,1 kernel=PASS,1,exit,99 userspace=PASS,1'
	section resets 'test_args = qemu=PASS,1,exit,0 kernel=PASS,1,exit,120 userspace=PASS,1,exit,0'
	section other 'qemu_params = -device edu'
	section shell 'test_args = `touch /tmp/x`'
	section dated 'test_args = `date +%s` qemu=PASS,1,sleep,2 kernel=PASS,1 userspace=PASS,1'
	printf '[absent]\nfile = absent.flat\n'
} >"$work/dir/unittests.cfg"
cat >"$work/kut/tests" <<'END'
# a comment

same    all
fails   all
apart   kernel
endless all
stuck   all
resets  all
other   all
shell   all
dated   all
absent  all
listed  all   file=b.flat test_args=x_qemu=PASS,1_kernel=PASS,1_userspace=PASS,1
END

# table STATUS NAME...: runs it; STATUS is what it ends with. Only what never ends
# is to meet the limit.
limit_s=120
table()
{
	local wanted=$1 status=0

	shift
	rm -f "$work/calls"
	WORK=$work PATH=$work/bin:$PATH sh "$work/kut/run.sh" "$work/dir" \
		"$work/out" "$limit_s" "$@" >"$work/table" 2>"$work/err" || status=$?
	[ $status -eq "$wanted" ]
}

row()
{
	grep -qE -- "^\| $1 \| ${*:2}" "$work/table"
}

called()
{
	grep -qF -- "$1" "$work/calls"
}

expect 'three times the same: status 0' table 0 same
expect 'and its row' row same '2 \| 2 0 1 \| 2 0 1 \| 2 0 1 \| same \|'
expect "QEMU's CPU is the host's, less what the section takes away" \
	called '-cpu host,-x2apic -device'
expect "punctual's too" called '"hide_cpuid": ["x2apic"]'
expect 'two CPUs for both' called '-smp 2 '
expect 'two CPUs in the config' called '"vcpu_count": 2'
expect 'a point that fails: status 1' table 1 fails
expect 'and its row' row fails \
	'1 \| 2 0 0 \| 1 1 0 \| 2 0 0 \| kernel differs \|'
expect 'where the mode does not have to agree: status 0' table 0 apart
expect 'and its row' row apart '.*\(userspace differs\) \|'
limit_s=3
expect 'a test without an end under QEMU is not judged' table 0 endless
expect 'and its row' row endless '.*1 0 0, time limit.*no end under QEMU \|'
limit_s=120
expect 'another way to end is a difference' table 1 stuck
expect 'and its row' row stuck '.*1 0 0, status 99 .*kernel differs \|'
expect 'a triple fault is a reset' table 0 resets
expect 'and its row' row resets '.*1 0 0, reset .*1 0 0, reset .*same \|'
expect 'a machine that is not ours is not run, and a difference' table 1 other
expect 'and its row' row other 'not run: qemu_params'
expect 'a command in the arguments is not run' table 1 shell
expect 'and its row' row shell 'not run: test_args'
expect 'the date is put in' table 0 dated
expect 'as a number' grep -qE '"boot_args": "[0-9]{9,} qemu' "$work/calls"
# first_date PATTERN: the first in a call that matches
first_date()
{
	sed -nE "/$1/s/.*[ \"]([0-9]{9,}) qemu=.*/\1/p" "$work/calls" | head -n 1
}
expect 'that of each run' test "$(first_date '"boot_args"')" -gt \
	"$(first_date '-append')"
expect 'an image that is not there' table 1 absent
expect 'and its row' row absent 'not run: no absent.flat'
expect 'what the section lacks' table 0 listed
expect 'comes from the list' called 'b.flat -append x qemu='
expect 'a name that is not in the list: status 64' table 64 nothing
expect 'is named' grep -q 'no such test.*nothing' "$work/err"
expect 'several names' table 0 same dated
expect 'are several rows' test "$(grep -c same "$work/table")" -ge 2
rm "$work/bin/qemu-system-x86_64"
if ! command -v qemu-system-x86_64 >/dev/null; then
	expect 'without QEMU: status 77' table 77 same
	expect 'and nothing compared' row same '2 \| - .* no QEMU \|'
fi
tap_end
