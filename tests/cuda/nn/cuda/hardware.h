/* hardware - lib/nn/cuda/hardware.h in plain C++. */
#ifndef HARDWARE_H
#define HARDWARE_H

#include <cuda_bf16.h>
#include <cuda_runtime.h>

static inline void *
shared_memory()
{
	return shim_shared();
}

static inline float
exp2_quick(float x)
{
	return x < -126 ? 0 : exp2f(x);
}

static inline unsigned
bf16_pair(float low, float high)
{
	return bf16_narrow(low) | (unsigned)bf16_narrow(high) << 16;
}

/* The copy is made only when the thread waits for it. */
static inline void
copy_ahead(void *shared, const void *from, bool there)
{
	if ((uintptr_t)shared % 16 || (uintptr_t)from % 16)
		shim_die("a copy that is not aligned");
	shim_copy_ahead(shared, from, there);
}

static inline void
copies_close()
{
	shim_copies_close();
}

template <int LEFT>
static inline void
copies_wait()
{
	shim_copies_wait(LEFT);
}

/* Reads the matrices after all lanes have passed their rows. */
static inline void
shim_matrices(unsigned (&to)[4], const void *row, bool transposed)
{
	const uint16_t *rows[warpSize];
	int g = shim_lane() / 4, t = shim_lane() % 4 * 2;

	if ((uintptr_t)row % 16)
		shim_die("a row of a matrix that is not aligned");
	shim_gather(rows, &row, sizeof row);
	for (int i = 0; i < 4; i++) {
		const uint16_t *const *of = rows + 8 * i;
		to[i] = transposed ? of[t][g] | (unsigned)of[t + 1][g] << 16
				   : of[g][t] | (unsigned)of[g][t + 1] << 16;
	}
}

static inline void
load_matrices(unsigned (&to)[4], const void *row)
{
	shim_matrices(to, row, false);
}

static inline void
load_matrices_transposed(unsigned (&to)[4], const void *row)
{
	shim_matrices(to, row, true);
}

/* Products of bf16 are exact in f32; the order in which a device adds them is not documented. */
static inline void
matrix_product(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
	shim_multiply(sum, a, b0, b1);
}

#endif
