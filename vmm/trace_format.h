/* SPDX-License-Identifier: MIT */
/*
 * trace_format - the trace file: a header, then records of one size, the last
 * of which says what is missing. All little-endian; pure.
 *
 * An instant is host TSC. The events of one delivery, from inject to entry, are
 * put down when KVM_RUN has returned, so that nothing is between the end of the
 * spin and the guest; each has the instant at which it happened.
 *
 * Their counterparts among KVM's own tracepoints (Linux, arch/x86/kvm/trace.h):
 * timer_arm kvm_hv_timer_state, kick kvm_vcpu_wakeup, inject kvm_msi_set_irq,
 * spin_end kvm_wait_lapic_expire, entry kvm_entry.
 */
#ifndef VMM_TRACE_FORMAT_H
#define VMM_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_MAGIC   "PUNCTRC\n"
#define TRACE_VERSION 1u

struct tsc_scale;

enum trace_event {
	/* The last record of a file. args: records written, lost since a ring
	 * was full, lost since the file was full. */
	TRACE_END,
	/* The host timer is set. args: deadline, wake, ns from now. */
	TRACE_TIMER_ARM,
	/* The timer thread saw the expiry. Neither this nor the next where the
	 * timer signals the vCPU's thread itself (timer.source posix). */
	TRACE_TIMER_EXPIRE,
	/* And asked the vCPU for it. aux: the request. */
	TRACE_KICK,
	/* KVM has the interrupt. aux: its vector, 0 where KVM found it. */
	TRACE_INJECT,
	/* Ready to wait. args: cost (arrival less wake, signed), advance in
	 * force, distance (arm to deadline, 0 if past). */
	TRACE_ARRIVE,
	/* The wait is over. args: its target, its start, reads of the TSC. */
	TRACE_SPIN_END,
	/* KVM_RUN, at once. args: when it returned. aux: the exit reason, or
	 * errno (flag). */
	TRACE_ENTRY,
	/* The advance has changed. args: cost, advance before, after. */
	TRACE_TUNER,
	/* An expiry or a deadline that led to nothing. aux: trace_drop; args:
	 * what is left to wake, where it was early. */
	TRACE_DROP,
	TRACE_EVENTS,
};

enum {
	TRACE_ALL_EVENTS = (1u << TRACE_EVENTS) - 1,
};

enum trace_drop {
	TRACE_DROP_STALE,    /* of a deadline that is gone */
	TRACE_DROP_EARLY,    /* armed again */
	TRACE_DROP_BY_MODE,  /* strict_lvtt: the timer left deadline mode */
	TRACE_DROP_DISARMED, /* the guest wrote 0 */
	TRACE_DROPS,
};

/* Of a vCPU, as far as anybody looked. */
enum trace_state {
	TRACE_STATE_UNKNOWN,
	TRACE_STATE_RUNNING,
	TRACE_STATE_HALTED,
	TRACE_STATES,
};

enum {
	TRACE_FLAG_STATE = 3,	       /* arrive: enum trace_state */
	TRACE_FLAG_EXPIRY = 1 << 2,    /* arrive: a sample of the delivery */
	TRACE_FLAG_CUT = 1 << 3,       /* arm, arrive: less than was wanted */
	TRACE_FLAG_PAST = 1 << 4,      /* arrive: it was when it was planned */
	TRACE_FLAG_FAR = 1 << 5,       /* arm: ends early on purpose */
	TRACE_FLAG_SIGNALLED = 1 << 6, /* kick: it was in KVM_RUN */
	TRACE_FLAG_BY_KVM = 1 << 7,    /* inject: by KVM's own expiry path;
					* entry: aux is an errno */
};

struct trace_record {
	uint64_t host_tsc;
	uint8_t event; /* enum trace_event */
	uint8_t flags;
	uint16_t vcpu;
	uint32_t aux;
	uint64_t args[3];
};

struct trace_header {
	char magic[8];
	uint32_t version;
	uint32_t header_size;
	uint32_t record_size;
	uint32_t vcpu_count; /* 1-64 */
	uint32_t tsc_khz;
	uint32_t events; /* 1 << enum trace_event, those that were kept */
	uint32_t spin_share_q16;
	uint32_t target_q16;
	uint32_t advance; /* enum user_timer_advance */
	uint32_t tuner;	  /* enum tuner_kind */
	uint32_t source;  /* enum user_timer_source */
	uint32_t reserved;
	uint64_t max_advance_tsc;
	uint64_t start_advance_tsc;
	uint64_t fixed_advance_tsc;
};

/* Of an event, "?" of a number that is none. */
const char *trace_event_name(unsigned int event);

/* "arrive,drop" as a set of 1 << event, with TRACE_END always in it. 0 or
 * -EINVAL: empty, or a name that is none, where *bad and *bad_len are it. */
int trace_events_parse(const char *list, uint32_t *events, const char **bad,
		       size_t *bad_len);

/* What is wrong with it, or NULL. */
const char *trace_header_fault(const struct trace_header *header);
const char *trace_record_fault(const struct trace_record *record,
			       uint32_t vcpu_count);

/* One line without its end: vCPU, us and cycles since first_host_tsc, event,
 * arguments by name; instants as cycles from the record's own. At most size
 * bytes, the NUL among them. */
void trace_record_text(const struct trace_record *record,
		       uint64_t first_host_tsc, const struct tsc_scale *scale,
		       char *text, size_t size);

#endif
