/*
 * attention_relative - attention whose scores depend on distances by content (struct nn_relative).
 *
 * A head of a sequence at a time: its scores are a whole matrix, because each needs one value of q k' and one of k q', which
 * are products of their own.
 */
#ifndef NN_CPU_ATTENTION_RELATIVE_H
#define NN_CPU_ATTENTION_RELATIVE_H

#include "nn/cpu/cpu.h"

/* nn_attention with a->relative; without lse. */
void nn_attention_relative(float *out, const float *q, const float *k, const float *v,
    const struct nn_attention *a);

#endif
