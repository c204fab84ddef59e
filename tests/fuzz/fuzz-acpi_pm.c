/* SPDX-License-Identifier: MIT */
/*
 * fuzz-acpi_pm - the two ways to end a machine: power management registers and
 * reset control, written in any order.
 *
 * Rules: the power goes off by SLP_EN together with S5's SLP_TYP, in one byte,
 * and by nothing else; a reset comes with a rise of its bit, and with nothing
 * else; registers read back what is writable, status and SLP_EN as 0.
 */
#include "acpi_pm.h"
#include "reset_ctl.h"

#include "fuzz.h"

static const uint8_t kept[ACPI_PM_WINDOW] = {0, 0, 0xff, 0xff, 0x02, 0x1c};
static const uint8_t always[ACPI_PM_WINDOW] = {0, 0, 0, 0, 0x01, 0};

struct state {
	struct acpi_pm pm;
	uint8_t expected[ACPI_PM_WINDOW];
	struct reset_ctl reset;
	uint8_t control; /* of the reset, as it must read */
};

static void write_pm(struct state *s, unsigned int offset, uint8_t value)
{
	bool off = acpi_pm_write(&s->pm, offset, value);

	FUZZ_CHECK(off == (offset == 5 && (value & 0x3c) == 0x34));
	s->expected[offset] = (value & kept[offset]) | always[offset];
}

static void write_reset(struct state *s, uint8_t value)
{
	bool resets = reset_ctl_write(&s->reset, value);

	FUZZ_CHECK(resets == (!(s->control & 4) && (value & 4)));
	s->control = value & 0x0e;
}

static void check(const struct state *s)
{
	for (unsigned int i = 0; i < ACPI_PM_WINDOW; i++)
		FUZZ_CHECK(acpi_pm_read(&s->pm, i) == s->expected[i]);
	FUZZ_CHECK(reset_ctl_read(&s->reset) == s->control);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_open(data, size);
	struct state s = {.expected = {0, 0, 0, 0, 1, 0}};

	acpi_pm_reset(&s.pm);
	reset_ctl_reset(&s.reset);
	check(&s);
	while (fuzz_more(&in)) {
		unsigned int place = fuzz_u8(&in) % (ACPI_PM_WINDOW + 1);

		if (place < ACPI_PM_WINDOW)
			write_pm(&s, place, fuzz_u8(&in));
		else
			write_reset(&s, fuzz_u8(&in));
		check(&s);
	}
	return 0;
}
