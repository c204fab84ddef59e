/* SPDX-License-Identifier: MIT */
/*
 * Many threads change routes at once, each those of its own pin. When one has
 * delivered, KVM knows its route, whatever the others had in their hands; and
 * none of them sent a level interrupt that KVM had no route for.
 */
#include "irqs.h"

#include <sched.h>
#include <string.h>

#include "kvm.h"
#include "tap.h"

enum {
	THREADS = 4,
	ROUNDS = 5000,
	VM_FD = 55,
	TIMEOUT_S = 120,
};

static pthread_mutex_t chips = PTHREAD_MUTEX_INITIALIZER;
static struct irqs irqs;

/* KVM: one caller's table after the other's. */
static pthread_mutex_t kvm = PTHREAD_MUTEX_INITIALIZER;
static uint32_t known[IOAPIC_PINS]; /* data of the pin's route, 0: none */
static atomic_uint unknown_sent;

static bool is_known(uint32_t data)
{
	bool found = false;

	pthread_mutex_lock(&kvm);
	for (unsigned int pin = 0; pin < IOAPIC_PINS; pin++)
		found |= known[pin] == data;
	pthread_mutex_unlock(&kvm);
	return found;
}

int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	const struct kvm_irq_routing *routing = arg;

	tap_require(fd == VM_FD);
	if (request == KVM_SIGNAL_MSI) {
		if (!is_known(((const struct kvm_msi *)arg)->data))
			atomic_fetch_add(&unknown_sent, 1);
		return 1;
	}
	/* It takes its time, now more and now less. */
	for (uint32_t i = routing->entries[0].u.msi.data % 8; i; i--)
		sched_yield();
	pthread_mutex_lock(&kvm);
	memset(known, 0, sizeof(known));
	for (uint32_t i = 0; i < routing->nr; i++)
		known[routing->entries[i].gsi] = routing->entries[i].u.msi.data;
	pthread_mutex_unlock(&kvm);
	return 0;
}

/* One change of the pin's entry, with its line up: it sends at once. */
static void change(unsigned int pin, uint32_t entry)
{
	struct irqs_work work = {.msg_count = 0};

	pthread_mutex_lock(&chips);
	irqs_ioapic_write_locked(&irqs, 0x00, 4, 0x10 + 2 * pin, &work);
	/* To edge first: that forgets that an end is awaited. */
	irqs_ioapic_write_locked(&irqs, 0x10, 4, 0x10000, &work);
	irqs_ioapic_write_locked(&irqs, 0x10, 4, entry, &work);
	irqs_close_locked(&irqs, &work);
	pthread_mutex_unlock(&chips);
	irqs_deliver(&irqs, &work);
}

static void *changer_main(void *arg)
{
	unsigned int pin = 3 + (unsigned int)(uintptr_t)arg;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint32_t vector = 0x20 + pin * 8 + i % 8;

		change(pin, 0x8000 | vector);
		tap_require(is_known(0xc000 | vector));
	}
	return NULL;
}

START_TEST(test_irqs_threads_last_route_wins)
{
	struct irqs_work work = {.msg_count = 0};
	pthread_t threads[THREADS];

	irqs_init(&irqs, &chips);
	irqs.target.vm_fd = VM_FD;
	for (unsigned int i = 0; i < THREADS; i++)
		irqs_set_isa_locked(&irqs, 3 + i, true, &work);
	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, changer_main,
						(void *)i),
				 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(atomic_load(&unknown_sent), 0);
	ck_assert_uint_eq(atomic_load(&irqs.msis), THREADS * ROUNDS);
	ck_assert_uint_gt(atomic_load(&irqs.route_updates), 0);
	ck_assert_uint_le(atomic_load(&irqs.route_updates),
			  2 * THREADS * ROUNDS);
	irqs_destroy(&irqs);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("irqs_threads");
	TCase *tc = tcase_create("irqs");

	tcase_set_timeout(tc, TIMEOUT_S);
	tcase_add_test(tc, test_irqs_threads_last_route_wins);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
