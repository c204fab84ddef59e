/* SPDX-License-Identifier: MIT */
/*
 * user_timer - the life of a deadline in userspace (timer mode "userspace").
 *
 * Ties the register model (apic/lapic_timer), the arithmetic (timer/) and
 * the host timer to one vCPU. The rule that everything here serves: the
 * guest never executes the first instruction of its handler before its TSC
 * has reached the deadline.
 *
 *   arm      the guest writes IA32_TSC_DEADLINE, which exits. The host timer
 *            is armed `advance` ahead of the moment to enter the guest; a
 *            deadline that is nearer than that is due at once.
 *   expire   the timer thread kicks the vCPU (timer_thread.h), or a signal
 *            of the host's own does (kick_signal.c).
 *   check    is it really due? A stale or early expiry re-arms. Nothing is
 *            injected while more than the ceiling is left.
 *   inject   as KVM's own expiry would (inject.h). Before the spin: a pending
 *            interrupt is invisible to a stopped vCPU.
 *   learn    what the delivery cost goes to the tuner.
 *   spin     to the target, on the TSC; then nothing but KVM_RUN.
 *
 * All calls on the vCPU's thread, outside KVM_RUN.
 */
#ifndef VMM_USER_TIMER_H
#define VMM_USER_TIMER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "arrivals.h"
#include "canary.h"
#include "clock.h"
#include "deadline.h"
#include "guest_tsc.h"
#include "hist.h"
#include "hosttimer.h"
#include "inject.h"
#include "lapic_timer.h"
#include "trace_format.h"
#include "tsc.h"
#include "tuner.h"
#include "wait.h"

struct kick;

enum user_timer_advance {
	USER_TIMER_ADVANCE_OFF,
	USER_TIMER_ADVANCE_FIXED,
	USER_TIMER_ADVANCE_AUTO,
};

/* vCPU states with an entry cost of their own. */
enum user_timer_state {
	USER_TIMER_RUNNING,
	USER_TIMER_HALTED,
	USER_TIMER_STATES,
};

/*
 * Measured entry costs, TSC cycles; 0 until they are known, and again when
 * they may no longer hold. Writer: main thread. Readers: vCPU threads.
 */
struct user_timer_costs {
	atomic_ullong tsc[USER_TIMER_STATES];
};

/* What stands behind a deadline; see hosttimer.h. */
enum user_timer_source {
	USER_TIMER_TIMERFD, /* and a thread that kicks (timer_thread.h) */
	USER_TIMER_POSIX,   /* a signal for the vCPU's thread */
};

/* The same for all vCPUs of a VM, read-only once it is made. */
struct user_timer_setup {
	enum user_timer_source source; /* timerfd, unless it is set */
	struct tsc_scale scale;
	struct deadline_policy policy;
	struct clock clock;
	enum user_timer_advance advance;
	uint64_t fixed_advance_tsc;
	enum tuner_kind tuner; /* see user_timer_setup_tuner */
	uint64_t target_q16;
	uint64_t start_advance_tsc; /* where the tuner starts */
	bool strict_lvtt;	    /* see user_timer_setup_strict */
	bool arms_with_more;	    /* than the host timer: strict, traced */
	/* NULL: policy.entry_cost_tsc is fixed and holds in every state. */
	const struct user_timer_costs *costs;
};

enum {
	USER_TIMER_LOG_ROOM = 4096,
};

struct user_timer_log {
	uint32_t used; /* stops at the room */
	uint64_t spin_end_tsc[USER_TIMER_LOG_ROOM];
};

struct user_timer_stats {
	uint64_t arms;	  /* guest wrote a deadline other than 0 */
	uint64_t disarms; /* guest wrote 0 */
	uint64_t reads;
	uint64_t host_arms;	  /* timerfd_settime calls that set a time */
	uint64_t due_at_arm;	  /* nearer than the advance */
	uint64_t past_at_arm;	  /* of those: not in the future at all */
	uint64_t due_at_poll;	  /* found due on the way to the guest */
	uint64_t fires;		  /* deadlines handed to KVM */
	uint64_t stale;		  /* expiries of a deadline that is gone */
	uint64_t early_expiries;  /* too early: host timer armed again */
	uint64_t advance_cut;	  /* by max_spin_share or max_advance_ns */
	uint64_t odd_deliveries;  /* of those: not as a plain interrupt, since
				   * masked, in another mode, ... */
	uint64_t latches_cleared; /* host writes of 0 before a re-arm */
	uint64_t dropped_by_mode; /* strict: LVTT left deadline mode */
	uint64_t remainders;	  /* advance off: the host timer was early */
};

/* Of the last delivery, what is told when the guest has run. */
struct user_timer_delivery {
	uint64_t arrival_host_tsc;
	uint64_t advance_before_tsc; /* the tuner's, before it learnt */
	enum trace_state state;	     /* as far as somebody had to look */
	uint8_t vector;		     /* 0: KVM found it */
	bool by_kvm;		     /* through its own expiry path */
	bool is_expiry;		     /* what the tuner takes for a sample */
};

struct trace_ring;

