/* SPDX-License-Identifier: MIT */
/*
 * compare_config - in what two rows and their hosts differ, and which of it
 * forbids a comparison. Pure.
 */
#ifndef VMM_COMPARE_CONFIG_H
#define VMM_COMPARE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

struct json_doc;
struct json_node;

/* Called with the name of what differs and both values; "-": it is not there.
 */
typedef void compare_differ_fn(void *ctx, const char *name, const char *a,
			       const char *b);

/*
 * Did the two cells run something else: another guest (by the image's name),
 * command line, initrd, protocol, number of vCPUs, hidden CPU features or timer
 * mode? Then one line in why.
 */
bool compare_config_refuses(const struct json_doc *const docs[2],
			    const struct json_node *const cells[2], char *why,
			    size_t why_size);

/* Every other key of their configurations that differs, and the contents of
 * their images. */
void compare_config_differs(const struct json_doc *const docs[2],
			    const struct json_node *const cells[2],
			    compare_differ_fn *differ, void *ctx);

/* What differs in the two hosts and programs. */
void compare_context_differs(const struct json_doc *const docs[2],
			     compare_differ_fn *differ, void *ctx);

#endif
