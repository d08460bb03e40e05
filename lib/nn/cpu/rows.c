#include "nn/nn.h"

#include <string.h>

#include "nn/cpu/drop.h"
#include "nn/cpu/sum.h"

void
nn_gather(float *y, const float *x, const int32_t *rows, size_t R, size_t C)
{
#pragma omp parallel for schedule(static) if (nn_shared(R, C))
	for (size_t r = 0; r < R; r++)
		memcpy(y + r * C, x + (size_t)rows[r] * C, C * sizeof *y);
}

void
nn_scatter_add(float *y, const float *x, const int32_t *rows, size_t R, size_t C)
{
	/* rows may repeat, columns do not: each thread owns some columns */
	const size_t step = nn_column_step(C);
#pragma omp parallel for schedule(static) if (nn_shared(nn_blocks(C, step), R * step))
	for (size_t from = 0; from < C; from += step) {
		size_t to = from + step < C ? from + step : C;
		for (size_t r = 0; r < R; r++)
#pragma omp simd
			for (size_t c = from; c < to; c++)
				y[(size_t)rows[r] * C + c] += x[r * C + c];
	}
}

void
nn_scale_rows(float *x, const float *by, size_t R, size_t C)
{
#pragma omp parallel for schedule(static) if (nn_shared(R, C))
	for (size_t r = 0; r < R; r++)
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			x[r * C + c] *= by[r];
}

void
nn_add_row(float *y, const float *x, size_t R, size_t C)
{
#pragma omp parallel for schedule(static) if (nn_shared(R, C))
	for (size_t r = 0; r < R; r++)
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			y[r * C + c] += x[c];
}

void
nn_dot_rows(float *y, const float *a, const float *b, size_t R, size_t C)
{
#pragma omp parallel for schedule(static) if (nn_shared(R, C))
	for (size_t r = 0; r < R; r++)
		y[r] = nn_dot(a + r * C, b + r * C, C);
}

enum { SOME = 64 /* columns tested at once */ };

void
nn_not_below(int32_t *starts, int32_t *columns, const float *x, const float *least,
    size_t R, size_t V)
{
	int32_t found = 0;

	for (size_t r = 0; r < R; r++, x += V) {
		const float threshold = least[r];
		starts[r] = found;
		for (size_t from = 0; from < V; from += SOME) {
			size_t to = from + SOME < V ? from + SOME : V;
			int any = 0;
#pragma omp simd reduction(| : any)
			for (size_t c = from; c < to; c++)
				any |= !(x[c] < threshold);
			for (size_t c = from; any && c < to; c++) {
				columns[found] = (int32_t)c;
				found += !(x[c] < threshold);
			}
		}
	}
	starts[R] = found;
}

void
nn_dropout(float *y, const float *x, size_t ldx, const uint64_t *keys,
    const int32_t *rows, uint64_t salt, double rate, size_t R, size_t C)
{
	uint32_t below = drop_below(rate);
	float by = (float)(1 / (1 - rate));

#pragma omp parallel for schedule(static) if (nn_shared(R, C))
	for (size_t r = 0; r < R; r++) {
		struct drop_row row = drop_row_of(keys[rows ? (size_t)rows[r] : r], salt);
#pragma omp simd
		for (size_t c = 0; c < C; c++) {
			uint32_t drawn = drop_draw(row.low, row.high, (uint32_t)c);
			y[r * C + c] = drawn < below ? 0 : x[r * ldx + c] * by;
		}
	}
}
