# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# amd - a host with AMD SVM, emulated by QEMU without acceleration.
#
# amd         Quick, but its clock cannot judge latency: time goes on whatever
#             the emulation costs.
# amd-icount  One executed instruction is one nanosecond and one TSC tick
#             (1 GHz): a run repeats to the tick, and takes about twice as long.
#             Its QEMU is a mended one (see once.sh).
# amd-swallow Its KVM takes IA32_TSC_DEADLINE writes like Linux 6.18 and later:
#             no MSR filter sees them (see swallow.sh).
# amd-unstable Two CPUs, and a kernel that was told not to trust their TSCs: it
#             keeps time by another clock. (With threads of their own, as amd
#             --cpus 2 has them, the TSCs really differ; then KVM itself locks
#             up now and then.)
# amd-smp     Four CPUs with one TSC, which take turns: for guests of several
#             CPUs that wait for each other, since each PAUSE ends a turn.

# Sets what lab wants to know about a host; false if there is no such host.
amd_host() {
	case $1 in
	amd | amd-icount | amd-swallow) ;;
	amd-unstable) cpus=2 ;;
	amd-smp) cpus=4 ;;
	*) return 1 ;;
	esac
	[[ $1 != amd-icount ]] || ((cpus == 1)) ||
		die 64 "amd-icount has one CPU: with two it does not boot"
	host_packages=(qemu-system-x86 jq)
	host_module="kvm-amd"
	host_limit_s=300
	host_slowness=1
	# Builds of the same source are up to 11 ticks apart there.
	[[ $1 != amd-icount ]] || host_slowness=8 record_slack=24
	host_modules='' host_prepare='' emulator=qemu-system-x86_64
	if [[ $1 == amd-icount ]]; then
		# shellcheck source=tests/lab/once.sh
		. "$lab_dir/once.sh"
		host_prepare=once_prepare
	fi
	[[ $1 == amd-swallow ]] || return 0
	# shellcheck source=tests/lab/swallow.sh
	. "$lab_dir/swallow.sh"
	host_packages+=("${swallow_packages[@]}")
	host_modules=swallow_modules
}

# amd_start KERNEL INITRD CONSOLE: replaces this shell by the emulator.
# The debug port goes to stdout, the serial port to CONSOLE.
# tsc=reliable: or the kernel watches the TSC against another clock, and on a
# loaded machine finds it wanting. With two CPUs it really is.
amd_start() {
	local kernel=$1 initrd=$2 console=$3 serial=file:$3
	local tsc=tsc=reliable accel=tcg
	local options=(-cpu max -smp "$cpus" -m 1G
		-nodefaults -no-user-config -no-reboot -display none)

	case $host in
	amd-unstable) tsc=tsc=unstable accel=tcg,thread=single ;;
	amd-smp) accel=tcg,thread=single ;;
	*) ((cpus == 1)) || tsc='' ;;
	esac
	options+=(-accel "$accel")
	[[ $console != /dev/tty ]] || serial=$console
	# Not only the clock must repeat: the wall clock and the entropy, too.
	[[ $host != amd-icount ]] || options+=(-icount "shift=0,sleep=off"
		-rtc "base=2024-01-01,clock=vm" -seed 1)
	exec "$emulator" "${options[@]}" \
		-serial "$serial" -debugcon stdio \
		-kernel "$kernel" -initrd "$initrd" -append \
		"$kernel_options $tsc"
}
