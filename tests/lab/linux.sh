# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
# linux - for jobs that boot Linux as a guest, from configs/linux.json. Read by
# them inside the emulated host; they count their points in $points.
config=/configs/linux.json
points=0 failed=no

# holds WHAT COMMAND...: a point
holds() {
	points=$((points + 1))
	what=$1
	shift
	if "$@"; then
		echo "ok $points - $what"
	else
		echo "not ok $points - $what"
		failed=yes
	fi
}

is_positive() {
	[ "${1:-0}" -gt 0 ]
}

# member NAME: the first number of that name in the run's result
member() {
	awk -F'[ ,:"]+' -v name="$1" '$2 == name { print $3; exit }' "$json"
}

# ticks: local timer interrupts of all CPUs; 0 if one had none
ticks() {
	sed -n 's/.*local timer interrupts: //p' "$out" | awk '{
		sum = 0
		for (i = 1; i <= NF; i++) {
			if (+$i == 0) { sum = 0; break }
			sum += $i
		}
		print sum
		exit
	}'
}

# boot_args: the configuration's command line
boot_args() {
	sed -n 's/.*"boot_args": "\(.*\)".*/\1/p' $config
}

# boot NAME OPTION...: starts the guest; standard input is what is typed, and
# waits there before the guest has a driver. Leaves status, and the names of
# files: out (the console), err, json.
boot() {
	name=$1 failed=no
	shift
	out=/out/$name.txt err=/out/$name.err json=/out/$name.json
	status=0
	punctual run -q $config --json="$json" --set run.timeout_ms=120000 "$@" \
		> "$out" 2> "$err" || status=$?
}

# explain: what the guest said, if a point of it failed
explain() {
	[ $failed = no ] || tail -n 60 "$out" "$err" | sed 's/^/# /'
}

generic=boot-source.kernel_image_path=/build/guest/linux/vmlinuz-generic

# many NAME CPUS OPTION...: boots on several CPUs: each is up, ticks by the deadline
# timer, and goes on ticking. An idle CPU need not: each is kept busy until it has,
# or the run's time limit is over.
many() {
	name=$1 cpus=$2
	shift 2
	boot "$name" --set machine-config.vcpu_count="$cpus" "$@" <<- 'END'
		echo "guest: processors: $(grep -c ^processor /proc/cpuinfo)"
		loc() { awk -v f=$(($1 + 2)) '/^ *LOC:/ { print $f }' /proc/interrupts; }
		cpu=0
		while [ $cpu -lt $(nproc) ]; do
			before=$(loc $cpu)
			taskset -cp $cpu $$ > /dev/null
			while [ "$(loc $cpu)" -le "$before" ]; do :; done
			echo "guest: cpu $cpu ticked on: $(($(loc $cpu) - before))"
			cpu=$((cpu + 1))
			taskset -p ff $$ > /dev/null
		done
		exit
	END
	holds "$name: powers off, status $status" [ "$status" = 0 ]
	holds "$name: $cpus CPUs are up" grep -q "guest: processors: $cpus" "$out"
	ticking=$(grep -o "cpu [0-9]*: lapic-deadline" "$out" | sort -u | wc -l)
	holds "$name: CPUs that tick by the deadline timer: $ticking" \
		[ "$ticking" = "$cpus" ]
	n=$(ticks)
	holds "$name: local timer interrupts, some of each CPU: $n" is_positive "$n"
	grown=$(grep -c "guest: cpu [0-9]* ticked on: [1-9]" "$out")
	holds "$name: CPUs that go on ticking: $grown" [ "$grown" = "$cpus" ]
	arms=$(grep -c '"arms": [1-9]' "$json")
	case $* in
	*timer.mode=userspace*)
		holds "$name: CPUs whose deadlines are punctual's: $arms" \
			[ "$arms" = "$cpus" ]
		;;
	esac
	explain
}
