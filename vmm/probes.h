/* SPDX-License-Identifier: MIT */
/*
 * probes - the static probes (USDT) of provider `punctual`: a nop each and a
 * note in the program, for perf, bpftrace or systemtap to find. Names and
 * instants as in trace_format.h; all times host TSC cycles.
 *
 *   timer_arm     vcpu, deadline, wake, arm_ns
 *   timer_expire  vcpu
 *   kick          vcpu, request, 1 if a signal is sent
 *   inject        vcpu, vector, 1 if through KVM's own expiry path
 *   arrive        vcpu, cost (signed), advance, distance, state, is_expiry
 *   spin_end      vcpu, end less target, start
 *   entry         vcpu, instant, what KVM_RUN returned
 *   tuner         vcpu, cost (signed), advance before, after: every sample
 *   drop          vcpu, reason (enum trace_drop)
 *
 * Those from inject to entry, and tuner, fire when KVM_RUN has returned: what
 * is attached to them does not delay the guest's interrupt.
 */
#ifndef VMM_PROBES_H
#define VMM_PROBES_H

#include <sys/sdt.h>

/* sys/sdt.h leaves out a variadic argument, of which clang warns where the
 * macro is used. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif

#define PROBE1(name, a)		 DTRACE_PROBE1(punctual, name, a)
#define PROBE2(name, a, b)	 DTRACE_PROBE2(punctual, name, a, b)
#define PROBE3(name, a, b, c)	 DTRACE_PROBE3(punctual, name, a, b, c)
#define PROBE4(name, a, b, c, d) DTRACE_PROBE4(punctual, name, a, b, c, d)
#define PROBE6(name, a, b, c, d, e, f) \
	DTRACE_PROBE6(punctual, name, a, b, c, d, e, f)

#endif
