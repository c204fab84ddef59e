# SPDX-License-Identifier: MIT
# hosts: amd-icount intel*
# timeout: 120
# standard: yes
# shellcheck shell=sh
# Interrupts of devices, edge and level, by either controller: of tests/kvm, all
# of which the job kvm has where that does not take a quarter of an hour.
export PUNCTUAL=/bin/punctual GUEST_FW=/guest-fw CONFIGS=/configs
export PUNCTUAL_TEST_SLOW=4
exec test-irq < /dev/null
