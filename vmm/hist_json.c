/* SPDX-License-Identifier: MIT */
/* hist_json - writes the buckets that hold something. */
#include "hist_json.h"

#include "hist.h"
#include "jsonw.h"

void hist_json_write(struct jsonw *w, const char *name, const struct hist *h)
{
	jsonw_object_begin(w, name);
	jsonw_u64(w, "count", h->count);
	if (h->count) {
		jsonw_u64(w, "min", h->min);
		jsonw_u64(w, "max", h->max);
	}
	jsonw_array_begin(w, "buckets");
	for (size_t i = hist_next(h, 0); i < HIST_BUCKETS;
	     i = hist_next(h, i + 1)) {
		jsonw_array_begin(w, NULL);
		jsonw_u64(w, NULL, hist_low(i));
		jsonw_u64(w, NULL, hist_high(i));
		jsonw_u64(w, NULL, h->bucket[i]);
		jsonw_array_end(w);
	}
	jsonw_array_end(w);
	jsonw_object_end(w);
}
