# SPDX-License-Identifier: MIT
# hosts: amd
# timeout: 200
# standard: yes
# needs: linux
# needs: linux-generic
# shellcheck shell=sh
# Debian's kernels on four CPUs, one with each timer. All other pairs are in the
# job linux-smp-more, the cloud's kernel on two CPUs in linux.
# shellcheck source=tests/lab/linux.sh
. /lab/linux.sh

many cloud-userspace-4 4 --set timer.mode=userspace
many generic-kernel-4 4 --set timer.mode=kernel --set "$generic"
echo "1..$points"
