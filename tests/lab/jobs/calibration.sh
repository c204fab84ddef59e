# SPDX-License-Identifier: MIT
# hosts: amd amd-icount intel
# timeout: 1800
# standard: no
# shellcheck shell=sh
# 50 calibrations against the cost of 100 000 fires, half of them of a halted
# vCPU, in 100 VMs: none may take off more than the cheapest entry.
export PUNCTUAL=/bin/punctual GUEST_FW=/guest-fw CONFIGS=/configs
export PUNCTUAL_TEST_SLOW=60
export PUNCTUAL_TEST_CALIBRATIONS=50 PUNCTUAL_TEST_COST_RUNS=50
CK_RUN_CASE=calibration exec test-entry_cost < /dev/null
