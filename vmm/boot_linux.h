/* SPDX-License-Identifier: MIT */
/*
 * boot_linux - a bzImage through the 64-bit Linux boot protocol.
 *
 * Source: Linux Documentation/arch/x86/boot.rst "The Real-Mode Kernel Header",
 * "64-bit BOOT PROTOCOL", and zero-page.rst. Any thread, while no vCPU runs.
 */
#ifndef VMM_BOOT_LINUX_H
#define VMM_BOOT_LINUX_H

#include <stdbool.h>

struct boot_content;
struct boot_state;
struct guest_ram;
struct image_bytes;
struct load_error;
struct load_plan;

/* The magic numbers of a bzImage are where they belong. It may still be too
 * old, for 32 bits, or cut short: that is for boot_linux_plan to say. */
bool boot_linux_find(const struct image_bytes *image);

/*
 * Plan the kernel of a found bzImage: init_size bytes from pref_address on, or
 * from the first place above 1 MiB that is aligned as it asks, if it would be
 * below that and is relocatable. Lowers plan->cmdline_max to what the kernel
 * takes, and sets plan->place_limit_gpa to the end of where an initrd may be.
 * Returns 0 or -EINVAL.
 */
int boot_linux_plan(const struct image_bytes *image, struct load_plan *plan,
		    struct load_error *err);

/* Write boot_params, page tables, GDT and the rest, and fill *state, but for
 * entry_gpa. content->image was planned before: its setup header is copied,
 * and only what a boot loader has to fill in differs. */
void boot_linux_write(const struct guest_ram *ram,
		      const struct boot_content *content,
		      struct boot_state *state);

#endif
