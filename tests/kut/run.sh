#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh DIR OUT LIMIT_S [NAME]... - kvm-unit-tests on this host's KVM
#
# DIR holds their images and unittests.cfg. Each test of the file `tests`
# beside this one, or those named, under QEMU (kernel-irqchip=split) where
# there is one, and under punctual with KVM's timer and with its own. Prints
# the lines of a Markdown table as they come; what each printed is left in
# OUT/NAME.COLUMN. LIMIT_S: seconds for one test in one column.
#
# The CPU is the host's in all columns, less what the section's -cpu takes
# away: a model of QEMU's own would be another guest than punctual's.
#
# Status: 0 if every result is QEMU's where it has to be, 1 if one is not, 77
# without QEMU, since nothing was compared.
#
# For the host of a lab too, so POSIX sh with busybox's tools.
set -u

here=$(dirname "$0")
dir=$1 out=$2 limit_s=$3
shift 3
wanted_names=" $* "
cfg=$dir/unittests.cfg
qemu=$(command -v qemu-system-x86_64 || true)
firmware=${KUT_FIRMWARE:+-L $KUT_FIRMWARE}
differing=0

# key SECTION KEY: of unittests.cfg, without quotes around it
key() {
	awk -v section="[$1]" -v key="$2" '
		/^\[/ { inside = $0 == section }
		inside && $1 == key && $2 == "=" {
			sub(/^[^=]*= */, "")
			gsub(/^["'\'']|["'\'']$/, "")
			print
			exit
		}' "$cfg"
}

# extra KEY WORD...: from the words of the list; "_" stands for a space there
extra() {
	wanted=$1
	shift
	for word; do
		case $word in
		"$wanted"=*) echo "${word#*=}" ;;
		esac
	done
}

# hidden PARAMS: the features that -cpu takes away, a line each. Other options
# of QEMU than -cpu would make another machine: they fail.
hidden() {
	# shellcheck disable=SC2086 # words
	set -- $1
	while [ $# -gt 0 ]; do
		[ "$1" = -cpu ] && [ $# -ge 2 ] || return 1
		echo "$2" | tr ',' '\n' | sed -n 's/^-\(.*\)/\1/p'
		shift 2
	done
}

# The section's settings: file, cpus, args, features.
read_section() {
	name=$1
	shift 2
	file=$(key "$name" file)
	cpus=$(key "$name" smp)
	args=$(key "$name" test_args)
	params="$(key "$name" qemu_params) $(key "$name" extra_params)"
	file=${file:-$(extra file "$@")}
	args=${args:-$(extra test_args "$@" | tr _ ' ')}
	cpus=${cpus:-1}
	problem=''
	case $cpus in
	*[!0-9]*) problem="smp = $cpus" ;;
	esac
	case $(arguments) in
	*[\`\$\"\\]*) problem="test_args = $args" ;;
	esac
	features=$(hidden "$params") || problem="qemu_params = $params"
	[ -n "$file" ] || problem="no such section"
	[ -n "$problem" ] || [ -r "$dir/$file" ] || problem="no $file"
}

# The image's arguments; the time is that of each run.
arguments() {
	echo "$args" | sed "s/\`date +%s\`/$(date +%s)/"
}

under_qemu() {
	# shellcheck disable=SC2046,SC2086 # words
	timeout "$limit_s" "$qemu" $firmware -nodefaults -no-reboot \
		-display none -serial stdio -m 128 -smp "$cpus" \
		-machine accel=kvm,kernel-irqchip=split \
		-cpu host$(printf ',-%s' $features | sed 's/^,-$//') \
		-device pc-testdev \
		-device isa-debug-exit,iobase=0xf4,iosize=0x4 \
		-kernel "$dir/$file" -append "$(arguments)"
}

# under_punctual MODE
under_punctual() {
	{
		printf '{ "boot-source": { "kernel_image_path": "%s",' \
			"$dir/$file"
		printf ' "protocol": "multiboot", "boot_args": "%s" },\n' \
			"$(arguments)"
		printf ' "machine-config": { "vcpu_count": %s,' "$cpus"
		printf ' "mem_size_mib": 128, "test_device": true,'
		printf ' "hide_cpuid": [%s] },\n' "$(echo "$features" |
			sed 's/.*/"&"/; /^""$/d' | tr '\n' ',' | sed 's/,$//')"
		printf ' "timer": { "mode": "%s" },\n' "$1"
		printf ' "run": { "timeout_ms": %s000,' "$limit_s"
		printf ' "exit_encoding": "isa-debug-exit" } }\n'
	} >"$out/config.json"
	"${PUNCTUAL:-punctual}" run -q "$out/config.json"
}

# cell COLUMN COMMAND...: how often it passed, failed and skipped, and how it
# ended where it did not end by itself.
cell() {
	log=$out/$name.$1
	shift
	began=$(date +%s)
	"$@" >"$log" 2>"$log.err" </dev/null
	status=$?
	seconds=$(($(date +%s) - began))
	counts=$(awk '
		/^PASS: / { pass++ }
		/^X?FAIL: / { fail++ }
		/^SKIP: / { skip++ }
		END { printf "%d %d %d", pass, fail, skip }' "$log")
	case $status in
	1 | 3) result=$counts ;;
	# A guest that resets; a triple fault is one to QEMU, and 120 to punctual.
	0 | 120) result="$counts, reset" ;;
	*) result="$counts, status $status" ;;
	esac
	# QEMU ends with 0 if it is told to.
	[ $seconds -lt "$limit_s" ] || result="$counts, time limit"
}

# judge MODE NEEDED: compares with QEMU's, if that came to an end
judge() {
	case $expected in
	-) verdict=' no QEMU' ;;
	*limit) verdict=' no end under QEMU' ;;
	"$result") ;;
	*) differs "$@" ;;
	esac
}

differs() {
	if [ "$2" = yes ]; then
		verdict="$verdict $1 differs"
		differing=$((differing + 1))
	else
		verdict="$verdict ($1 differs)"
	fi
}

# row NAME MODES WORD...
row() {
	read_section "$@"
	if [ -n "$problem" ]; then
		echo "| $name | not run: $problem | | | | |"
		differing=$((differing + 1))
		return
	fi
	verdict='' expected='-' times=''
	if [ -n "$qemu" ]; then
		cell qemu under_qemu
		expected=$result times=$seconds
	fi
	line="| $name | $cpus | $expected"
	for mode in kernel userspace; do
		cell $mode under_punctual $mode
		line="$line | $result"
		times="$times/$seconds"
		needed=yes
		[ $mode = kernel ] || [ "$2" = all ] || needed=no
		judge $mode $needed
	done
	verdict=${verdict# }
	echo "$line | ${verdict:-same} | ${times#/} |"
}

echo "| test | CPUs | QEMU | punctual, kernel | punctual, userspace | | s |"
echo "|---|---|---|---|---|---|---|"
ran=0
while read -r name modes words; do
	case $name in
	'' | '#'*) continue ;;
	esac
	case $wanted_names in
	'  ' | *" $name "*) ;;
	*) continue ;;
	esac
	# shellcheck disable=SC2086 # words
	row "$name" "$modes" $words
	ran=$((ran + 1))
done <"$here/tests"
if [ $ran -eq 0 ]; then
	echo "run.sh: no such test:$wanted_names" >&2
	exit 64
fi
[ -n "$qemu" ] || exit 77
[ $differing -eq 0 ]
