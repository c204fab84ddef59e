/* SPDX-License-Identifier: MIT */
/* hist_json - a histogram (timer/hist.h) as JSON. Pure. */
#ifndef VMM_HIST_JSON_H
#define VMM_HIST_JSON_H

struct hist;
struct jsonw;

/* An object under that name: "count", "min" and "max" unless that is 0, and
 * "buckets", [low, high, count] of each that is not empty. */
void hist_json_write(struct jsonw *w, const char *name, const struct hist *h);

#endif
