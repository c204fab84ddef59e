/* SPDX-License-Identifier: MIT */
/*
 * tuner_kinds - what tuner.c and the algorithms have between them.
 */
#ifndef TIMER_TUNER_KINDS_H
#define TIMER_TUNER_KINDS_H

#include "tuner.h"

/* Moves the advance, within its limits, and counts when they are met. */
void tuner_set(struct tuner *t, uint64_t advance_tsc);

void tuner_quantile_init(struct tuner *t, uint64_t q16);

/* Each moves the advance by one sample, which is not negative. */
void tuner_step_sample(struct tuner *t, uint64_t cost_tsc);
void tuner_quantile_sample(struct tuner *t, uint64_t cost_tsc);

#endif
