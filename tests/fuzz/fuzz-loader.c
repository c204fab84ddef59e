/* SPDX-License-Identifier: MIT */
/*
 * fuzz-loader - a hostile image, and an initrd, loaded into guest RAM.
 *
 * The input begins with choices (image to start from, protocol, RAM, initrd);
 * the rest is the image itself, or changes to one that works: offset, length,
 * bytes. By bytes alone a fuzzer hardly ever makes an ELF file.
 *
 * Rules: where it fails there is one line to say, and RAM was not touched.
 * Where it does not, the entry is in RAM and below 4 GiB; image and initrd end
 * in RAM; the initrd is page aligned, above 1 MiB, as it was in its file; and
 * the tables are whole, so that nothing is above anything else. Time and memory
 * are bounded: libFuzzer's limits.
 */
#define _GNU_SOURCE /* memfd_create */
#include "loader.h"

#include <errno.h>
#include <string.h>

#include "boot_tables.h"
#include "bzimage_builder.h"
#include "elf_builder.h"
#include "fuzz_file.h"
#include "fuzz_plan.h"
#include "memory.h"

enum {
	IMAGE_MAX = 0x2000,
	INITRD_MAX = 0x3000,
};

static const char boot_args[] = "console=ttyS0 one two";

struct state {
	struct loader_request req;
	struct guest_ram ram;
	uint8_t image[IMAGE_MAX];
	size_t image_size;
	uint8_t initrd[INITRD_MAX];
	size_t initrd_size;
};

static struct fuzz_file image_file, initrd_file;

static void take_elf(struct state *s, bool is64, bool pvh)
{
	struct elf_build b;

	elf_build_init(&b, is64);
	elf_build_load(&b, 0x100000, 0x1000, 0x200, 0x3000);
	elf_build_load(&b, 0x200000, 0x1200, 0x300, 0x300);
	if (pvh)
		elf_build_pvh(&b, 0x1c00, 0x200010, is64 ? 8 : 4);
	b.entry = 0x200020;
	elf_build_write(&b);
	memcpy(s->image, b.bytes, b.size);
	s->image_size = b.size;
	elf_build_free(&b);
}

static void take_multiboot(struct state *s)
{
	static const uint32_t words[] = {0x100040, 0x100000, 0x100800, 0x102000,
					 0x100080};

	take_elf(s, false, false);
	memset(s->image, 0, 0x40);
	elf_build_multiboot(s->image + 0x40, 0x00010003, words);
}

static void take_bzimage(struct state *s)
{
	struct bzimage b;

	bzimage_init(&b);
	memcpy(s->image, b.bytes, b.size);
	s->image_size = b.size;
	bzimage_free(&b);
}

static void change(struct state *s, struct fuzz_input *in)
{
	size_t at = fuzz_u16(in) % IMAGE_MAX;
	unsigned int count = fuzz_u8(in) % 16 + 1u;

	for (unsigned int i = 0; i < count && at + i < s->image_size; i++)
		s->image[at + i] = fuzz_u8(in);
}

static void take_image(struct state *s, struct fuzz_input *in)
{
	uint8_t kind = fuzz_u8(in);

	switch (kind % 7) {
	case 0:
		take_elf(s, true, false);
		break;
	case 1:
		take_elf(s, true, true);
		break;
	case 2:
		take_elf(s, false, true);
		break;
	case 3:
		take_multiboot(s);
		break;
	case 4:
	case 5:
		take_bzimage(s);
		break;
	default:
		while (fuzz_more(in) && s->image_size < IMAGE_MAX)
			s->image[s->image_size++] = fuzz_u8(in);
		return;
	}
	if (kind & 0x80)
		s->image_size = fuzz_u16(in) % s->image_size;
	while (fuzz_more(in))
		change(s, in);
}

/* From 1 MiB up to more than fits below the device hole. */
static void take_ram(struct state *s, uint8_t choice)
{
	static const uint64_t sizes_mib[] = {1, 2, 3, 4, 8, 64, 3072, 4096};

	FUZZ_CHECK(!ram_alloc(&s->ram, sizes_mib[choice % 8] << 20));
}

static void take_initrd(struct state *s, uint8_t choice)
{
	if (!(choice & 1))
		return;
	s->initrd_size = 1 + choice * 48u % INITRD_MAX;
	for (size_t i = 0; i < s->initrd_size; i++)
		s->initrd[i] = (uint8_t)(i * 13 + (i >> 8) + 5);
	fuzz_file_set(&initrd_file, s->initrd, s->initrd_size);
	s->req.initrd_path = initrd_file.path;
}

