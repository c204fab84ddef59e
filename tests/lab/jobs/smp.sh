# SPDX-License-Identifier: MIT
# hosts: amd amd-icount intel
# timeout: 300
# standard: amd-icount intel
# shellcheck shell=sh
# Ids, interrupts between CPUs and TSCs on 1 to 64 CPUs: of tests/kvm, all of
# which the job kvm has where that does not take a quarter of an hour.
export PUNCTUAL=/bin/punctual GUEST_FW=/guest-fw CONFIGS=/configs
export PUNCTUAL_TEST_SLOW=4
exec test-smp < /dev/null
