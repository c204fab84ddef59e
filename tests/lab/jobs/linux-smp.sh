# SPDX-License-Identifier: MIT
# hosts: amd
# timeout: 200
# standard: yes
# needs: linux
# shellcheck shell=sh
# Debian's kernel for clouds on four CPUs; on two it is in the job linux. The other
# timer and the other kernel are in linux-smp-more: they take two minutes.
# shellcheck source=tests/lab/linux.sh
. /lab/linux.sh

many cloud-userspace-4 4 --set timer.mode=userspace
echo "1..$points"
