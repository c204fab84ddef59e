/* SPDX-License-Identifier: MIT */
/*
 * smp_storm - all CPUs send at once, and answer each other.
 *
 * A ping is answered by a pong, which its sender awaits before it sends to the
 * same CPU again; and each sender has vectors of its own. So no request can
 * fall together with another one, and each must come: once. With a ping and a
 * pong goes a TSC value, through memory, read before it was sent: it must not
 * be above what the other CPU reads first in its handler. Not sent: more than
 * one at a time of a vector, which may be one to the APIC.
 */
#include "apic.h"
#include "arch.h"
#include "console.h"
#include "smp.h"
#include "smp_checks.h"
#include "smp_crew.h"

/* Each CPU's own to write, but when all are at rest; what others read of it is
 * written before the interrupt that makes them. */
static struct storm {
	uint64_t awaited;  /* a bit for each CPU whose pong is to come */
	uint64_t sent_tsc; /* of the pings that are on their way */
	uint32_t pings_sent[CPUS_MAX], pings_taken[CPUS_MAX];
	uint32_t pongs_sent[CPUS_MAX], pongs_taken[CPUS_MAX];
	uint64_t pong_tsc[CPUS_MAX];
	uint64_t random;
	uint64_t taken, doubled;
	uint64_t handed, backwards, largest_tsc;
} __attribute__((aligned(64))) storms[CPUS_MAX];

static uint64_t rounds;
static bool to_all;

static void compare_tsc(struct storm *s, uint64_t sent_tsc, uint64_t taken_tsc)
{
	s->handed++;
	if (sent_tsc <= taken_tsc)
		return;
	s->backwards++;
	if (sent_tsc - taken_tsc > s->largest_tsc)
		s->largest_tsc = sent_tsc - taken_tsc;
}

/* Counts one of those that were sent; false: that had come before. */
static bool is_new(struct storm *s, uint32_t *taken, const uint32_t *sent)
{
	s->taken++;
	if (*taken == __atomic_load_n(sent, __ATOMIC_ACQUIRE)) {
		s->doubled++;
		return false;
	}
	++*taken;
	return true;
}

static void send_pong(unsigned index, unsigned to)
{
	struct storm *s = &storms[index];

	if (smp_plan.fault == FAULT_NO_PONG && index == smp_plan.cpus - 1 &&
	    s->pings_taken[to] == 2)
		return;
	s->pong_tsc[to] = tsc_read();
	__atomic_store_n(&s->pongs_sent[to], s->pongs_sent[to] + 1,
			 __ATOMIC_RELEASE);
	apic_send_ipi(smp_apic_id(to), VECTOR_PONG + index);
}

static void take_ping(unsigned index, unsigned from, uint64_t handler_tsc)
{
	struct storm *s = &storms[index];

	if (!is_new(s, &s->pings_taken[from], &storms[from].pings_sent[index]))
		return;
	compare_tsc(s, storms[from].sent_tsc, handler_tsc);
	send_pong(index, from);
}

static void take_pong(unsigned index, unsigned from, uint64_t handler_tsc)
{
	struct storm *s = &storms[index];

	if (!is_new(s, &s->pongs_taken[from], &storms[from].pongs_sent[index]))
		return;
	s->awaited &= ~(1ull << from);
	compare_tsc(s, storms[from].pong_tsc[index], handler_tsc);
	if (smp_plan.fault == FAULT_PONG2 && !index &&
	    s->pongs_taken[from] == 1 && !s->doubled) {
		/* As if it had come again; taken before the next is sent, with
		 * which it could fall together. */
		apic_send_ipi(smp_apic_id(index), VECTOR_PONG + from);
		crew_wait(index);
	}
}

void smp_storm_take(unsigned index, uint8_t vector, uint64_t handler_tsc)
{
	if (vector >= VECTOR_PONG)
		take_pong(index, vector - VECTOR_PONG, handler_tsc);
	else if (vector >= VECTOR_PING)
		take_ping(index, vector - VECTOR_PING, handler_tsc);
}

