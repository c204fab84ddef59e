/* SPDX-License-Identifier: MIT */
/*
 * What the program `punctual-unprobed` has instead of the probe: a ladder that
 * always stands, on its first rung. All else in it is punctual. It is what
 * punctual would be on a host whose KVM hands over the probe's write and keeps
 * the guest's: for test-backstop alone. The linker (--wrap) puts it in place.
 */
#include "probe.h"

enum probe_result __wrap_probe_ladder(int kvm_fd, enum timer_rung *rung,
				      char *err, size_t err_size);

enum probe_result __wrap_probe_ladder(int kvm_fd, enum timer_rung *rung,
				      char *err, size_t err_size)
{
	(void)kvm_fd;
	(void)err;
	(void)err_size;
	*rung = RUNG_SPLIT;
	return PROBE_INTERCEPTED;
}
