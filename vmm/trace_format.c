/* SPDX-License-Identifier: MIT */
/*
 * trace_format - names, checks and the text of trace records.
 * A file may come from anywhere: nothing in it is an index or a divisor
 * before it was checked here.
 */
#include "trace_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tsc.h"
#include "tuner.h"
#include "user_timer.h"
#include "vcpu.h"

/* Far above 100 ms, and sums over a file stay in 64 bits. */
#define ADVANCE_MAX_TSC (UINT64_C(1) << 40)

/* The file is the structs as they are in memory. */
_Static_assert(sizeof(struct trace_record) == 40, "no padding");
_Static_assert(sizeof(struct trace_header) == 80, "no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "x86");

static const struct {
	const char *name;
	uint8_t flags;
	uint8_t args; /* the rest must be 0 */
	bool has_aux;
} events[TRACE_EVENTS] = {
	[TRACE_END] = {"end", 0, 3, false},
	[TRACE_TIMER_ARM] = {"timer_arm", TRACE_FLAG_CUT | TRACE_FLAG_FAR, 3,
			     false},
	[TRACE_TIMER_EXPIRE] = {"timer_expire", 0, 0, false},
	[TRACE_KICK] = {"kick", TRACE_FLAG_SIGNALLED, 0, true},
	[TRACE_INJECT] = {"inject", TRACE_FLAG_BY_KVM, 0, true},
	[TRACE_ARRIVE] = {"arrive",
			  TRACE_FLAG_STATE | TRACE_FLAG_EXPIRY |
				  TRACE_FLAG_CUT | TRACE_FLAG_PAST,
			  3, false},
	[TRACE_SPIN_END] = {"spin_end", 0, 3, false},
	[TRACE_ENTRY] = {"entry", TRACE_FLAG_BY_KVM, 1, true},
	[TRACE_TUNER] = {"tuner", 0, 3, false},
	[TRACE_DROP] = {"drop", 0, 1, true},
};

static const char *const drops[TRACE_DROPS] = {
	[TRACE_DROP_STALE] = "stale",
	[TRACE_DROP_EARLY] = "early",
	[TRACE_DROP_BY_MODE] = "mode",
	[TRACE_DROP_DISARMED] = "disarmed",
};

static const char *const states[TRACE_STATES] = {
	[TRACE_STATE_UNKNOWN] = "unknown",
	[TRACE_STATE_RUNNING] = "running",
	[TRACE_STATE_HALTED] = "halted",
};

const char *trace_event_name(unsigned int event)
{
	return event < TRACE_EVENTS ? events[event].name : "?";
}

static int event_of(const char *name, size_t len)
{
	for (int event = TRACE_END + 1; event < TRACE_EVENTS; event++)
		if (strlen(events[event].name) == len &&
		    !memcmp(events[event].name, name, len))
			return event;
	return -EINVAL;
}

int trace_events_parse(const char *list, uint32_t *set, const char **bad,
		       size_t *bad_len)
{
	*set = 1u << TRACE_END;
	for (;; list++) {
		size_t len = strcspn(list, ",");
		int event = event_of(list, len);

		if (event < 0) {
			*bad = list;
			*bad_len = len;
			return event;
		}
		*set |= 1u << event;
		list += len;
		if (!*list)
			return 0;
	}
}

const char *trace_header_fault(const struct trace_header *header)
{
	if (memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)))
		return "no trace of punctual's";
	if (header->version != TRACE_VERSION)
		return "a version that this one cannot read";
	if (header->header_size != sizeof(*header) ||
	    header->record_size != sizeof(struct trace_record))
		return "sizes that are not those of its version";
	if (!header->vcpu_count || header->vcpu_count > VCPU_COUNT_MAX)
		return "a vCPU count that is not 1 to 64";
	if (header->tsc_khz < TSC_KHZ_MIN || header->tsc_khz > TSC_KHZ_MAX)
		return "a TSC rate out of range";
	if (header->events & ~(uint32_t)TRACE_ALL_EVENTS)
		return "events that there are not";
	if (header->spin_share_q16 > 65536 ||
	    header->target_q16 < TUNER_Q16_MIN || header->target_q16 > 65536 ||
	    header->advance > USER_TIMER_ADVANCE_AUTO ||
	    header->tuner > TUNER_QUANTILE ||
	    header->source > USER_TIMER_POSIX || header->reserved ||
	    header->max_advance_tsc > ADVANCE_MAX_TSC)
		return "a timer policy that cannot be";
	return NULL;
}

