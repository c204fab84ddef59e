/* SPDX-License-Identifier: MIT */
/*
 * smp_kinds - one interrupt between CPUs at a time, in each way to send one.
 *
 * A shot: somebody sends, then all CPUs answer a call of lower priority
 * (crew_fence), then all counts are looked at: one more where it was for, none
 * more anywhere else and of any other vector. Up to 8 CPUs each sends to each,
 * among more of them they are drawn.
 * Reference: SDM 3A "Interrupt Command Register (ICR)", "Logical Destination
 * Mode", "Logical Destination Mode in x2APIC Mode", "SELF IPI Register".
 * Not sent: SMI; ids of nobody; lowest priority by physical destination.
 */
#include "apic.h"
#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "smp.h"
#include "smp_checks.h"
#include "smp_crew.h"

#define ALL_PAIRS_UP_TO 8
#define SHOTS_DRAWN	16
#define TEST_VECTORS	16
#define FENCE_LIMIT_TSC 100000000ull
#define CLUSTER		16

/* `to` is of CPUs, a bit each; of these one takes it if any_of, else all. */
struct shot {
	unsigned from;
	uint64_t to;
	bool any_of, is_nmi, by_self_register;
	uint8_t vector;
	uint32_t destination, command;
};

struct kind {
	const char *name;
	void (*aim)(struct shot *shot, unsigned target);
	uint32_t command;
	bool each_pair; /* else the sender is all that there is to choose */
	bool x2apic_only;
};

static struct shot shot;
static unsigned shots_sent;
static uint32_t vectors_before[CPUS_MAX][TEST_VECTORS], nmis_before[CPUS_MAX];
static uint32_t starts_before[CPUS_MAX];

static uint64_t all_cpus(void)
{
	return ~0ull >> (64 - smp_plan.cpus);
}

static void aim_at_one(struct shot *s, unsigned target)
{
	s->destination = smp_apic_id(target);
	s->to = 1ull << target;
}

static void aim_at_all_ids(struct shot *s, unsigned target)
{
	(void)target;
	s->destination = APIC_ID_BROADCAST;
	s->to = all_cpus();
}

static void aim_at_sender(struct shot *s, unsigned target)
{
	(void)target;
	s->to = 1ull << s->from;
}

static void aim_by_self_register(struct shot *s, unsigned target)
{
	aim_at_sender(s, target);
	s->by_self_register = true;
}

static void aim_at_all(struct shot *s, unsigned target)
{
	(void)target;
	s->to = all_cpus();
}

static void aim_at_others(struct shot *s, unsigned target)
{
	(void)target;
	s->to = all_cpus() & ~(1ull << s->from);
}

/*
 * Bits of the target's cluster, its own among them. In xAPIC mode there is one
 * cluster, of the first 8 CPUs; all 8 bits are everybody, also those who have
 * none, so with more CPUs than that one bit is left out.
 */
static void aim_at_group(struct shot *s, unsigned target)
{
	const bool is_x2apic = apic_in_x2apic_mode();
	unsigned size = is_x2apic ? CLUSTER : 8, first, bits;

	if (!is_x2apic)
		target %= size;
	first = target / size * size;
	bits = smp_random(1u << size) & (all_cpus() >> first);
	bits |= 1u << (target - first);
	if (!is_x2apic && smp_plan.cpus > size && bits == 0xff)
		bits = 0xfe;
	s->destination = is_x2apic ? target / CLUSTER << 16 | bits : bits;
	s->to = (uint64_t)bits << first;
}

static const struct kind kinds[] = {
	{"fixed, physical", aim_at_one, 0, true, false},
	{"fixed, physical, broadcast", aim_at_all_ids, 0, false, false},
	{"fixed, logical", aim_at_group, APIC_IPI_LOGICAL, true, false},
	{"fixed, self", aim_at_sender, APIC_IPI_SELF, false, false},
	{"fixed, all", aim_at_all, APIC_IPI_ALL, false, false},
	{"fixed, others", aim_at_others, APIC_IPI_OTHERS, false, false},
	{"self IPI register", aim_by_self_register, 0, false, true},
	{"lowest priority, logical", aim_at_group,
	 APIC_IPI_LOGICAL | APIC_IPI_LOWEST, true, false},
	{"NMI, physical", aim_at_one, APIC_IPI_NMI, true, false},
	{"NMI, logical", aim_at_group, APIC_IPI_LOGICAL | APIC_IPI_NMI, true,
	 false},
	{"NMI, others", aim_at_others, APIC_IPI_OTHERS | APIC_IPI_NMI, false,
	 false},
};

static void job_shoot(unsigned index)
{
	(void)index;
	if (smp_plan.fault == FAULT_LOST && shots_sent == 1)
		return;
	if (shot.by_self_register)
		apic_send_self(shot.vector);
	else
		apic_send_ipi(shot.destination, shot.command | shot.vector);
	if (smp_plan.fault == FAULT_STRAY && shots_sent == 1)
		apic_send_ipi(smp_apic_id(0), VECTOR_TEST);
}

static void note_counts(void)
{
	for (unsigned i = 0; i < smp_plan.cpus; i++) {
		for (unsigned v = 0; v < TEST_VECTORS; v++)
			vectors_before[i][v] =
				crew_count(i, (uint8_t)(VECTOR_TEST + v));
		nmis_before[i] = cpu_nmi_count(i);
		starts_before[i] = crew_starts(i);
	}
}

