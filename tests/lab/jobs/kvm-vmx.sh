# SPDX-License-Identifier: MIT
# hosts: intel*
# timeout: 600
# standard: no
# shellcheck shell=sh
# The same as kvm.sh where an instruction takes a fixed time: no bound is to be
# stretched. Some ten minutes, so not without being asked for.
PUNCTUAL_TEST_SLOW=1
# shellcheck source=tests/lab/jobs/kvm.sh
. /jobs/kvm.sh
