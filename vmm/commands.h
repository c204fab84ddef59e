/* SPDX-License-Identifier: MIT */
/* commands - the subcommands; each returns the exit status. Main thread. */
#ifndef VMM_COMMANDS_H
#define VMM_COMMANDS_H

struct options;

int command_run(const struct options *options);
int command_bench(const struct options *options);
int command_compare(const struct options *options);
int command_check(const struct options *options);
int command_probe(const struct options *options);
int command_trace(const struct options *options);
int command_tune_sim(const struct options *options);

/* One line to stderr: "punctual: ...". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
