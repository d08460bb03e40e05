/*
 * attention_relative - disentangled attention (struct nn_relative).
 *
 * A thread computes one head of one sequence: the products q k, q k' and k q', then a whole matrix of scores, which takes one
 * number of each.  Memory grows with the square of the sequence.
 */
#ifndef NN_CPU_ATTENTION_RELATIVE_H
#define NN_CPU_ATTENTION_RELATIVE_H

#include "nn/cpu/cpu.h"

/* nn_attention with a->relative; without lse. */
void nn_attention_relative(float *out, const float *q, const float *k, const float *v,
    const struct nn_attention *a);

#endif
