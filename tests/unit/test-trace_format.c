/* SPDX-License-Identifier: MIT */
/* Names, checks and text of trace records, good and hostile. */
#include "trace_format.h"

#include <errno.h>
#include <string.h>

#include "tap.h"
#include "tsc.h"
#include "tuner.h"

static struct trace_header header;
static struct trace_record record;

static void setup(void)
{
	header = (struct trace_header){
		.magic = TRACE_MAGIC,
		.version = TRACE_VERSION,
		.header_size = sizeof(header),
		.record_size = sizeof(record),
		.vcpu_count = 2,
		.tsc_khz = 2000000,
		.events = TRACE_ALL_EVENTS,
		.spin_share_q16 = 16384,
		.target_q16 = 64881,
		.max_advance_tsc = 800000,
	};
	record = (struct trace_record){.host_tsc = 5000, .vcpu = 1};
}

static void check_text(const char *expected)
{
	struct tsc_scale scale;
	char text[256];

	ck_assert_int_eq(tsc_scale_init(&scale, 2000000), 0);
	ck_assert_ptr_null(trace_record_fault(&record, 2));
	trace_record_text(&record, 2000, &scale, text, sizeof(text));
	ck_assert_str_eq(text, expected);
}

START_TEST(test_trace_format_events)
{
	const char *bad = NULL;
	size_t bad_len = 0;
	uint32_t set;

	ck_assert_int_eq(trace_events_parse("arrive", &set, &bad, &bad_len), 0);
	ck_assert_uint_eq(set, 1u << TRACE_ARRIVE | 1u << TRACE_END);
	ck_assert_int_eq(trace_events_parse("timer_arm,timer_expire,kick,inject"
					    ",arrive,spin_end,entry,tuner,drop",
					    &set, &bad, &bad_len),
			 0);
	ck_assert_uint_eq(set, TRACE_ALL_EVENTS);
}
END_TEST

START_TEST(test_trace_format_bad_events)
{
	static const char *const lists[] = {
		"", "end", "arrive,", ",", "arrive ", "kick,arriv", "kicks"};
	const char *bad;
	size_t bad_len;
	uint32_t set;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		ck_assert_int_eq(
			trace_events_parse(lists[i], &set, &bad, &bad_len),
			-EINVAL);
	ck_assert_int_eq(
		trace_events_parse("kick,mood,drop", &set, &bad, &bad_len),
		-EINVAL);
	ck_assert_uint_eq(bad_len, 4);
	ck_assert_int_eq(strncmp(bad, "mood", 4), 0);
}
END_TEST

START_TEST(test_trace_format_text)
{
	record.event = TRACE_TIMER_ARM;
	record.flags = TRACE_FLAG_CUT;
	record.args[0] = 105000;
	record.args[1] = 95000;
	record.args[2] = 45000;
	check_text(" 1 1.500 us 3000 tsc timer_arm deadline=+100000 "
		   "wake=+90000 arm_ns=45000 cut");
	record.event = TRACE_ARRIVE;
	record.flags = TRACE_STATE_HALTED | TRACE_FLAG_EXPIRY;
	record.args[0] = 0 - UINT64_C(7);
	check_text(" 1 1.500 us 3000 tsc arrive cost=-7 advance=95000 "
		   "distance=45000 state=halted expiry");
	record.event = TRACE_SPIN_END;
	record.flags = 0;
	record.args[0] = 4990;
	record.args[1] = 4000;
	record.args[2] = 12;
	check_text(" 1 1.500 us 3000 tsc spin_end target=-10 start=-1000 "
		   "reads=12");
	record.event = TRACE_TUNER;
	check_text(" 1 1.500 us 3000 tsc tuner cost=4990 before=4000 after=12");
}
END_TEST

START_TEST(test_trace_format_text_aux)
{
	record.event = TRACE_KICK;
	record.flags = TRACE_FLAG_SIGNALLED;
	record.aux = 1;
	check_text(" 1 1.500 us 3000 tsc kick request=0x1 signalled");
	record.event = TRACE_INJECT;
	record.flags = TRACE_FLAG_BY_KVM;
	record.aux = 0;
	check_text(" 1 1.500 us 3000 tsc inject vector=0 by_kvm");
	record.event = TRACE_DROP;
	record.flags = 0;
	record.aux = TRACE_DROP_EARLY;
	record.args[0] = 77;
	check_text(" 1 1.500 us 3000 tsc drop reason=early left=77");
	record.event = TRACE_ENTRY;
	record.aux = 2;
	record.args[0] = 5001;
	check_text(" 1 1.500 us 3000 tsc entry returned=+1 exit=2");
	record = (struct trace_record){.host_tsc = 1999,
				       .event = TRACE_TIMER_EXPIRE};
	check_text(" 0 -0.000 us -1 tsc timer_expire");
}
END_TEST

