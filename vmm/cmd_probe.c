/* SPDX-License-Identifier: MIT */
/*
 * cmd_probe - `punctual probe`: what this host can do, as text or JSON. Exit
 * status 0 if timer mode "userspace" would run here, else 77.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "end.h"
#include "host.h"
#include "jsonw.h"
#include "kvm.h"
#include "options.h"
#include "output.h"
#include "probe.h"

#define KVM_PATH "/dev/kvm"

enum {
	PROBE_JSON_SIZE_MAX = 1 << 16,
};

struct findings {
	struct host_info host;
	char kvm_error[256]; /* "" if /dev/kvm works */
	const char *missing; /* capability, or NULL */
	enum probe_result interception;
	enum timer_rung rung;
	char reason[256]; /* why not intercepted */
};

static void find(struct findings *f)
{
	int kvm_fd;

	memset(f, 0, sizeof(*f));
	f->interception = PROBE_FAILED;
	host_read(&f->host);
	kvm_fd = kvm_open(KVM_PATH, f->kvm_error, sizeof(f->kvm_error));
	if (kvm_fd < 0)
		return;
	f->missing = probe_missing_capability(kvm_fd);
	if (!f->missing)
		f->interception = probe_ladder(kvm_fd, &f->rung, f->reason,
					       sizeof(f->reason));
	close(kvm_fd);
}

static const char *why_not(const struct findings *f)
{
	if (f->kvm_error[0])
		return f->kvm_error;
	if (f->missing)
		return f->missing;
	if (f->interception != PROBE_INTERCEPTED)
		return f->reason;
	if (!host_tsc_is_stable(&f->host))
		return "the host's clocksource is not tsc "
		       "(timer.unstable_tsc=allow runs all the same)";
	return NULL;
}

static void print_text(const struct findings *f)
{
	const char *reason = why_not(f);

	printf("kernel            %s\n"
	       "cpu               %s (%" PRIu32 " online)\n"
	       "kvm               %s%s\n"
	       "clocksource       %s\n",
	       f->host.kernel, f->host.machine, f->host.cpus, f->host.backend,
	       f->host.nested ? ", nested" : "", f->host.clocksource);
	printf("timer userspace   %s%s\n", reason ? "no: " : "yes, rung: ",
	       reason ? reason : probe_rung_name(f->rung));
	if (f->interception == PROBE_SWALLOWED)
		printf("                  %s\n", probe_remedy());
	printf("timer kernel      %s%s\n",
	       f->kvm_error[0] ? "no: "
	       : f->missing    ? "no: "
			       : "yes",
	       f->kvm_error[0] ? f->kvm_error
	       : f->missing    ? f->missing
			       : "");
}

static int write_json(const struct findings *f, const char *path)
{
	const char *reason = why_not(f);
	struct output output;
	struct jsonw w;
	const char *text;
	char err[256];
	size_t len;
	int ret = output_open(&output, path, err, sizeof(err));

	if (ret) {
		complain("%s", err);
		return EXIT_STATUS_OUTPUT;
	}
	jsonw_init(&w, 2, PROBE_JSON_SIZE_MAX);
	jsonw_object_begin(&w, NULL);
	jsonw_string(&w, "schema", "punctual-probe-1");
	jsonw_object_begin(&w, "host");
	host_write(&f->host, &w);
	jsonw_object_end(&w);
	jsonw_bool(&w, "intercepted", f->interception == PROBE_INTERCEPTED);
	jsonw_bool(&w, "swallowed", f->interception == PROBE_SWALLOWED);
	jsonw_string(&w, "rung", reason ? NULL : probe_rung_name(f->rung));
	jsonw_string(&w, "reason", reason);
	jsonw_object_end(&w);
	text = jsonw_text(&w, &len);
	ret = text ? output_write(&output, text, len, err, sizeof(err))
		   : jsonw_error(&w);
	if (!ret)
		ret = output_close(&output, err, sizeof(err));
	if (ret)
		complain("%s", text ? err : strerror(-ret));
	jsonw_free(&w);
	return ret ? EXIT_STATUS_OUTPUT : 0;
}

int command_probe(const struct options *options)
{
	struct findings findings;
	int status = 0;

	find(&findings);
	if (options->json_path)
		status = write_json(&findings, options->json_path);
	else if (!options->quiet)
		print_text(&findings);
	if (!status && fflush(stdout))
		status = EXIT_STATUS_OUTPUT;
	if (!status && why_not(&findings))
		status = EXIT_STATUS_CANNOT;
	return status;
}
