/*
 * cpu - shared by the files of the CPU backend; no other file includes it.
 */
#ifndef NN_CPU_CPU_H
#define NN_CPU_CPU_H

#include <omp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nn/cpu/count.h"
#include "nn/nn.h"

#define NN_INLINE static inline __attribute__((always_inline))
#define NN_NOINLINE static __attribute__((noinline))

/* Floats in a vector register: SIMD lanes. */
#ifdef __AVX512F__
enum { NN_LANES = 16 };
#else
enum { NN_LANES = 8 };
#endif

enum {
	NN_SERIAL = 1 << 15, /* elements below which threads cost more than they save */
	NN_COLUMNS = 64	     /* that one thread sums at a time, at most */
};

/* n rounded up to a multiple. */
static inline size_t
nn_round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Blocks of `size` in n. */
static inline size_t
nn_blocks(size_t n, size_t size)
{
	return (n + size - 1) / size;
}

/* Whether threads share a loop over `items` of `each` elements. */
static inline bool
nn_shared(size_t items, size_t each)
{
	bool shared = items * each > NN_SERIAL;

	if (nn_count_loop)
		nn_count_loop(items, each, shared);
	return shared;
}

/* Columns that one thread sums at a time: an even share of C, of whole vectors of doubles.  The order of a column's sum does not
 * depend on them. */
static inline size_t
nn_column_step(size_t C)
{
	size_t threads = omp_in_parallel() ? 1 : (size_t)omp_get_max_threads();
	size_t step = nn_round_up(nn_blocks(C, threads), 8);

	return step < NN_COLUMNS ? step : NN_COLUMNS;
}

/* nn_activate without threads. */
void nn_activate_serial(float *y, const float *x, enum nn_act act, size_t n);

/* dtype_size of a matrix's type, known to the compiler. */
NN_INLINE size_t
nn_element(enum dtype dtype)
{
	return dtype == DTYPE_F32  ? sizeof(float)
	       : dtype == DTYPE_I8 ? sizeof(int8_t)
				   : sizeof(uint16_t);
}

/* The sequence of token t. */
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
