# SPDX-License-Identifier: MIT
# hosts: amd
# timeout: 400
# standard: yes
# needs: linux
# shellcheck shell=sh
# A guest that panics ends, and its last words are to be seen: as configs/linux.json
# has it at once, by a triple fault; with a panic that waits for ever by the limit,
# which is set by what the first one took.
# shellcheck source=tests/lab/linux.sh
. /lab/linux.sh

# panics NAME STATUS OPTION...: the kernel's first process is one that ends
panics() {
	name=$1 wanted=$2
	shift 2
	began=$(date +%s)
	boot "$name" "$@" < /dev/null
	took=$(($(date +%s) - began))
	holds "$name: ends with $wanted after $took s, status $status" \
		[ "$status" = "$wanted" ]
	holds "$name: the console has the panic" \
		grep -q "Kernel panic - not syncing: Attempted to kill init" "$out"
	sed '1,/^last console output:/d' "$err" > /tmp/last
	holds "$name: so has the state dump, in its last lines" \
		grep -q "Kernel panic - not syncing: Attempted to kill init" /tmp/last
	explain
}

panics at-once 120 --set boot_args.rdinit=/bin/false
limit_ms=$((took * 3000 + 5000))
panics waiting 124 --set run.timeout_ms=$limit_ms \
	--set boot-source.boot_args="console=ttyS0 quiet rdinit=/bin/false"
echo "1..$points"
