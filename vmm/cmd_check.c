/* SPDX-License-Identifier: MIT */
/*
 * cmd_check - `punctual check`: validates a config and prints what is in
 * force, every default filled in. Opens neither the image nor /dev/kvm.
 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "config.h"
#include "end.h"
#include "jsonw.h"
#include "options.h"
#include "output.h"

enum {
	CHECK_SIZE_MAX = 1 << 20,
};

static int print_effective(const struct config *config, const char *path,
			   char *err, size_t err_size)
{
	struct output output;
	struct jsonw w;
	const char *text;
	size_t len;
	int ret = output_open(&output, path, err, err_size);

	if (ret)
		return ret;
	jsonw_init(&w, 2, CHECK_SIZE_MAX);
	jsonw_object_begin(&w, NULL);
	config_write_effective(config, &w);
	jsonw_object_end(&w);
	text = jsonw_text(&w, &len);
	if (text) {
		ret = output_write(&output, text, len, err, err_size);
	} else {
		ret = jsonw_error(&w);
		snprintf(err, err_size, "%s", strerror(-ret));
	}
	jsonw_free(&w);
	if (output_close(&output, err, err_size))
		ret = -1;
	return ret;
}

int command_check(const struct options *options)
{
	struct config config;
	char err[512];
	int status = 0;

	if (config_load(options->configs[0], options->sets, options->set_count,
			&config, err, sizeof(err))) {
		complain("%s", err);
		return EXIT_STATUS_CONFIG;
	}
	if ((!options->quiet || options->json_path) &&
	    print_effective(&config,
			    options->json_path ? options->json_path : "-", err,
			    sizeof(err))) {
		complain("%s", err);
		status = EXIT_STATUS_OUTPUT;
	}
	config_free(&config);
	return status;
}
