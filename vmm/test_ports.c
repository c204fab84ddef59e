/* SPDX-License-Identifier: MIT */
/*
 * test_ports - see test_ports.h.
 */
#include "test_ports.h"

#include <stdlib.h>

#include "bus.h"
#include "irqs.h"

_Static_assert(TEST_PORTS_LINES_END - TEST_PORTS_LINES == IOAPIC_PINS,
	       "a line for each pin");

struct test_ports *test_ports_new(uint64_t ram_bytes, unsigned int cpus)
{
	struct test_ports *test = malloc(sizeof(*test));

	if (!test)
		return NULL;
	fw_cfg_reset(&test->fw_cfg, ram_bytes, (uint16_t)cpus);
	test_device_reset(&test->device);
	return test;
}

void test_ports_free(struct test_ports *test)
{
	free(test);
}

/* Is port one of the register's, in either place, and which byte of it? */
static bool register_offset(uint16_t port, unsigned int *offset)
{
	bool again = port >= TEST_DEVICE_BYTES_PORT;

	*offset = port - (again ? TEST_DEVICE_BYTES_PORT : TEST_DEVICE_PORT);
	return *offset < TEST_DEVICE_REGISTER;
}

static bool port_is_fw_cfg(uint16_t port)
{
	return port >= FW_CFG_PORT && port < FW_CFG_PORT + FW_CFG_WINDOW;
}

unsigned int test_ports_read_locked(struct test_ports *test, uint16_t port,
				    unsigned int size, uint32_t *value)
{
	unsigned int offset;

	if (port_is_fw_cfg(port))
		return fw_cfg_read(&test->fw_cfg, port - FW_CFG_PORT, size,
				   value);
	if (!register_offset(port, &offset))
		return 0;
	*value = test_device_read(&test->device, offset);
	return 1;
}

unsigned int test_ports_write_locked(struct test_ports *test, uint16_t port,
				     unsigned int size, uint32_t value,
				     struct irqs *irqs, struct irqs_work *work,
				     struct bus_action *action)
{
	unsigned int offset;

	if (port_is_fw_cfg(port))
		return fw_cfg_write(&test->fw_cfg, port - FW_CFG_PORT, size,
				    value);
	if (port == TEST_PORTS_FLUSH && size == sizeof(value)) {
		*action = (struct bus_action){BUS_FLUSH, value};
		return size;
	}
	if (port >= TEST_PORTS_LINES && port < TEST_PORTS_LINES_END)
		irqs_set_gsi_locked(irqs, port - TEST_PORTS_LINES,
				    (uint8_t)value, work);
	else if (register_offset(port, &offset))
		test_device_write(&test->device, offset, (uint8_t)value);
	else
		return 0;
	return 1;
}

bool test_ports_mmio_locked(struct test_ports *test, uint64_t gpa,
			    bool is_write, uint8_t *data, unsigned int len)
{
	return is_write
		       ? test_device_memory_write(&test->device, gpa, data, len)
		       : test_device_memory_read(&test->device, gpa, data, len);
}
