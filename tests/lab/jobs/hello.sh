# SPDX-License-Identifier: MIT
# hosts: amd amd-icount intel*
# timeout: 60
# standard: yes
# shellcheck shell=sh
# A guest that says hello and ends with a status of its own choice.
echo "1..2"
out=$(punctual run -q /configs/hello.json)
status=$?
[ "$status" = 0 ] || printf 'not '
echo "ok 1 - the guest's status is the run's: $status"
case $out in
*hello* | *Hello*) ;;
*) printf 'not ' ;;
esac
echo "ok 2 - what it wrote to its serial port is on stdout: $out"