/* What CPU i took since; of the shot's own kind, and of all else. */
static unsigned took(unsigned i)
{
	if (shot.is_nmi)
		return cpu_nmi_count(i) - nmis_before[i];
	return crew_count(i, shot.vector) -
	       vectors_before[i][shot.vector - VECTOR_TEST];
}

static unsigned took_else(unsigned i)
{
	unsigned sum = cpu_nmi_count(i) - nmis_before[i];

	for (unsigned v = 0; v < TEST_VECTORS; v++)
		sum += crew_count(i, (uint8_t)(VECTOR_TEST + v)) -
		       vectors_before[i][v];
	return sum - took(i) + (crew_starts(i) - starts_before[i]);
}

static bool all_arrived(void)
{
	unsigned sum = 0, expected = 0;

	for (unsigned i = 0; i < smp_plan.cpus; i++) {
		sum += took(i);
		expected += shot.to >> i & 1;
	}
	return sum >= (shot.any_of ? 1 : expected);
}

/* Sent is requested, as far as KVM is concerned; a real chip may take a while.
 */
static void let_it_arrive(void)
{
	const uint64_t start_tsc = tsc_read();

	do
		crew_fence();
	while (!all_arrived() && tsc_read() - start_tsc < FENCE_LIMIT_TSC);
}

/* "" if all is well, else what is not, of which CPU. */
static const char *wrong_with(unsigned i, unsigned *sum)
{
	unsigned n = took(i);

	*sum += n;
	if (took_else(i))
		return "took something else";
	if (!(shot.to >> i & 1))
		return n ? "took what was not for it" : "";
	if (n > 1)
		return "took it twice or more";
	return n || shot.any_of ? "" : "did not take it";
}

static bool is_taken_once(const char *name)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < smp_plan.cpus; i++) {
		const char *wrong = wrong_with(i, &sum);

		if (!*wrong)
			continue;
		console_printf("smp: %s: %s, from CPU %u to 0x%llx: CPU %u %s",
			       smp_mode(), name, shot.from,
			       (unsigned long long)shot.to, i, wrong);
		return false;
	}
	if (!shot.any_of || sum == 1)
		return true;
	console_printf("smp: %s: %s, from CPU %u to one of 0x%llx: %u took it",
		       smp_mode(), name, shot.from, (unsigned long long)shot.to,
		       sum);
	return false;
}

static void shoot(const struct kind *kind, unsigned from, unsigned target)
{
	shot = (struct shot){
		.from = from,
		.any_of = kind->command & APIC_IPI_LOWEST,
		.is_nmi = kind->command & APIC_IPI_NMI,
		.vector = (uint8_t)(VECTOR_TEST + smp_random(TEST_VECTORS)),
		.command = kind->command,
	};
	kind->aim(&shot, target);
	note_counts();
	shots_sent++;
	crew_do(from, job_shoot);
	let_it_arrive();
}

static void check_kind(const struct kind *kind)
{
	const bool draws = smp_plan.cpus > ALL_PAIRS_UP_TO;
	unsigned cpus = smp_plan.cpus, shots = cpus;

	if (draws)
		shots = SHOTS_DRAWN;
	else if (kind->each_pair)
		shots = cpus * cpus;
	for (unsigned n = 0; n < shots; n++) {
		unsigned from = draws ? smp_random(cpus) : n % cpus;
		unsigned target = draws ? smp_random(cpus) : n / cpus % cpus;

		shoot(kind, from, target);
		if (!is_taken_once(kind->name)) {
			smp_verdict(false);
			return;
		}
	}
	console_printf("smp: %s: %s: %u sent, each taken once, by whom it was "
		       "for",
		       smp_mode(), kind->name, shots);
	smp_verdict(true);
}

void smp_check_kinds(void)
{
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!kinds[i].x2apic_only || apic_in_x2apic_mode())
			check_kind(&kinds[i]);
}

/* A second SIPI is nothing to a CPU that runs. INIT takes the logical id away,
 * which smp_check_apic_ids gave. */
static bool restart_once(unsigned index)
{
	bool good;

	shot = (struct shot){.vector = VECTOR_TEST};
	note_counts();
	crew_restart(index);
	apic_send_startup(smp_apic_id(index), TRAMPOLINE_GPA / 4096);
	crew_fence();
	good = crew_starts(index) == starts_before[index] + 1;
	for (unsigned i = 0; i < smp_plan.cpus; i++)
		good &= took(i) == 0 && took_else(i) == (i == index);
	return good;
}

void smp_check_restarts(void)
{
	unsigned n = smp_plan.cpus - 1;
	bool good = true;

	if (n > SHOTS_DRAWN)
		n = SHOTS_DRAWN;
	for (unsigned i = 0; i < n && good; i++) {
		unsigned index = n < SHOTS_DRAWN
					 ? i + 1
					 : 1 + smp_random(smp_plan.cpus - 1);

		good = restart_once(index);
		if (!good)
			console_printf("smp: %s: CPU %u", smp_mode(), index);
	}
	if (good)
		console_printf("smp: %s: INIT, SIPI, SIPI: %u CPUs, each "
			       "started once",
			       smp_mode(), n);
	smp_verdict(good);
}
