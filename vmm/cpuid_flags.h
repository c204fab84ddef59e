/* SPDX-License-Identifier: MIT */
/*
 * cpuid_flags - names of CPUID feature bits, as /proc/cpuinfo spells them.
 *
 * Reference: SDM 2A "CPUID-CPU Identification"; AMD APM 3 appendix
 * "Obtaining Processor Information Via the CPUID Instruction".
 * Not listed: names Linux derives from more than one bit or from the model.
 */
#ifndef VMM_CPUID_FLAGS_H
#define VMM_CPUID_FLAGS_H

#include <stddef.h>
#include <stdint.h>

enum cpuid_register {
	CPUID_EAX,
	CPUID_EBX,
	CPUID_ECX,
	CPUID_EDX,
};

struct cpuid_flag {
	const char *name;
	uint32_t leaf;
	uint32_t subleaf; /* 0 where the leaf has none */
	enum cpuid_register reg;
	unsigned bit; /* 0-31 */
};

/*
 * The first flag of that name, or with after the next one behind it; NULL if
 * there is none. A name has two bits where AMD repeats leaf 1 EDX in leaf
 * 0x80000001: both must go to hide the feature. Any thread.
 */
const struct cpuid_flag *cpuid_flag_find(const char *name,
					 const struct cpuid_flag *after);

/* The whole table, sorted by leaf, subleaf, register and bit. */
const struct cpuid_flag *cpuid_flag_table(size_t *count);

#endif
