#include "nn/nn.h"

#include <string.h>

#include "nn/cpu/cpu.h"

void
nn_gather(float *y, const float *x, const int32_t *rows, size_t R, size_t C)
{
#pragma omp parallel for schedule(static) if (R * C > NN_SERIAL)
	for (size_t r = 0; r < R; r++)
		memcpy(y + r * C, x + (size_t)rows[r] * C, C * sizeof *y);
}

void
nn_scatter_add(float *y, const float *x, const int32_t *rows, size_t R, size_t C)
{
	/* rows may repeat, columns do not: each thread owns some columns */
#pragma omp parallel for schedule(static) if (R * C > NN_SERIAL)
	for (size_t from = 0; from < C; from += NN_SLICE) {
		size_t to = from + NN_SLICE < C ? from + NN_SLICE : C;
		for (size_t r = 0; r < R; r++)
#pragma omp simd
			for (size_t c = from; c < to; c++)
				y[(size_t)rows[r] * C + c] += x[r * C + c];
	}
}

void
nn_scale_rows(float *x, const float *by, size_t R, size_t C)
{
#pragma omp parallel for schedule(static) if (R * C > NN_SERIAL)
	for (size_t r = 0; r < R; r++)
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			x[r * C + c] *= by[r];
}

void
nn_add_row(float *y, const float *x, size_t R, size_t C)
{
#pragma omp parallel for schedule(static) if (R * C > NN_SERIAL)
	for (size_t r = 0; r < R; r++)
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			y[r * C + c] += x[c];
}

void
nn_dot_rows(float *y, const float *a, const float *b, size_t R, size_t C)
{
#pragma omp parallel for schedule(static) if (R * C > NN_SERIAL)
	for (size_t r = 0; r < R; r++) {
		float sum = 0;
#pragma omp simd reduction(+ : sum)
		for (size_t c = 0; c < C; c++)
			sum += a[r * C + c] * b[r * C + c];
		y[r] = sum;
	}
}
