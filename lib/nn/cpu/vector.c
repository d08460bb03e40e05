#include "nn/nn.h"

#include "nn/cpu/cpu.h"
#include "nn/cpu/elementary.h"
#include "nn/cpu/sum.h"

void
nn_copy(float *y, const float *x, size_t n)
{
#pragma omp parallel for simd schedule(static) if (nn_shared(n, 1))
	for (size_t i = 0; i < n; i++)
		y[i] = x[i];
}

void
nn_zero(float *y, size_t n)
{
#pragma omp parallel for simd schedule(static) if (nn_shared(n, 1))
	for (size_t i = 0; i < n; i++)
		y[i] = 0;
}

void
nn_scale(float *x, float by, size_t n)
{
#pragma omp parallel for simd schedule(static) if (nn_shared(n, 1))
	for (size_t i = 0; i < n; i++)
		x[i] *= by;
}

void
nn_add(float *y, const float *x, size_t n)
{
#pragma omp parallel for simd schedule(static) if (nn_shared(n, 1))
	for (size_t i = 0; i < n; i++)
		y[i] += x[i];
}

void
nn_lerp(float *y, const float *x, float by, size_t n)
{
#pragma omp parallel for simd schedule(static) if (nn_shared(n, 1))
	for (size_t i = 0; i < n; i++)
		y[i] += by * (x[i] - y[i]);
}

double
nn_square_sum(const float *x, size_t n)
{
	/* blocks are summed in their order, whichever thread computed them */
	enum { BLOCK = 1 << 14, BLOCKS = 256 };
	double sum = 0;

	while (n) {
		double part[BLOCKS] = { 0 };
		size_t some = n < (size_t)BLOCK * BLOCKS ? n : (size_t)BLOCK * BLOCKS;
#pragma omp parallel for schedule(static) if (nn_shared(nn_blocks(some, BLOCK), BLOCK))
		for (size_t i = 0; i < some; i += BLOCK)
			part[i / BLOCK] = nn_long_total(
			    x + i, some - i < BLOCK ? some - i : BLOCK, true);
		for (size_t i = 0; i < BLOCKS; i++)
			sum += part[i];
		x += some;
		n -= some;
	}
	return sum;
}

bool
nn_finite(const float *x, size_t n)
{
	int32_t bad = 0;

#pragma omp parallel for simd schedule(static) reduction(| : bad) if (nn_shared(n, 1))
	for (size_t i = 0; i < n; i++)
		bad |= (nn_bits(x[i]) & 0x7f800000) == 0x7f800000;
	return !bad;
}
