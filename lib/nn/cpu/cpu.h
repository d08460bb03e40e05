/*
 * cpu - what the files of the CPU backend share; nobody else includes it.
 */
#ifndef NN_CPU_CPU_H
#define NN_CPU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nn/nn.h"

#define NN_INLINE static inline __attribute__((always_inline))
#define NN_NOINLINE static __attribute__((noinline))

/* Floats in a vector register. */
#ifdef __AVX512F__
enum { NN_LANES = 16 };
#else
enum { NN_LANES = 8 };
#endif

enum {
	NN_SERIAL = 1 << 15, /* elements below which threads cost more than they save */
	NN_COLUMNS = 64 /* columns that one thread sums at a time: a whole cache line */
};

/* nn_activate without threads. */
void nn_activate_serial(float *y, const float *x, enum nn_act act, size_t n);

/* dtype_size of what a matrix may have, known to the compiler. */
NN_INLINE size_t
nn_element(enum dtype dtype)
{
	return dtype == DTYPE_F32  ? sizeof(float)
	       : dtype == DTYPE_I8 ? sizeof(int8_t)
				   : sizeof(uint16_t);
}

/* The sequence that token t is in. */
static inline size_t
nn_sequence_of(const struct nn_sequences *sequences, size_t t)
{
	size_t low = 0, high = sequences->N;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if ((size_t)sequences->starts[middle] <= t)
			low = middle;
		else
			high = middle;
	}
	return low;
}

#endif
