# SPDX-License-Identifier: MIT
# hosts: amd amd-icount intel
# timeout: 300
# standard: amd-icount intel
# shellcheck shell=sh
# Ids, interrupts between CPUs and TSCs of two and four, by the guest smp, whose
# exit status is its verdict; and that a fault is one. All of tests/kvm/test-smp,
# with 64 CPUs, is in the jobs kvm and kvm-vmx: it takes minutes where a tick is an
# instruction.
points=0

# run NAME STATUS OPTION...
run() {
	name=$1 wanted=$2
	shift 2
	status=0
	began=$(date +%s)
	punctual run -q /configs/ipi.json --set run.timeout_ms=120000 \
		--set boot_args.count=100 --set boot_args.tsc=1000 "$@" \
		> "/out/$name.txt" 2> "/out/$name.err" || status=$?
	points=$((points + 1))
	[ $status = "$wanted" ] || printf 'not '
	echo "ok $points - $name: status $status: $(tail -n 1 "/out/$name.txt")"
	[ $status = "$wanted" ] || sed 's/^/# /' "/out/$name.txt" "/out/$name.err"
	echo "# $name: $(($(date +%s) - began)) s"
}

run userspace-2 0 --set machine-config.vcpu_count=2
run kernel-4 0 --set machine-config.vcpu_count=4 --set timer.mode=kernel
run lost-2 1 --set machine-config.vcpu_count=2 --set boot_args.fault=lost \
	--set boot_args.apic=xapic
echo "1..$points"
