/* SPDX-License-Identifier: MIT */
/*
 * cmd_compare - `punctual compare A.json B.json`: two benchmarks, of two hosts,
 * kernels or versions, side by side.
 *
 * A file that is no result of bench is a mistake of the command line's and ends
 * it with 78. What must not be compared, and what came to nothing, with 1, and
 * the first of it is said in one line.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "compare.h"
#include "compare_report.h"
#include "end.h"
#include "jsonw.h"
#include "options.h"
#include "output.h"

enum {
	EXIT_STATUS_CANNOT_TELL = 1,
	JSON_SIZE = 64 << 20,
};

struct comparison {
	const struct options *options;
	struct json_doc docs[2];
	struct compare compare;
	struct output json;
	char err[512];
};

static int load(struct comparison *c, int side)
{
	const char *path = c->options->configs[side];
	struct json_doc *doc = &c->docs[side];

	if (json_load_file(doc, path, COMPARE_JSON_MAX, c->err,
			   sizeof(c->err)) ||
	    compare_check(doc, path, c->err, sizeof(c->err)))
		return EXIT_STATUS_CONFIG;
	return 0;
}

static int write_json(struct comparison *c, int status)
{
	struct jsonw w;
	const char *text;
	size_t len;
	int ret;

	if (!c->json.path)
		return 0;
	jsonw_init(&w, 2, JSON_SIZE);
	compare_write(&c->compare, c->options->configs, status, &w);
	text = jsonw_text(&w, &len);
	ret = text ? output_write(&c->json, text, len, c->err, sizeof(c->err))
		   : jsonw_error(&w);
	if (ret)
		complain("%s", text ? c->err : strerror(-ret));
	jsonw_free(&w);
	return ret;
}

static int print(const struct comparison *c)
{
	const char *json = c->options->json_path;
	FILE *out = json && !strcmp(json, "-") ? stderr : stdout;

	if (c->options->quiet)
		return 0;
	compare_print(&c->compare, c->options->configs, out);
	if (!fflush(out) && !ferror(out))
		return 0;
	complain("the table: %s", strerror(errno));
	return -EIO;
}

static int report(struct comparison *c)
{
	char why[COMPARE_WHY_SIZE + 256];
	int status = 0, lost;

	if (compare_make(&c->compare, &c->docs[0], &c->docs[1])) {
		complain("%s", strerror(ENOMEM));
		return EXIT_STATUS_INTERNAL;
	}
	if (compare_is_vain(&c->compare, why, sizeof(why))) {
		complain("%s", why);
		status = EXIT_STATUS_CANNOT_TELL;
	}
	lost = write_json(c, status);
	if (print(c))
		lost = -EIO;
	compare_free(&c->compare);
	return lost ? EXIT_STATUS_OUTPUT : status;
}

int command_compare(const struct options *options)
{
	struct comparison c = {.options = options, .json = {.fd = -1}};
	int status = load(&c, 0);

	if (!status)
		status = load(&c, 1);
	if (!status &&
	    output_open(&c.json, options->json_path, c.err, sizeof(c.err)))
		status = EXIT_STATUS_OUTPUT;
	if (status)
		complain("%s", c.err);
	else
		status = report(&c);
	if (output_close(&c.json, c.err, sizeof(c.err))) {
		complain("%s", c.err);
		status = EXIT_STATUS_OUTPUT;
	}
	json_free(&c.docs[0]);
	json_free(&c.docs[1]);
	return status;
}
