# SPDX-License-Identifier: MIT
# hosts: amd amd-icount intel*
# timeout: 60
# standard: yes
# shellcheck shell=sh
# A guest that says hello and ends with a status of its own choice.
# And one that takes interrupts and then does nothing a VMM could see, for longer
# than the host's timers let it: each comes once (see once.sh).
echo "1..3"
out=$(punctual run -q /configs/hello.json)
status=$?
[ "$status" = 0 ] || printf 'not '
echo "ok 1 - the guest's status is the run's: $status"
case $out in
*hello* | *Hello*) ;;
*) printf 'not ' ;;
esac
echo "ok 2 - what it wrote to its serial port is on stdout: $out"
sed 's/status=0/once/' /configs/hello.json > /configs/once.json
out=$(punctual run -q /configs/once.json --set timer.mode=kernel)
status=$?
[ "$status" = 0 ] || printf 'not '
echo "ok 3 - an interrupt is delivered once: $status"
[ "$status" = 0 ] || echo "$out" | sed 's/^/# /'