/* Whatever passes the check can be printed, from any instant to any other. */
START_TEST(test_trace_format_extremes)
{
	struct tsc_scale scale;
	char text[256];

	ck_assert_int_eq(tsc_scale_init(&scale, TSC_KHZ_MIN), 0);
	for (unsigned int event = 0; event < 256; event++) {
		memset(&record, 0xff, sizeof(record));
		record.event = (uint8_t)event;
		if (!trace_record_fault(&record, 64))
			ck_abort_msg("event %u with all flags", event);
		record.flags = 0;
		record.vcpu = 63;
		record.aux = 0;
		for (size_t i = 0; i < 3; i++) {
			if (!trace_record_fault(&record, 64)) {
				trace_record_text(&record, 1, &scale, text,
						  sizeof(text));
				ck_assert_uint_lt(strlen(text),
						  sizeof(text) - 1);
			}
			record.args[2 - i] = 0;
		}
		ck_assert_int_eq(trace_record_fault(&record, 64) == NULL,
				 event < TRACE_EVENTS);
	}
}
END_TEST

START_TEST(test_trace_format_record_faults)
{
	record.event = TRACE_ARRIVE;
	ck_assert_ptr_null(trace_record_fault(&record, 2));
	ck_assert_ptr_nonnull(trace_record_fault(&record, 1));
	record.flags = TRACE_FLAG_STATE; /* 3: no state */
	ck_assert_ptr_nonnull(trace_record_fault(&record, 2));
	record.flags = TRACE_FLAG_FAR;
	ck_assert_ptr_nonnull(trace_record_fault(&record, 2));
	record.flags = 0;
	record.aux = 1;
	ck_assert_ptr_nonnull(trace_record_fault(&record, 2));
	record.event = TRACE_DROP;
	record.aux = TRACE_DROPS;
	ck_assert_ptr_nonnull(trace_record_fault(&record, 2));
	record.aux = 0;
	record.args[1] = 1;
	ck_assert_ptr_nonnull(trace_record_fault(&record, 2));
}
END_TEST

START_TEST(test_trace_format_header_faults)
{
	/* Each alone is one too many. */
	static const struct {
		size_t offset;
		uint32_t value;
	} faults[] = {
		{offsetof(struct trace_header, magic), 0},
		{offsetof(struct trace_header, version), 2},
		{offsetof(struct trace_header, header_size), 0},
		{offsetof(struct trace_header, record_size), 41},
		{offsetof(struct trace_header, vcpu_count), 0},
		{offsetof(struct trace_header, vcpu_count), 65},
		{offsetof(struct trace_header, tsc_khz), 0},
		{offsetof(struct trace_header, tsc_khz), 16000001},
		{offsetof(struct trace_header, events), 1u << TRACE_EVENTS},
		{offsetof(struct trace_header, spin_share_q16), 65537},
		{offsetof(struct trace_header, target_q16), 0},
		{offsetof(struct trace_header, advance), 3},
		{offsetof(struct trace_header, tuner), 2},
		{offsetof(struct trace_header, source), 2},
		{offsetof(struct trace_header, reserved), 1},
		{offsetof(struct trace_header, max_advance_tsc) + 4,
		 0x80000000u},
	};

	ck_assert_ptr_null(trace_header_fault(&header));
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct trace_header bad = header;

		memcpy((char *)&bad + faults[i].offset, &faults[i].value,
		       sizeof(faults[i].value));
		ck_assert_msg(trace_header_fault(&bad) != NULL, "fault %zu", i);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_format");
	TCase *tc = tcase_create("format");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_trace_format_events);
	tcase_add_test(tc, test_trace_format_bad_events);
	tcase_add_test(tc, test_trace_format_text);
	tcase_add_test(tc, test_trace_format_text_aux);
	tcase_add_test(tc, test_trace_format_extremes);
	tcase_add_test(tc, test_trace_format_record_faults);
	tcase_add_test(tc, test_trace_format_header_faults);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
