#include "nn/host/pack.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Elements below which threads cost more than they save. */
enum { SERIAL = 1 << 15 };

void
pack_row(float *to, const struct pack *from, size_t o)
{
	size_t size = dtype_size(from->dtype), O = from->O, C = from->C;
	const char *at = from->at;

	if (!from->transposed) {
		tensor_to_f32(to, at + o * C * size, from->dtype, C);
		return;
	}
	for (size_t c = 0; c < C; c++)
		tensor_to_f32(to + c, at + (c * O + o) * size, from->dtype, 1);
}

/* absmax[c] = max(absmax[c], |row[c]|) */
static void
extend_absmax(float *absmax, const float *row, size_t C)
{
#pragma omp simd
	for (size_t c = 0; c < C; c++) {
		float size = fabsf(row[c]);
		absmax[c] = size > absmax[c] ? size : absmax[c];
	}
}

void
pack_smooth(float *smooth, const float *absmax, const struct pack *from)
{
	size_t C = from->C;

	memset(smooth, 0, C * sizeof *smooth);
#pragma omp parallel if (from->O * C > SERIAL)
	{
		float row[NN_MAX_PACKED], own[NN_MAX_PACKED];
		memset(own, 0, C * sizeof *own);
#pragma omp for schedule(static)
		for (size_t o = 0; o < from->O; o++) {
			pack_row(row, from, o);
			extend_absmax(own, row, C);
		}
#pragma omp critical
		extend_absmax(smooth, own, C);
	}
	for (size_t c = 0; c < C; c++) {
		float by = absmax ? sqrtf(smooth[c] / absmax[c]) : 1;
		smooth[c] = by > FLT_MIN && by <= FLT_MAX ? by : 1;
	}
}

/* |x| as an integer of the same order; infinity and NaN are greater than all numbers. */
static inline int32_t
size_of(float x)
{
	int32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits & INT32_MAX;
}

bool
pack_i8(int8_t *to, struct pack_output *output, float *row, const float *smooth, size_t C)
{
	int32_t sum = 0, greatest = 0;
	float most;

	/* of integers, because clang makes no vector code of a maximum of floats */
#pragma omp simd reduction(max : greatest)
	for (size_t c = 0; c < C; c++) {
		row[c] /= smooth[c];
		int32_t size = size_of(row[c]);
		greatest = size > greatest ? size : greatest;
	}
	if (greatest > size_of(FLT_MAX))
		return false;
	memcpy(&most, &greatest, sizeof most);
	/* not subnormal, so that divisions keep all digits */
	float step = most / 127 > FLT_MIN ? most / 127 : FLT_MIN;
#pragma omp simd reduction(+ : sum)
	for (size_t c = 0; c < C; c++) {
		int32_t value = (int32_t)rintf(row[c] / step);
		to[c] = (int8_t)value;
		sum += value;
	}
	output->scale = step;
	output->sum = sum;
	return true;
}

/* A row in bf16. */
static bool
round_row(void *to, const float *row, size_t C)
{
	bool finite = true;

	tensor_from_f32(to, DTYPE_BF16, row, C);
	for (size_t c = 0; c < C; c++)
		finite = finite && fabsf(row[c]) <= FLT_MAX;
	return finite;
}

bool
pack_rows(void *to, size_t stride, enum dtype kind, struct pack_output *outputs,
    const float *smooth, const struct pack *from, size_t o, size_t count)
{
	size_t C = from->C, used = C * dtype_size(kind);
	bool finite = true;

#pragma omp parallel for schedule(static) reduction(&& : finite) if (count * C > SERIAL)
	for (size_t i = 0; i < count; i++) {
		char *at = (char *)to + i * stride;
		memset(at + used, 0, stride - used);
		if (kind == DTYPE_F32) {
			pack_row((float *)(void *)at, from, o + i);
			continue;
		}
		float row[NN_MAX_PACKED];
		pack_row(row, from, o + i);
		finite =
		    (kind == DTYPE_I8 ? pack_i8((int8_t *)at, outputs + i, row, smooth, C)
				      : round_row(at, row, C)) &&
		    finite;
	}
	return finite;
}
