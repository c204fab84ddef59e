/* SPDX-License-Identifier: MIT */
/* markers - see markers.h. Not here: the port, see bus.h. */
#include "markers.h"

#include "jsonw.h"

void markers_add(struct markers *markers, uint64_t now_ns, uint32_t value,
		 uint32_t vcpu)
{
	unsigned long long place = atomic_fetch_add(&markers->count, 1);

	if (place >= MARKERS_MAX)
		return;
	markers->kept[place] = (struct marker){
		.since_start_ns = now_ns - markers->start_ns,
		.value = value,
		.vcpu = vcpu,
	};
}

unsigned int markers_kept(const struct markers *markers)
{
	unsigned long long count = atomic_load(&markers->count);

	return count < MARKERS_MAX ? (unsigned int)count : MARKERS_MAX;
}

void markers_write(const struct markers *markers, struct jsonw *w)
{
	unsigned int kept = markers_kept(markers);

	jsonw_array_begin(w, "markers");
	for (unsigned int i = 0; i < kept; i++) {
		jsonw_object_begin(w, NULL);
		jsonw_u64(w, "since_start_ns", markers->kept[i].since_start_ns);
		jsonw_u64(w, "value", markers->kept[i].value);
		jsonw_u64(w, "vcpu", markers->kept[i].vcpu);
		jsonw_object_end(w);
	}
	jsonw_array_end(w);
	jsonw_u64(w, "markers_dropped", atomic_load(&markers->count) - kept);
}
