# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# once - a QEMU that delivers an injected interrupt once.
#
# VMRUN with an interrupt in EVENTINJ delivers it, but leaves its vector in
# exception_index (target/i386/tcg/sysemu/svm_helper.c, SVM_EVTINJ_TYPE_INTR).
# Only #VMEXIT wipes it out. If the CPU loop is left before that, it takes the
# vector for an exception not yet delivered, and the guest gets its interrupt
# again, RFLAGS.IF or not. With -icount the loop is left whenever a timer of
# the emulated host expires, so this happens to every guest sooner or later.
# Seen in QEMU 7.2.22; 10 has the same lines.
#
# The lab runs a copy of the program without that one store. Where the compiler
# made something else of it the lab is skipped.

# once_prepare: sets emulator
once_prepare() {
	local program dir tmp

	program=$(command -v qemu-system-x86_64)
	dir=$cache/once-$(cat "$program" "$lab_dir/once.sh" | sha256sum |
		cut -c1-16)
	if [[ ! -d $dir ]]; then
		tmp=$(mktemp -d "$cache/once.XXXXXX")
		mkdir "$tmp/bin"
		# It looks for its modules and firmware from where it is.
		ln -s /usr/lib /usr/share "$tmp/"
		once_patch < "$program" > "$tmp/bin/qemu-system-x86_64" ||
			skip "this QEMU is not what once.sh expects"
		chmod +x "$tmp/bin/qemu-system-x86_64"
		chmod 755 "$tmp"
		mv "$tmp" "$dir"
	fi
	emulator=$dir/bin/qemu-system-x86_64
}

# movzbl vector, %esi; mov %r13d, error_code(%rbx);
# mov %esi, exception_index(%rbx): becomes a NOP;
# movl $0, exception_is_int(%rbx); movq $-1, exception_next_eip(%rbx)
once_patch() {
	perl -0777 -pe '
		$found = s/(\x41\x0f\xb6\xf4\x44\x89\xab.{4})\x89\xb3.{4}
			(?=\xc7\x83.{4}\0{4}\x48\xc7\x83.{4}\xff{4})
			/$1\x66\x0f\x1f\x44\0\0/gsx;
		END { exit($found != 1) }'
}
