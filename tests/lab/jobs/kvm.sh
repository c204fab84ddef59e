# SPDX-License-Identifier: MIT
# hosts: amd amd-swallow
# timeout: 1800
# standard: yes
# shellcheck shell=sh
# All programs of tests/kvm, one after the other, as one stream of TAP.
# PUNCTUAL_TEST_SLOW says how much slower than a real host this one may be: its
# clock goes on while the machine below is busy with something else.
export PUNCTUAL=/bin/punctual UNPROBED=/tests/kvm/punctual-unprobed
export GUEST_FW=/guest-fw CONFIGS=/configs
export PUNCTUAL_TEST_SLOW="${PUNCTUAL_TEST_SLOW:-8}" PUNCTUAL_TEST_KICKS=5000
points=0

# Drops the programs' own plans, but checks them, and counts the points.
# shellcheck disable=SC2016 # it is awk that has the dollars
merge='
/^1\.\.0 *#/ { sub(/^1\.\.0 *# */, ""); print "ok - " name " # " $0; seen = 1; planned = 1; next }
/^1\.\./ { planned = substr($1, 4); next }
/^(not )?ok / { seen++ }
{ print }
END {
	if (planned != seen + 0)
		print "not ok - " name ": planned " planned ", saw " seen + 0
	print seen + (planned != seen + 0) > "/tmp/points"
}'

for program in /tests/kvm/test-*; do
	name=${program##*/}
	started=$(date +%s)
	{
		"$program" < /dev/null
		echo $? > /tmp/status
	} | awk -v name="$name" "$merge"
	points=$((points + $(cat /tmp/points)))
	if [ "$(cat /tmp/status)" != 0 ]; then
		echo "not ok - $name: ended with $(cat /tmp/status)"
		points=$((points + 1))
	fi
	echo "# $name took $(($(date +%s) - started)) s"
done
echo "1..$points"
