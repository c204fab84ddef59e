/* SPDX-License-Identifier: MIT */
/*
 * Chooses the boot protocol, and strings the steps together: read, plan,
 * check, place the initrd, then write. References: loader.h names those of the
 * protocols. Does not model compressed images, but for what a bzImage does by
 * itself, or more than one initrd.
 */
#include "loader.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot_elf64.h"
#include "boot_linux.h"
#include "boot_multiboot.h"
#include "boot_pvh.h"
#include "boot_tables.h"
#include "image_file.h"
#include "load_plan.h"
#include "loader_elf.h"
#include "memory.h"

/* The image with all that was found in it. */
struct loader_image {
	struct image_bytes bytes;
	bool is_elf;
	bool has_multiboot;
	bool is_bzimage;
	struct loader_elf elf; /* open if is_elf */
	struct multiboot_header multiboot;
};

/* One load: inputs, what was decided, and whose file an error is about. */
struct loader {
	const struct loader_request *req;
	const struct guest_ram *ram;
	const char *culprit;
	struct load_error err;
	struct image_file initrd;
	struct load_plan plan;
	struct boot_content content;
	const struct loader_protocol *protocol;
	char cmdline[LOADER_CMDLINE_OTHER + 1];
};

/* 1: offered and planned; 0: the image does not offer it; else -errno. */
typedef int loader_plan_fn(const struct loader_image *image,
			   struct load_plan *plan, struct load_error *err);

struct loader_protocol {
	enum boot_protocol id;
	enum boot_entry mode;
	size_t cmdline_max;
	loader_plan_fn *plan;
	void (*write)(const struct guest_ram *ram,
		      const struct boot_content *content,
		      struct boot_state *state);
	const char *missing;
};

static int loader_plan_linux(const struct loader_image *image,
			     struct load_plan *plan, struct load_error *err)
{
	int rc;

	if (!image->is_bzimage)
		return 0;
	rc = boot_linux_plan(&image->bytes, plan, err);
	return rc ? rc : 1;
}

static int loader_plan_pvh(const struct loader_image *image,
			   struct load_plan *plan, struct load_error *err)
{
	int rc;

	if (!image->is_elf)
		return 0;
	rc = boot_pvh_entry(&image->elf, &plan->entry_gpa, err);
	if (rc <= 0)
		return rc;
	rc = loader_elf_plan(&image->elf, plan, err);
	return rc ? rc : 1;
}

static int loader_plan_elf(const struct loader_image *image,
			   struct load_plan *plan, struct load_error *err)
{
	int rc = loader_elf_plan(&image->elf, plan, err);

	if (rc)
		return rc;
	plan->entry_gpa = loader_elf_entry_gpa(&image->elf, plan);
	return 1;
}

static int loader_plan_multiboot(const struct loader_image *image,
				 struct load_plan *plan, struct load_error *err)
{
	const struct multiboot_header *header = &image->multiboot;
	int rc;

	if (!image->has_multiboot)
		return 0;
	rc = boot_multiboot_check(header, err);
	if (rc)
		return rc;
	if (header->flags & MULTIBOOT_ADDRESSES) {
		rc = boot_multiboot_plan(header, image->bytes.size, plan, err);
		return rc ? rc : 1;
	}
	if (!image->is_elf)
		return load_fail(err, -EINVAL,
				 "a Multiboot header without load addresses "
				 "(flag bit 16) in a file that is not ELF; "
				 "set them or link to ELF");
	return loader_plan_elf(image, plan, err);
}

static int loader_plan_elf64(const struct loader_image *image,
			     struct load_plan *plan, struct load_error *err)
{
	if (!image->is_elf || !image->elf.is_elf64)
		return 0;
	return loader_plan_elf(image, plan, err);
}