static void send_pings(unsigned index, uint64_t to)
{
	struct storm *s = &storms[index];
	unsigned last = 0;

	s->awaited = to;
	s->sent_tsc = tsc_read();
	for (unsigned i = 0; i < smp_plan.cpus; i++) {
		if (!(to >> i & 1))
			continue;
		__atomic_store_n(&s->pings_sent[i], s->pings_sent[i] + 1,
				 __ATOMIC_RELEASE);
		last = i;
	}
	if (to_all)
		apic_send_ipi(0, APIC_IPI_OTHERS | (VECTOR_PING + index));
	else
		apic_send_ipi(smp_apic_id(last), VECTOR_PING + index);
	while (s->awaited)
		crew_wait(index);
}

/* Somebody else, but where there is nobody. */
static unsigned draw_partner(unsigned index)
{
	struct storm *s = &storms[index];
	unsigned others = smp_plan.cpus - 1;

	if (!others)
		return index;
	s->random = s->random * 6364136223846793005ull + 1442695040888963407ull;
	return (index + 1 + (unsigned)(s->random >> 33) % others) %
	       smp_plan.cpus;
}

static void job_storm(unsigned index)
{
	uint64_t others = (~0ull >> (64 - smp_plan.cpus)) & ~(1ull << index);

	for (uint64_t n = 0; n < rounds; n++)
		send_pings(index,
			   to_all ? others : 1ull << draw_partner(index));
}

static struct storm sum_of_storms(void)
{
	struct storm sum = {0};

	for (unsigned i = 0; i < smp_plan.cpus; i++) {
		const struct storm *s = &storms[i];

		sum.taken += s->taken;
		sum.doubled += s->doubled;
		sum.handed += s->handed;
		sum.backwards += s->backwards;
		if (s->largest_tsc > sum.largest_tsc)
			sum.largest_tsc = s->largest_tsc;
	}
	return sum;
}

/* Pairs that do not agree on what went from one to the other. */
static unsigned pairs_amiss(void)
{
	unsigned amiss = 0;

	for (unsigned from = 0; from < smp_plan.cpus; from++) {
		const struct storm *f = &storms[from];

		for (unsigned to = 0; to < smp_plan.cpus; to++) {
			const struct storm *t = &storms[to];

			amiss += f->pings_sent[to] != t->pings_taken[from] ||
				 f->pongs_sent[to] != t->pongs_taken[from];
		}
	}
	return amiss;
}

static void reset_storms(void)
{
	for (unsigned i = 0; i < smp_plan.cpus; i++)
		storms[i] = (struct storm){
			.random = smp_plan.seed + i * 0x9e3779b97f4a7c15ull,
		};
}

/* Each CPU sends so many rounds of pings, that with their pongs all are `count`
 * interrupts or some more. */
static void check_storm(const char *name)
{
	const unsigned cpus = smp_plan.cpus, each = to_all ? cpus - 1 : 1;
	const uint64_t of_a_round = 2ull * cpus * each;
	struct storm sum;
	uint64_t start_tsc;

	reset_storms();
	rounds = (smp_plan.count + of_a_round - 1) / of_a_round;
	start_tsc = tsc_read();
	crew_do_all(job_storm);
	crew_fence();
	sum = sum_of_storms();
	console_printf("smp: %s: storm, %s: %llu taken, of %llu; doubled %llu, "
		       "pairs amiss %u; %llu cycles each",
		       smp_mode(), name, (unsigned long long)sum.taken,
		       (unsigned long long)(rounds * of_a_round),
		       (unsigned long long)sum.doubled, pairs_amiss(),
		       (unsigned long long)((tsc_read() - start_tsc) /
					    (rounds * of_a_round)));
	smp_verdict(sum.taken == rounds * of_a_round && !sum.doubled &&
		    !pairs_amiss());
	console_printf("smp: %s: TSC handed over %llu times: backwards %llu, "
		       "at most by %llu cycles",
		       smp_mode(), (unsigned long long)sum.handed,
		       (unsigned long long)sum.backwards,
		       (unsigned long long)sum.largest_tsc);
	smp_verdict(!sum.backwards && sum.handed == rounds * of_a_round);
}

void smp_check_storms(void)
{
	to_all = false;
	check_storm("in pairs");
	if (smp_plan.cpus == 1)
		return;
	to_all = true;
	check_storm("each to all");
}

void smp_storm_stuck(void)
{
	for (unsigned i = 0; i < smp_plan.cpus; i++)
		console_printf("smp: CPU %u took %llu of a storm, and awaits "
			       "answers of 0x%llx\n",
			       i, (unsigned long long)storms[i].taken,
			       (unsigned long long)storms[i].awaited);
}
