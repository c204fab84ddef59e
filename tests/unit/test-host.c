/* SPDX-License-Identifier: MIT */
/* What is said about the host: which clocks count as stable, and that the
 * JSON holds what was read. */
#include "host.h"

#include <stdio.h>
#include <string.h>

#include "json.h"
#include "jsonw.h"
#include "tap.h"

static struct json_doc doc;

static void write_out(const struct host_info *host)
{
	struct jsonw w;
	const char *text;
	char err[200];
	size_t len;

	jsonw_init(&w, 0, 1 << 16);
	jsonw_object_begin(&w, NULL);
	host_write(host, &w);
	jsonw_object_end(&w);
	text = jsonw_text(&w, &len);
	ck_assert_ptr_nonnull(text);
	ck_assert_msg(
		!json_parse(&doc, NULL, text, len, 1 << 16, err, sizeof(err)),
		"%s in %s", err, text);
	jsonw_free(&w);
}

static void check_string(const char *name, const char *expected)
{
	const struct json_node *node = json_get(&doc, json_root(&doc), name);

	ck_assert_msg(node && json_equals(&doc, node, expected),
		      "%s is not \"%s\"", name, expected);
}

static void check_number(const char *name, int64_t expected)
{
	const struct json_node *node = json_get(&doc, json_root(&doc), name);
	int64_t value;

	ck_assert_msg(node && !json_i64(&doc, node, &value), "no %s", name);
	ck_assert_int_eq(value, expected);
}

static void check_bool(const char *name, bool expected)
{
	const struct json_node *node = json_get(&doc, json_root(&doc), name);
	bool value;

	ck_assert_msg(node && !json_bool(&doc, node, &value), "no %s", name);
	ck_assert_int_eq(value, expected);
}

START_TEST(test_host_clocksources)
{
	static const struct {
		const char *name;
		bool stable;
	} sources[] = {
		{"tsc", true},
		{"hyperv_clocksource_tsc_page", true},
		/* The TSC may be fine under it, but the kernel does not say. */
		{"kvm-clock", false},
		{"hpet", false},
		{"acpi_pm", false},
		{"jiffies", false},
		{"refined-jiffies", false},
		{"hyperv_clocksource_msr", false},
		{"xen", false},
		{"tsc-early", false},
		{"tsc ", false},
		{"", false},
	};

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct host_info host = {.halt_poll_ns = -1};

		snprintf(host.clocksource, sizeof(host.clocksource), "%s",
			 sources[i].name);
		ck_assert_int_eq(host_tsc_is_stable(&host), sources[i].stable);
	}
}
END_TEST

START_TEST(test_host_write)
{
	static const struct host_info host = {
		.kernel = "6.1.0-test",
		.machine = "A \"CPU\" @ 2.4GHz",
		.clocksource = "hpet",
		.backend = "kvm_intel",
		.governor = "",
		.nested = true,
		.halt_poll_ns = -1,
		.preemption_timer = 0,
		.cpus = 12,
		.steal_ticks = 345,
		.allowed_cpus = "0,2-3",
		.scheduler = "fifo",
		.priority = 50,
		.nice_value = -7,
	};

	write_out(&host);
	check_string("kernel", "6.1.0-test");
	check_string("cpu", "A \"CPU\" @ 2.4GHz");
	check_string("clocksource", "hpet");
	check_string("kvm_backend", "kvm_intel");
	check_string("governor", "");
	check_bool("nested", true);
	check_bool("tsc_stable", false);
	check_number("halt_poll_ns", -1);
	check_number("preemption_timer", 0);
	check_number("cpus", 12);
	check_number("steal_ticks", 345);
	check_string("allowed_cpus", "0,2-3");
	check_string("scheduler", "fifo");
	check_number("priority", 50);
	check_number("nice", -7);
	json_free(&doc);
}
END_TEST

/* Whatever this machine is, what is read of it can be written. */
START_TEST(test_host_read)
{
	struct host_info host;

	memset(&host, 0xa5, sizeof(host));
	host_read(&host);
	ck_assert_str_ne(host.kernel, "");
	ck_assert_str_ne(host.backend, "");
	ck_assert_uint_ge(host.cpus, 1);
	ck_assert_int_ge(host.halt_poll_ns, -1);
	ck_assert_int_ge(host.preemption_timer, -1);
	ck_assert_int_le(host.preemption_timer, 1);
	ck_assert_ptr_null(strchr(host.clocksource, '\n'));
	ck_assert_ptr_null(strchr(host.governor, '\n'));
	ck_assert_uint_eq(strspn(host.allowed_cpus, "0123456789,-"),
			  strlen(host.allowed_cpus));
	ck_assert_str_ne(host.allowed_cpus, "");
	ck_assert_str_ne(host.scheduler, "");
	ck_assert_int_ge(host.nice_value, -20);
	ck_assert_int_le(host.nice_value, 19);
	write_out(&host);
	check_string("kernel", host.kernel);
	json_free(&doc);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("host");
	TCase *tc = tcase_create("host");

	tcase_add_test(tc, test_host_clocksources);
	tcase_add_test(tc, test_host_write);
	tcase_add_test(tc, test_host_read);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
