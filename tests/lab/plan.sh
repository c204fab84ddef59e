# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# plan - which jobs run on which host, in which order.
#
# A job is a busybox shell script that prints TAP and leaves files in /out. Its
# head says:
#   # hosts: PATTERN...   hosts it runs on, as globs (amd*)
#   # timeout: SECONDS    by the host's clock, which may be a slow one
#   # standard: yes|no|PATTERN...  whether, or on which of its hosts, it runs
#                         without being asked for
#   # param: WORDS        module parameters: X=Y for kvm_intel or kvm_amd,
#                         whichever the host has; kvm.X=Y; kvm_intel.X=Y for
#                         a variant that only such hosts have. Repeated, the
#                         job runs once for each; "default": none
#   # needs: linux        configs/linux.json is to start, and /lab/linux.sh to be
#                         there. Repeated: linux-generic is vmlinuz-generic
#                         beside that one's kernel; cyclictest is
#                         initrd-cyclictest there; qemu is this machine's own,
#                         for the host to run

# job_field FILE FIELD: its values, one a line
job_field() {
	sed -n "/^#/!q;s/^# $2: *//p" "$1"
}

# host_in PATTERN...
host_in() {
	local pattern found=1

	set -f # the patterns are for the host's name, not for files
	# shellcheck disable=SC2068
	for pattern in $@; do
		# shellcheck disable=SC2053
		[[ $host != $pattern ]] || found=0
	done
	set +f
	return $found
}

job_here() {
	host_in "$(job_field "$1" hosts)"
}

job_wanted() {
	local name=${1##*/} standard

	if [[ -n $pattern ]]; then
		# shellcheck disable=SC2053
		[[ ${name%.sh} == $pattern ]]
		return
	fi
	standard=$(job_field "$1" standard)
	[[ $standard == yes ]] || host_in "$standard"
}

# False if a parameter is for a module that this host does not load.
param_here() {
	local word

	for word in $1; do
		[[ $word != kvm_*.* || $word == "${host_module/-/_}".* ]] ||
			return 1
	done
}

# plan_jobs: lines "ID SCRIPT SECONDS PARAMETERS", as init reads them; those
# with equal parameters together, to change modules as rarely as can be.
plan_jobs() {
	local file name param id

	for file in "$lab_dir"/jobs/*.sh; do
		job_here "$file" || continue
		job_wanted "$file" || continue
		name=${file##*/}
		{ job_field "$file" param | grep . || echo default; } |
			while read -r param; do
				param_here "$param" || continue
				id=${name%.sh}
				[[ $param == default ]] || id+=@${param// /,}
				echo "$id $name $(job_field "$file" timeout) $param"
			done
	done | sort -s -k4 | plan_default_first
}

plan_default_first() {
	local all

	all=$(cat)
	grep ' default$' <<< "$all" || true
	grep -v -e ' default$' -e '^$' <<< "$all" || true
}

# plan_needs PLAN WHAT: does a job of it?
plan_needs() {
	local script

	while read -r _ script _; do
		! job_field "$lab_dir/jobs/$script" needs | grep -qx "$2" || return 0
	done < "$1"
	return 1
}

# plan_limit PLAN: seconds of real time in which a whole run must end
plan_limit() {
	local seconds sum=0

	while read -r _ _ seconds _; do
		sum=$((sum + seconds))
	done < "$1"
	echo $((host_limit_s + host_slowness * sum))
}
