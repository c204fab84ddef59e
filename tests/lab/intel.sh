# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# intel - a host with Intel VMX, emulated by Bochs 2.7.
#
# intel     The TSC runs at 400 MHz. kvm_intel uses the preemption timer, as
#           it does on hardware: WRMSR to IA32_TSC_DEADLINE is swallowed.
# intel-1g  The TSC runs at 1 GHz. Bochs reports preemption timer rate 0 (one
#           tick each TSC tick), and kvm_intel takes no timer of 429 MHz or
#           more: the host has none.
#
# A TSC tick is an executed instruction, and a run repeats to the tick: Bochs
# hears of real time nowhere, and the kernel must not draw its random numbers
# from RDRAND, for which Bochs asks this machine.

intel_host() {
	case $1 in
	intel) intel_ips=400000000 ;;
	intel-1g) intel_ips=1000000000 ;;
	*) return 1 ;;
	esac
	host_packages=(bochs bochsbios vgabios grub-pc-bin grub-common xorriso
		mtools jq)
	host_module=kvm-intel
	host_limit_s=900
	host_slowness=10
	host_modules='' host_prepare=''
}

# The firmware boots nothing but disks: GRUB on a CD loads kernel and initrd.
intel_iso() {
	local kernel=$1 initrd=$2 dir=$3 date=2024010100000000

	mkdir -p "$dir/iso/boot/grub"
	ln "$kernel" "$dir/iso/boot/vmlinuz" 2> /dev/null ||
		cp "$kernel" "$dir/iso/boot/vmlinuz"
	mv "$initrd" "$dir/iso/boot/initrd"
	# lpj: no delay loop calibration. notests: the kernel's tests of its
	# cryptography cost a third of the boot. clearcpuid: see above.
	cat > "$dir/iso/boot/grub/grub.cfg" << END
set timeout=0
linux /boot/vmlinuz $kernel_options lpj=5000000 cryptomgr.notests clearcpuid=rdrand,rdseed
initrd /boot/initrd
boot
END
	# Every date fixed, for the reason given at pack.
	SOURCE_DATE_EPOCH=0 grub-mkrescue -o "$dir/boot.iso" "$dir/iso" -- \
		-volume_date all_file_dates "$date" -volume_date uuid "$date" \
		-alter_date_r b-c "$date" / -- > "$dir/grub.log" 2>&1
}

# The sound plugins crash without a sound card, so none is loaded. Debian's
# Bochs has the debugger built in: it waits for "c" (continue) at the start.
# No display needs no X; rfb is a VNC server that waits for nobody.
intel_config() {
	local dir=$1 console=$2 com1="mode=file, dev=$2"

	[[ $console != /dev/tty ]] || com1="mode=term, dev=/dev/tty"
	cat > "$dir/bochsrc" << END
plugin_ctrl: speaker=0, gameport=0
cpu: model=corei7_haswell_4770, count=$cpus, ips=$intel_ips
memory: guest=512, host=512
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path="$dir/boot.iso", status=inserted
boot: cdrom
com1: enabled=1, $com1
port_e9_hack: enabled=1
vga: extension=vbe, update_freq=1, realtime=0
clock: sync=none, time0=1700000000
display_library: rfb, options="timeout=0"
log: $dir/bochs.log
panic: action=fatal
error: action=report
info: action=ignore
debug: action=ignore
END
	echo c > "$dir/bochs.start"
}

# intel_start KERNEL INITRD CONSOLE: as amd_start.
intel_start() {
	local kernel=$1 initrd=$2 console=$3 dir=${2%/*}
	# A network of its own keeps the VNC port away from everybody, and two
	# labs from fighting for it.
	local alone=(unshare --net)

	((EUID == 0)) || alone=(unshare --net --map-root-user)
	"${alone[@]}" true 2> /dev/null || alone=()
	intel_iso "$kernel" "$initrd" "$dir"
	intel_config "$dir" "$console"
	exec "${alone[@]}" bochs -q -f "$dir/bochsrc" -rc "$dir/bochs.start"
}