/* In the order in which BOOT_AUTO tries them. */
static const struct loader_protocol loader_protocols[] = {
	{BOOT_LINUX, ENTRY_LONG64, LOADER_CMDLINE_OTHER, loader_plan_linux,
	 boot_linux_write, "no bzImage (HdrS at offset 0x202)"},
	{BOOT_PVH, ENTRY_PROT32, LOADER_CMDLINE_PVH, loader_plan_pvh,
	 boot_pvh_write,
	 "no PVH entry note (Xen PHYS32_ENTRY in a PT_NOTE segment)"},
	{BOOT_MULTIBOOT, ENTRY_PROT32, LOADER_CMDLINE_OTHER,
	 loader_plan_multiboot, boot_multiboot_write,
	 "no valid Multiboot 1 header in the first 8 KiB"},
	{BOOT_ELF64, ENTRY_LONG64, LOADER_CMDLINE_OTHER, loader_plan_elf64,
	 boot_elf64_write, "not an ELF64 file"},
};

#define LOADER_PROTOCOLS \
	(sizeof(loader_protocols) / sizeof(loader_protocols[0]))

static int loader_choose(struct loader *loader,
			 const struct loader_image *image)
{
	enum boot_protocol asked = loader->req->protocol;

	for (size_t i = 0; i < LOADER_PROTOCOLS; i++) {
		const struct loader_protocol *protocol = &loader_protocols[i];
		int rc;

		if (asked != BOOT_AUTO && asked != protocol->id)
			continue;
		loader->plan.cmdline_max = protocol->cmdline_max;
		rc = protocol->plan(image, &loader->plan, &loader->err);
		if (rc < 0)
			return rc;
		if (rc) {
			loader->protocol = protocol;
			return 0;
		}
		if (asked == protocol->id)
			return load_fail(&loader->err, -EINVAL,
					 "%s; set boot-source.protocol to "
					 "what the image offers, or to auto",
					 protocol->missing);
	}
	return load_fail(
		&loader->err, -EINVAL,
		"no way to boot it: neither a bzImage, nor a PVH entry "
		"note, nor a Multiboot 1 header, nor ELF64; is it a "
		"kernel?");
}

/* Plan and check what the image asks for; nothing is written. */
static int loader_plan_image(struct loader *loader,
			     const struct image_bytes *bytes)
{
	struct loader_image image = {.bytes = *bytes};
	const struct load_area *areas;
	unsigned int area_count;
	int rc;

	image.is_bzimage = boot_linux_find(bytes);
	image.has_multiboot = boot_multiboot_find(bytes, &image.multiboot);
	image.is_elf = loader_elf_magic(bytes);
	/* Address fields replace the ELF headers, which then may be of any
	 * kind; they matter only if another protocol could be chosen. */
	if (loader->req->protocol == BOOT_MULTIBOOT && image.has_multiboot &&
	    (image.multiboot.flags & MULTIBOOT_ADDRESSES))
		image.is_elf = false;
	if (image.is_elf) {
		rc = loader_elf_open(&image.elf, bytes, &loader->err);
		if (rc)
			return rc;
	}
	rc = loader_choose(loader, &image);
	loader_elf_close(&image.elf);
	if (rc)
		return rc;
	area_count = boot_tables_areas(loader->protocol->mode, &areas);
	return load_plan_check(&loader->plan, loader->ram, areas, area_count,
			       &loader->err);
}

static const char *loader_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int loader_check_args(const char *args, struct load_error *err)
{
	for (size_t i = 0; args[i]; i++) {
		uint8_t byte = (uint8_t)args[i];

		if (byte < ' ' || byte > '~')
			return load_fail(err, -EINVAL,
					 "boot_args: byte 0x%02x at offset %zu "
					 "is not printable ASCII; remove it",
					 byte, i);
	}
	return 0;
}

/* The program name that a Multiboot guest finds as its first word. It must
 * stay one word of printable ASCII, whatever the file is called. */
static size_t loader_write_name(char *out, size_t size, const char *path)
{
	size_t len;

	snprintf(out, size, "%s", loader_base_name(path));
	len = strlen(out);
	for (size_t i = 0; i < len; i++)
		if (out[i] <= ' ' || out[i] > '~')
			out[i] = '_';
	return len;
}