const char *trace_record_fault(const struct trace_record *record,
			       uint32_t vcpu_count)
{
	unsigned int event = record->event;

	if (event >= TRACE_EVENTS)
		return "no such event";
	if (record->vcpu >= vcpu_count)
		return "no such vCPU";
	if (record->flags & ~events[event].flags)
		return "flags that the event has not";
	if (event == TRACE_ARRIVE &&
	    (record->flags & TRACE_FLAG_STATE) >= TRACE_STATES)
		return "no such vCPU state";
	if ((event == TRACE_DROP && record->aux >= TRACE_DROPS) ||
	    (!events[event].has_aux && record->aux))
		return "no such reason";
	for (size_t i = events[event].args; i < 3; i++)
		if (record->args[i])
			return "an argument that the event has not";
	return NULL;
}

/* Cycles from the record to an instant. */
static int64_t from(const struct trace_record *record, size_t arg)
{
	return tsc_diff(record->args[arg], record->host_tsc);
}

static const char *word(const struct trace_record *record, uint8_t flag,
			const char *text)
{
	return record->flags & flag ? text : "";
}

static void args_text(const struct trace_record *record, char *text,
		      size_t size)
{
	const uint64_t *args = record->args;

	switch ((enum trace_event)record->event) {
	case TRACE_END:
		snprintf(text, size,
			 " records=%" PRIu64 " ring_full=%" PRIu64
			 " file_full=%" PRIu64,
			 args[0], args[1], args[2]);
		break;
	case TRACE_TIMER_ARM:
		snprintf(text, size,
			 " deadline=%+" PRId64 " wake=%+" PRId64
			 " arm_ns=%" PRIu64 "%s%s",
			 from(record, 0), from(record, 1), args[2],
			 word(record, TRACE_FLAG_CUT, " cut"),
			 word(record, TRACE_FLAG_FAR, " far"));
		break;
	case TRACE_KICK:
		snprintf(text, size, " request=%#" PRIx32 "%s", record->aux,
			 word(record, TRACE_FLAG_SIGNALLED, " signalled"));
		break;
	case TRACE_INJECT:
		snprintf(text, size, " vector=%#" PRIx32 "%s", record->aux,
			 word(record, TRACE_FLAG_BY_KVM, " by_kvm"));
		break;
	case TRACE_ARRIVE:
		snprintf(text, size,
			 " cost=%" PRId64 " advance=%" PRIu64
			 " distance=%" PRIu64 " state=%s%s%s%s",
			 (int64_t)args[0], args[1], args[2],
			 states[record->flags & TRACE_FLAG_STATE],
			 word(record, TRACE_FLAG_EXPIRY, " expiry"),
			 word(record, TRACE_FLAG_CUT, " cut"),
			 word(record, TRACE_FLAG_PAST, " past"));
		break;
	case TRACE_SPIN_END:
		snprintf(text, size,
			 " target=%+" PRId64 " start=%+" PRId64
			 " reads=%" PRIu64,
			 from(record, 0), from(record, 1), args[2]);
		break;
	case TRACE_ENTRY:
		snprintf(text, size, " returned=%+" PRId64 " %s=%" PRIu32,
			 from(record, 0),
			 record->flags & TRACE_FLAG_BY_KVM ? "errno" : "exit",
			 record->aux);
		break;
	case TRACE_TUNER:
		snprintf(text, size,
			 " cost=%" PRId64 " before=%" PRIu64 " after=%" PRIu64,
			 (int64_t)args[0], args[1], args[2]);
		break;
	case TRACE_DROP:
		snprintf(text, size, " reason=%s left=%" PRId64,
			 drops[record->aux], (int64_t)args[0]);
		break;
	case TRACE_TIMER_EXPIRE:
	case TRACE_EVENTS:
		*text = '\0';
		break;
	}
}

void trace_record_text(const struct trace_record *record,
		       uint64_t first_host_tsc, const struct tsc_scale *scale,
		       char *text, size_t size)
{
	int64_t since_tsc = tsc_diff(record->host_tsc, first_host_tsc);
	uint64_t since_ns =
		tsc_to_ns_floor(scale, since_tsc < 0 ? 0 - (uint64_t)since_tsc
						     : (uint64_t)since_tsc);
	char args[160];

	args_text(record, args, sizeof(args));
	snprintf(text, size, "%2u %s%" PRIu64 ".%03u us %" PRId64 " tsc %s%s",
		 record->vcpu, since_tsc < 0 ? "-" : "", since_ns / 1000,
		 (unsigned int)(since_ns % 1000), since_tsc,
		 events[record->event].name, args);
}
