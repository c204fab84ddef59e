# SPDX-License-Identifier: MIT
# hosts: amd amd-icount amd-swallow intel*
# timeout: 60
# standard: yes
# shellcheck shell=sh
# param: default
# param: kvm_intel.preemption_timer=0
# What punctual finds out about a KVM must be what this host is known to do
# with a deadline write: hand it over, hand it over once MWAIT exits are off,
# or keep it.
case $LAB_HOST/$LAB_PARAMS in
amd-swallow/*) swallowed=true rung=null ;;
intel/default) swallowed=false rung='"split, MWAIT exits disabled"' ;;
*) swallowed=false rung='"split"' ;;
esac
points=0

# found TEXT WHAT: a line of the result
found() {
	points=$((points + 1))
	if grep -q -F "$1" /out/probe.json; then
		echo "ok $points - $2: $1"
	else
		echo "not ok $points - $2: $1"
		sed 's/^/# /' /out/probe.json
	fi
}

punctual probe --json=/out/probe.json
echo "# exit status $?"
found "\"swallowed\": $swallowed" "what this KVM does with the write"
found "\"rung\": $rung" "how punctual gets at it"
found '"clocksource": "tsc"' "the clock"
echo "1..$points"