static int loader_make_cmdline(struct loader *loader)
{
	const struct loader_request *req = loader->req;
	const char *args = req->boot_args ? req->boot_args : "";
	size_t max = loader->plan.cmdline_max;
	size_t args_len = strlen(args);
	size_t name_len = 0;
	int rc = loader_check_args(args, &loader->err);

	if (rc)
		return rc;
	if (loader->protocol->id == BOOT_MULTIBOOT) {
		name_len = loader_write_name(loader->cmdline,
					     sizeof(loader->cmdline) - 1,
					     req->image_path);
		if (args_len)
			loader->cmdline[name_len++] = ' ';
	}
	if (args_len > max - name_len)
		return load_fail(&loader->err, -EINVAL,
				 "boot_args has %zu bytes; at most %zu fit the "
				 "command line of this boot protocol",
				 args_len, max - name_len);
	memcpy(loader->cmdline + name_len, args, args_len + 1);
	loader->content.cmdline = loader->cmdline;
	return 0;
}

/* Open the initrd and find a place for it; it is read later. */
static int loader_plan_initrd(struct loader *loader)
{
	struct boot_content *content = &loader->content;
	const char *path = loader->req->initrd_path;
	int rc;

	content->initrd_name = "";
	if (!path)
		return 0;
	loader->culprit = path;
	rc = image_file_open(&loader->initrd, path, RAM_LOW_END, &loader->err);
	if (rc)
		return rc;
	content->initrd_name = loader_base_name(path);
	content->initrd_size = loader->initrd.size;
	if (!load_plan_place(&loader->plan, loader->ram, content->initrd_size,
			     &content->initrd_gpa))
		return load_fail(
			&loader->err, -EINVAL,
			"the initrd of %" PRIu64 " bytes finds no "
			"room beside the image between 1 MiB and "
			"%" PRIu64 " MiB; raise mem_size_mib (3072 "
			"MiB can be used) or make it smaller",
			content->initrd_size,
			load_plan_place_limit(&loader->plan, loader->ram) /
				0x100000);
	return 0;
}

static int loader_write(struct loader *loader, const struct image_bytes *bytes,
			struct boot_state *out)
{
	const struct boot_content *content = &loader->content;

	load_plan_write(&loader->plan, loader->ram, bytes);
	if (content->initrd_gpa) {
		void *host = ram_ptr(loader->ram, content->initrd_gpa,
				     content->initrd_size);
		int rc;

		assert(host);
		rc = image_file_read(&loader->initrd, host, &loader->err);
		if (rc)
			return rc;
	}
	loader->protocol->write(loader->ram, content, out);
	out->entry_gpa = loader->plan.entry_gpa;
	out->image_end_gpa = load_plan_end(&loader->plan);
	out->initrd_gpa = content->initrd_gpa;
	out->initrd_size = content->initrd_size;
	return 0;
}

/* Everything after the image is in memory. */
static int loader_run(struct loader *loader, const struct image_bytes *bytes,
		      struct boot_state *out)
{
	int rc = loader_plan_image(loader, bytes);

	loader->content.image = bytes;
	if (!rc)
		rc = loader_make_cmdline(loader);
	if (!rc)
		rc = loader_plan_initrd(loader);
	if (!rc)
		rc = loader_write(loader, bytes, out);
	image_file_close(&loader->initrd);
	return rc;
}

static int loader_read_image(const char *path, uint8_t **data, uint64_t *size,
			     struct load_error *err)
{
	struct image_file file;
	int rc = image_file_open(&file, path, LOADER_IMAGE_MAX, err);

	if (rc)
		return rc;
	*size = file.size;
	*data = malloc(file.size);
	if (!*data)
		rc = load_fail(err, -ENOMEM,
			       "no memory to read its %" PRIu64 " bytes",
			       file.size);
	else
		rc = image_file_read(&file, *data, err);
	image_file_close(&file);
	if (rc) {
		free(*data);
		*data = NULL;
	}
	return rc;
}

int loader_load(const struct loader_request *req, const struct guest_ram *ram,
		struct boot_state *out, char *err, size_t errsz)
{
	struct loader loader = {
		.req = req,
		.ram = ram,
		.culprit = req->image_path,
		.initrd = {.fd = -1},
		.content = {.cpus = req->cpus},
	};
	struct image_bytes bytes = {0};
	uint8_t *data = NULL;
	int rc;

	rc = loader_read_image(req->image_path, &data, &bytes.size,
			       &loader.err);
	bytes.data = data;
	if (!rc)
		rc = loader_run(&loader, &bytes, out);
	if (rc)
		snprintf(err, errsz, "%s: %s", loader.culprit, loader.err.text);
	free(data);
	return rc;
}
