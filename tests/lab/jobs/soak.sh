# SPDX-License-Identifier: MIT
# hosts: amd amd-icount amd-swallow
# timeout: 600
# standard: no
# shellcheck shell=sh
# Three minutes of tests/soak: the lateness guest with random settings, and
# with CPU hogs beside it, must have no early, lost or doubled fire.
echo "1..1"
summary=$(soak -p /bin/punctual -c /configs/lateness.json \
	-o /out/soak.jsonl -f 200 3)
status=$?
[ "$status" = 0 ] || printf 'not '
echo "ok 1 - soak ended with $status"
echo "# $summary"
