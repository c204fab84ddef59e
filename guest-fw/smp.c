/* SPDX-License-Identifier: MIT */
/*
 * smp - several CPUs: who they are, what they send each other, and their TSCs.
 *
 * Looks at APIC ids wherever one stands; sends interrupts of every kind, each
 * to be taken once and by whom it was for; sends many at once; hands TSC values
 * from CPU to CPU, which must never be ahead of the next one's.
 * Words: cpus=N (as many as CPUID tells), seed=N, count=N (interrupts of each
 * kind of storm), tsc=N (values that each CPU hands over beside),
 * apic=both|xapic|x2apic, wait=hlt|spin (what a CPU does that waits).
 * To see that it finds something: skew=N puts the TSC of CPU 1 ahead by so
 * many cycles, fault=id|lost|stray|no-pong|pong-twice does what it says.
 * Exit status: 0, 1 (something is wrong), else power.h.
 * Not looked at: deadlines of several CPUs; that is the guest `lateness`.
 */
#include "apic.h"
#include "arch.h"
#include "boot.h"
#include "console.h"
#include "power.h"
#include "smp.h"
#include "smp_checks.h"
#include "smp_crew.h"
#include "tsc_khz.h"
#include "words.h"

#define PIC_FIRST_MASK	  0x21
#define PIC_SECOND_MASK	  0xa1

#define COUNT_DEFAULT	  2000
#define COUNT_MAX	  1000000000
#define TSC_READS_DEFAULT 20000
#define TSC_READS_MAX	  1000000000
#define SKEW_MAX	  1000000000000ull
#define PATIENCE_MS	  10000
#define UNKNOWN_KHZ	  4000000u

enum apic_choice {
	APIC_BOTH,
	APIC_XAPIC,
	APIC_X2APIC,
};

struct smp_plan smp_plan;
static enum apic_choice apic_choice;
static uint64_t skew_tsc;
static bool spins;
static unsigned checks, failures;
static uint64_t random_state;

void smp_verdict(bool good)
{
	console_puts(good ? ": ok\n" : ": FAILED\n");
	checks++;
	failures += !good;
}

const char *smp_mode(void)
{
	return apic_in_x2apic_mode() ? "x2apic" : "xapic";
}

/* xorshift64*, by Marsaglia and Vigna; state must not be 0. */
unsigned smp_random(unsigned n)
{
	uint64_t x = random_state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	random_state = x;
	return (unsigned)(x * 0x2545f4914f6cdd1dull >> 33) % n;
}

static void plan_by_words(void)
{
	static const char *const faults[] = {
		"none", "id", "lost", "stray", "no-pong", "pong-twice", NULL};
	static const char *const choices[] = {"both", "xapic", "x2apic", NULL};
	static const char *const waits[] = {"hlt", "spin", NULL};
	unsigned cpus = smp_count_by_cpuid();

	smp_plan.cpus = (unsigned)words_u64("cpus", 1, CPUS_MAX,
					    cpus > CPUS_MAX ? CPUS_MAX : cpus);
	smp_plan.seed = words_u64("seed", 0, UINT64_MAX, 1);
	smp_plan.count = words_u64("count", 1, COUNT_MAX, COUNT_DEFAULT);
	smp_plan.tsc_reads =
		words_u64("tsc", 1, TSC_READS_MAX, TSC_READS_DEFAULT);
	smp_plan.fault = words_choice("fault", faults, FAULT_NONE);
	apic_choice = words_choice("apic", choices, APIC_BOTH);
	spins = words_choice("wait", waits, 0);
	skew_tsc = words_u64("skew", 0, SKEW_MAX, 0);
	words_end();
	if (skew_tsc && smp_plan.cpus == 1)
		words_refuse("skew", "there is no second CPU");
	if (apic_choice == APIC_X2APIC && !apic_has_x2apic())
		words_refuse("apic", "CPUID offers no x2APIC");
	random_state = smp_plan.seed ? smp_plan.seed : 1;
}

static void check_mode(void)
{
	smp_check_apic_ids();
	smp_check_kinds();
	smp_check_restarts();
	smp_check_storms();
}

static void start(void)
{
	const char *source;
	uint32_t khz = tsc_khz_from_host(&source);
	const struct crew_setup setup = {
		.cpus = smp_plan.cpus,
		.spins = spins,
		.patience_tsc = (khz ? khz : UNKNOWN_KHZ) * 1ull * PATIENCE_MS,
		.stuck = smp_storm_stuck,
		.take = smp_storm_take,
	};

	if (apic_choice != APIC_X2APIC)
		apic_keep_xapic();
	/* While LINT0 still takes what they ask: a chip, or an emulator, may
	 * keep a request that was there, and later has no vector for it. */
	port_out8(PIC_FIRST_MASK, 0xff);
	port_out8(PIC_SECOND_MASK, 0xff);
	apic_init();
	crew_start(&setup);
}

void guest_main(void)
{
	plan_by_words();
	console_printf("smp: cpus=%u seed=%llu count=%llu, booted by %s\n",
		       smp_plan.cpus, (unsigned long long)smp_plan.seed,
		       (unsigned long long)smp_plan.count, boot_protocol());
	smp_check_tables();
	start();
	smp_check_cpuid_ids();
	if (skew_tsc)
		smp_skew_tsc(skew_tsc);
	check_mode();
	if (apic_choice == APIC_BOTH && apic_has_x2apic()) {
		crew_to_x2apic();
		check_mode();
	} else if (apic_choice == APIC_BOTH) {
		console_puts("smp: x2apic: CPUID does not offer it\n");
	}
	smp_check_tsc();
	console_printf("smp: %u checks, %u failed\n", checks, failures);
	power_exit(failures ? 1 : 0);
}
