# SPDX-License-Identifier: MIT
# hosts: amd
# timeout: 400
# standard: no
# needs: linux
# needs: linux-generic
# shellcheck shell=sh
# The pairs of kernel, timer and number of CPUs that linux-smp has not.
# shellcheck source=tests/lab/linux.sh
. /lab/linux.sh

many cloud-kernel-4 4 --set timer.mode=kernel
for mode in userspace kernel; do
	for cpus in 2 4; do
		many "generic-$mode-$cpus" $cpus --set timer.mode=$mode \
			--set "$generic"
	done
done
echo "1..$points"