/* A failed load has cost no page. */
static void check_untouched(const struct state *s)
{
	uint64_t low = s->ram.regions[0].size;
	unsigned char pages[0x400];

	if (low > sizeof(pages) * RAM_PAGE_SIZE)
		low = sizeof(pages) * RAM_PAGE_SIZE;
	FUZZ_CHECK(!mincore(s->ram.regions[0].host, low, pages));
	for (uint64_t i = 0; i < low / RAM_PAGE_SIZE; i++)
		FUZZ_CHECK(!(pages[i] & 1));
}

static void check_initrd(const struct state *s, const struct boot_state *out)
{
	FUZZ_CHECK(out->initrd_size == s->initrd_size);
	if (!s->initrd_size) {
		FUZZ_CHECK(!out->initrd_gpa);
		return;
	}
	FUZZ_CHECK(out->initrd_gpa % RAM_PAGE_SIZE == 0);
	FUZZ_CHECK(out->initrd_gpa >= RAM_EXT_START);
	FUZZ_CHECK(out->initrd_gpa + s->initrd_size <= s->ram.regions[0].size);
	FUZZ_CHECK(!memcmp(s->ram.regions[0].host + out->initrd_gpa, s->initrd,
			   s->initrd_size));
}

static void check_tables(const struct state *s, const struct boot_state *out)
{
	const uint8_t *host = s->ram.regions[0].host;
	const char *cmdline = (const char *)host + out->cmdline_gpa;
	uint64_t null;

	FUZZ_CHECK(out->gdt_gpa == BOOT_GDT_GPA && out->gdt_limit < 0x1000);
	memcpy(&null, host + out->gdt_gpa, sizeof(null));
	FUZZ_CHECK(!null);
	FUZZ_CHECK(out->cs_selector < out->gdt_limit &&
		   out->ds_selector < out->gdt_limit);
	FUZZ_CHECK(host[out->gdt_gpa + out->cs_selector + 5] == 0x9b);
	FUZZ_CHECK(host[out->gdt_gpa + out->ds_selector + 5] == 0x93);
	FUZZ_CHECK(!memcmp(host + BOOT_RSDP_GPA, "RSD PTR ", 8));
	FUZZ_CHECK(!memcmp(host + BOOT_MPTABLE_GPA, "_MP_", 4));
	FUZZ_CHECK(strlen(cmdline) < 0x1000);
	FUZZ_CHECK(!strcmp(cmdline + strlen(cmdline) - strlen(boot_args),
			   boot_args));
}

static void check_loaded(const struct state *s, const struct boot_state *out)
{
	FUZZ_CHECK(out->used != BOOT_AUTO && (s->req.protocol == BOOT_AUTO ||
					      s->req.protocol == out->used));
	FUZZ_CHECK(out->entry_gpa < RAM_HIGH_START);
	FUZZ_CHECK(ram_ptr(&s->ram, out->entry_gpa, 1));
	FUZZ_CHECK(out->entry_gpa < out->image_end_gpa);
	FUZZ_CHECK(ram_ptr(&s->ram, out->image_end_gpa - 1, 1));
	FUZZ_CHECK((out->mode == ENTRY_LONG64) == (out->cr3_gpa != 0));
	check_initrd(s, out);
	check_tables(s, out);
}

static void run(struct state *s)
{
	struct boot_state out;
	char err[400] = "";
	int ret;

	fuzz_file_set(&image_file, s->image, s->image_size);
	s->req.image_path = image_file.path;
	ret = loader_load(&s->req, &s->ram, &out, err, sizeof(err));
	if (!ret) {
		check_loaded(s, &out);
		return;
	}
	FUZZ_CHECK(ret == -EINVAL);
	FUZZ_CHECK(*err && !strchr(err, '\n'));
	check_untouched(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_open(data, size);
	struct state s = {.image_size = 0};

	s.req.protocol = (enum boot_protocol)(fuzz_u8(&in) % (BOOT_LINUX + 1));
	s.req.boot_args = boot_args;
	s.req.cpus = 1;
	take_ram(&s, fuzz_u8(&in));
	take_initrd(&s, fuzz_u8(&in));
	take_image(&s, &in);
	run(&s);
	fuzz_plan_check(s.image, s.image_size, &s.ram);
	ram_free(&s.ram);
	return 0;
}
