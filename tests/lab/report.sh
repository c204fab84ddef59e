# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# report - reads what agent wrote to the debug port (see agent.c and init).
# Every line of ours starts with a colon and a tag; the rest is the emulator's.
# shellcheck disable=SC2034,SC2154

# show_exec: forwards one command's output; sets exec_end to how it ended.
show_exec() {
	local line

	exec_end=
	while IFS= read -r line; do
		case $line in
		:o\ *) printf '%s\n' "${line#:o }" ;;
		:O\ *) printf '%s' "${line#:O }" ;;
		:e\ *) printf '%s\n' "${line#:e }" >&2 ;;
		:E\ *) printf '%s' "${line#:E }" >&2 ;;
		:B\ *) note "${line#:B }" ;;
		:X\ exec\ *) exec_end=${line#:X exec } ;;
		esac
	done
}

# One TAP stream from all jobs: every point a job prints, and one for the job
# itself, which fails if it ends badly, breaks its plan, or does not end.
tap_point() {
	points=$((points + 1))
	case $1 in
	"not ok"*\#\ [Tt][Oo][Dd][Oo]*) ;;
	"not ok"*) failed=$((failed + 1)) ;;
	*\#\ [Ss][Kk][Ii][Pp]*) skipped=$((skipped + 1)) ;;
	*) passed=$((passed + 1)) ;;
	esac
	printf '%s\n' "$1"
}

# job_line JOB LINE: a line of its output. Counts into job_points, job_plan.
job_line() {
	local job=$1 line=$2 verdict text

	if [[ $line =~ ^(ok|not\ ok)($|\ +[0-9]*\ *-?\ *(.*)) ]]; then
		verdict=${BASH_REMATCH[1]} text=${BASH_REMATCH[3]}
		job_points=$((job_points + 1))
		tap_point "$verdict $((points + 1)) - $job: $text"
	elif [[ $line =~ ^1\.\.([0-9]+) ]]; then
		job_plan=${BASH_REMATCH[1]}
		[[ $line != *\#\ [Ss][Kk][Ii][Pp]* ]] || job_skip=${line#*\# }
	elif [[ $line == "Bail out!"* ]]; then
		job_bail=$line
	else
		printf '# %s: %s\n' "$job" "${line#\# }"
	fi
}

# job_end JOB END: END as agent words it
job_end() {
	local job=$1 end=$2 point="$((points + 1)) - $1"

	if [[ $end == "exit 77" ]]; then
		tap_point "ok $point # SKIP ${job_skip:-exit status 77}"
	elif [[ $end != "exit 0" ]]; then
		tap_point "not ok $point: ended by $end"
	elif [[ -n $job_bail ]]; then
		tap_point "not ok $point: $job_bail"
	elif [[ -n $job_plan && $job_plan != "$job_points" ]]; then
		tap_point "not ok $point: planned $job_plan, saw $job_points"
	elif [[ -n $job_skip ]]; then
		tap_point "ok $point # $job_skip"
	else
		tap_point "ok $point"
	fi
	unset "job_missing[$job]"
}

# show_jobs: prints TAP. In: job_missing, keyed by the jobs that ought to end.
show_jobs() {
	local line job='' job_points job_plan job_skip job_bail job_start

	points=0 passed=0 failed=0 skipped=0
	echo "TAP version 13"
	while IFS= read -r line; do
		case $line in
		:S\ *)
			job=${line#:S }
			job_points=0 job_plan='' job_skip='' job_bail=''
			job_start=$SECONDS
			;;
		:[oO]\ *) job_line "$job" "${line#:? }" ;;
		:[eE]\ *) printf '# %s: %s\n' "$job" "${line#:? }" ;;
		:B\ *) printf '# %s\n' "${line#:B }" ;;
		:X\ *)
			line=${line#:X }
			[[ ${line%% *} == "$job" ]] || continue
			job_end "$job" "${line#* }"
			echo "# $job: $((SECONDS - job_start)) s"
			;;
		esac
	done
	for job in "${!job_missing[@]}"; do
		tap_point "not ok $((points + 1)) - $job: did not end"
	done
}

# save_files REPORT DIR: the files jobs left, as DIR/JOB/FILE. The names come
# from a guest: nothing but a plain name may leave it.
save_files() {
	local report=$1 dir=$2 line job name target=''
	local plain='^[A-Za-z0-9][A-Za-z0-9.@=,_-]*$'

	while IFS= read -r line; do
		case $line in
		:F\ *)
			read -r job name <<< "${line#:F }"
			[[ $job =~ $plain && $name =~ $plain ]] || continue
			mkdir -p "$dir/$job"
			target=$dir/$job/$name
			: > "$target.b64"
			;;
		:D\ *) [[ -z $target ]] || echo "${line#:D }" >> "$target.b64" ;;
		:f\ *)
			[[ -n $target ]] || continue
			base64 -d < "$target.b64" > "$target" && rm "$target.b64"
			target=
			;;
		esac
	done < "$report"
}
