#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# no-division PROGRAM - is there a division on the way of a deadline?
#
# Between the guest's write and the arm, and between the expiry and the guest,
# there is no time for one (20 to 90 cycles on most processors): what needs one
# is converted at the start. Looks at the machine code of each function on that
# way; one that is not there any more is a failure of this list. Prints TAP.
set -eu -o pipefail

program=$1
functions=(
	# arm
	exit_handle user_timer_write_deadline lapic_timer_write
	deadline_plan hosttimer_arm hosttimer_disarm
	user_timer_settle arrivals_settle hist_add
	# expiry
	kick_send kick_enter kick_leave kick_pending
	user_timer_expired user_timer_poll deadline_check deadline_due
	lapic_timer_expired lapic_timer_injected
	kvm_is_halted inject_deadline inject_by_expiry lvtt_delivers
	arrivals_note tuner_sample tuner_step_sample tuner_quantile_sample
	tuner_set wait_until kvm_run
)

if ! command -v objdump > /dev/null; then
	echo "1..0 # SKIP no objdump"
	exit 0
fi
# Lines "FUNCTION divides" and "FUNCTION seen"; what the compiler split off a
# function (NAME.part.0, NAME.cold) belongs to it.
seen=$(objdump -d --no-show-raw-insn "$program" | awk '
/^[0-9a-f]+ <.*>:$/ {
	name = $2
	gsub(/[<>:]/, "", name)
	sub(/\..*/, "", name)
	print name, "seen"
}
/\t(i?div)[bwlq]? / || /call.*<__u?div(mod)?ti[34]/ || /call.*<__u?modti3/ {
	print name, "divides"
}' | sort -u)

echo "1..${#functions[@]}"
for ((i = 0; i < ${#functions[@]}; i++)); do
	point="$((i + 1)) - no division in ${functions[i]}"
	if ! grep -qx "${functions[i]} seen" <<< "$seen"; then
		echo "not ok $point: there is no such function"
	elif grep -qx "${functions[i]} divides" <<< "$seen"; then
		echo "not ok $point"
	else
		echo "ok $point"
	fi
done