struct user_timer {
	const struct user_timer_setup *setup;
	struct injector injector;
	struct lapic_timer model;
	struct guest_tsc tsc;
	struct hosttimer host;
	struct deadline_policy policy; /* the setup's, with the cost of now */
	struct deadline plan;
	uint64_t planned_host_tsc; /* when that was made */
	/* Where a calibration wants to know the end of each spin after the
	 * deadline; NULL in all other runs. */
	struct user_timer_log *log;
	struct canary canary; /* strict_lvtt, while armed */
	bool host_armed; /* the host timer runs, or its kick is on its way */
	struct tuner tuner;
	struct user_timer_stats stats;
	/* With past_at_arm these add up to fires, but for advance off, where
	 * nobody looks. */
	struct arrivals arrivals;
	uint64_t wait_end_host_tsc; /* of the last wait */
	bool unsettled;		    /* that is not yet counted */
	bool untold;		    /* nor told, see user_timer_tell */
	struct user_timer_delivery delivery;
	struct trace_ring *trace; /* NULL: no trace file; set once */
};

/*
 * Converts the config's times once. -EINVAL when tsc_khz is out of range.
 * Main thread.
 */
int user_timer_setup_init(struct user_timer_setup *setup, uint32_t tsc_khz,
			  enum user_timer_advance advance, uint64_t advance_ns,
			  uint64_t max_advance_ns, double max_spin_share,
			  uint64_t entry_cost_ns);

/*
 * Which tuner (step, unless this is called), and for quantile the share of
 * fires, 0.5 to 0.999, that is to be in time. Main thread, after setup_init.
 */
void user_timer_setup_tuner(struct user_timer_setup *setup,
			    enum tuner_kind kind, double target_quantile);

/*
 * Exact LVTT semantics at the price of one vCPU ioctl an arm, and of a longer
 * way into the guest: all deliveries take KVM's own expiry path.
 * Writes of LVTT do not exit; but KVM clears its own IA32_TSC_DEADLINE when
 * the timer's mode changes, and ignores a write in another mode. So each arm
 * leaves a far deadline there, a canary: if it is gone at expiry, the guest's
 * deadline is void, just as KVM's would be. Main thread, after setup_init.
 */
void user_timer_setup_strict(struct user_timer_setup *setup);

/* The timers have a trace; then each must be given one. Main thread, after
 * setup_init. */
void user_timer_setup_trace(struct user_timer_setup *setup);

/* Opens the host timer, if it is a timerfd, and reads the vCPU's TSC offset;
 * *injector is copied. 0 or -errno. Main thread. */
int user_timer_init(struct user_timer *timer,
		    const struct user_timer_setup *setup,
		    const struct injector *injector);

/*
 * Opens a host timer that is bound to the vCPU's thread; nothing for others.
 * 0, -EAGAIN when RLIMIT_SIGPENDING leaves no room, or -errno. vCPU thread,
 * after kick_bind.
 */
int user_timer_bind(struct user_timer *timer, struct kick *kick);
void user_timer_free(struct user_timer *timer);

/*
 * The guest wrote IA32_TSC_DEADLINE: arms, disarms or delivers. One
 * timerfd_settime; a host write of the MSR besides on the first write after a
 * delivery that KVM may still hold back. 0, -errno of a host call, or -ETIME
 * when the TSC failed a spin.
 */
int user_timer_write_deadline(struct user_timer *timer, uint64_t guest_tsc);

/*
 * Counts the last delivery's wait: not done on the way into the guest, but at
 * the next write or delivery. For who wants to see the sums before that. vCPU
 * thread, or any when that is gone.
 */
void user_timer_settle(struct user_timer *timer);

/*
 * Tells the probes and the trace of the last delivery, once: nothing may be
 * between the end of its wait and the guest. To be called while timer->untold,
 * when KVM_RUN has returned (with result, 0 or -errno, and exit_reason if it is
 * 0), or at the end of the thread, when was_entered is false. vCPU thread.
 */
void user_timer_tell(struct user_timer *timer, bool was_entered, int result,
		     uint32_t exit_reason);

/* Records for timer->trace, which must be there. vCPU thread. */
void user_timer_trace_arm(const struct user_timer *timer, uint64_t arm_ns);
void user_timer_trace_drop(const struct user_timer *timer,
			   enum trace_drop reason);

/* The guest reads IA32_TSC_DEADLINE. 0 or -errno. */
int user_timer_read_deadline(struct user_timer *timer, uint64_t *guest_tsc);

/* The guest writes IA32_TSC or IA32_TSC_ADJUST: moves the vCPU's TSC offset
 * and plans an armed deadline anew. 0 or -errno. */
int user_timer_write_tsc(struct user_timer *timer, uint64_t guest_tsc);
int user_timer_write_tsc_adjust(struct user_timer *timer, uint64_t adjust);

/*
 * The host's TSC may have jumped (a suspend): reads the offset that is in
 * force and plans an armed deadline anew. As write_deadline.
 */
int user_timer_resync(struct user_timer *timer);

/* The host timer expired, or seems to have (KICK_DUE). As write_deadline. */
int user_timer_expired(struct user_timer *timer);

/*
 * Before the guest is entered: delivers when the deadline has come near, so
 * that an exit for another reason saves waiting for the kick. Not a sample
 * for the tuner. 1 if it did, else as write_deadline.
 */
int user_timer_poll(struct user_timer *timer);

/*
 * Is KVM's own copy of the MSR in a state that punctual did not cause? Then
 * guest writes go past the filter. 1 yes, 0 no, or -errno. *value is what
 * KVM holds.
 */
int user_timer_backstop(struct user_timer *timer, uint64_t *value);

#endif
