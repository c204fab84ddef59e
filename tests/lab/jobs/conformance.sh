# SPDX-License-Identifier: MIT
# hosts: amd amd-icount intel*
# timeout: 600
# standard: yes
# shellcheck shell=sh
# param: default
# param: kvm_intel.preemption_timer=0
# The same questions to KVM's own timer and to punctual's, on two CPUs: every
# answer is a literal one, so the two need not be compared with each other. Then
# some with an advance that is always large enough: a fire that ends a spin is
# the one that could be early. Then without strict_lvtt, which delivers fires in
# another way, and so those about several CPUs in xAPIC mode, where they can
# change their ids.
config=/configs/conformance.json
points=0

# ask NAME ARGUMENT...: one run. Its plan is checked and dropped, since the
# stream has one plan for all.
ask() {
	name=$1
	shift
	{
		punctual run -q "$config" --json="/out/$name.json" "$@" \
			< /dev/null
		echo $? > /tmp/status
	} | awk -v name="$name" '
/^1\.\./ { planned = substr($1, 4); next }
/^(not )?ok / {
	seen++
	sub(/ [0-9]+ -/, " - " name ":")
}
{ print }
END {
	if (planned == "" || planned != seen + 0) {
		print "not ok - " name ": " seen + 0 " answers, plan " planned
		seen++
	}
	print seen > "/tmp/points"
}'
	points=$((points + $(cat /tmp/points)))
	echo "# $name: exit status $(cat /tmp/status)"
}

ask kernel --set timer.mode=kernel --set boot_args.tsc=any
ask userspace
ask ahead --set timer.advance=200000 --set boot_args.only=deadline
ask_loose() {
	ask "$@" --set timer.strict_lvtt=false --set boot_args.strict=no
}
ask_loose loose
ask_loose xapic --set machine-config.hide_cpuid='["x2apic"]' \
	--set boot_args.only=smp
ask xapic-kernel --set machine-config.hide_cpuid='["x2apic"]' \
	--set boot_args.only=smp --set timer.mode=kernel
echo "1..$points"
