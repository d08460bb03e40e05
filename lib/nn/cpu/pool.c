#include "nn/nn.h"

#include <math.h>
#include <string.h>

#include "nn/cpu/cpu.h"

/* The sequence that token t is in. */
static size_t
sequence_of(const int32_t *starts, size_t N, size_t t)
{
	size_t low = 0, high = N;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if ((size_t)starts[middle] <= t)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static size_t
position_of(const int32_t *starts, size_t N, size_t t)
{
	return t - (size_t)starts[sequence_of(starts, N, t)];
}

/* x = or += row number `row` of a matrix of C columns */
static void
take_row(float *x, struct nn_matrix from, size_t row, size_t C, bool add)
{
	enum { SOME = 512 };
	const char *at = (const char *)from.at + row * C * dtype_size(from.dtype);

	if (!add) {
		tensor_to_f32(x, at, from.dtype, C);
		return;
	}
	for (size_t c = 0; c < C; c += SOME) {
		float part[SOME];
		size_t some = C - c < SOME ? C - c : SOME;
		tensor_to_f32(part, at + c * dtype_size(from.dtype), from.dtype, some);
		for (size_t i = 0; i < some; i++)
			x[c + i] += part[i];
	}
}

void
nn_embed(float *x, const int32_t *ids, const int32_t *starts, struct nn_matrix tokens,
    struct nn_matrix types, struct nn_matrix positions, size_t N, size_t C)
{
	size_t T = (size_t)starts[N];

#pragma omp parallel for schedule(static) if (T * C > NN_SERIAL)
	for (size_t t = 0; t < T; t++) {
		float *row = x + t * C;
		take_row(row, tokens, (size_t)ids[t], C, false);
		if (types.at)
			take_row(row, types, 0, C, true);
		if (positions.at)
			take_row(row, positions, position_of(starts, N, t), C, true);
	}
}

/* Columns from..to-1 of the three gradients; one thread has them, so rows add in order. */
static void
embed_back_slice(float *dtokens, float *dtypes, float *dpositions, const float *dx,
    const int32_t *ids, const int32_t *starts, size_t N, size_t C, size_t from, size_t to)
{
	for (size_t i = 0; i < N; i++)
		for (size_t t = (size_t)starts[i]; t < (size_t)starts[i + 1]; t++) {
			const float *row = dx + t * C;
			float *token = dtokens ? dtokens + (size_t)ids[t] * C : NULL;
			float *place =
			    dpositions ? dpositions + (t - (size_t)starts[i]) * C : NULL;
			for (size_t c = from; token && c < to; c++)
				token[c] += row[c];
			for (size_t c = from; dtypes && c < to; c++)
				dtypes[c] += row[c];
			for (size_t c = from; place && c < to; c++)
				place[c] += row[c];
		}
}

void
nn_embed_back(float *dtokens, float *dtypes, float *dpositions, const float *dx,
    const int32_t *ids, const int32_t *starts, size_t N, size_t C)
{
#pragma omp parallel for schedule(static) if ((size_t)starts[N] * C > NN_SERIAL)
	for (size_t from = 0; from < C; from += NN_SLICE)
		embed_back_slice(dtokens, dtypes, dpositions, dx, ids, starts, N, C, from,
		    from + NN_SLICE < C ? from + NN_SLICE : C);
}

/* Rotary positions. ---------------------------------------------------------------- */

/* Sine and cosine of angles that may be many turns: the angle is reduced in double to within
 * 45 degrees, where short polynomials do; 1 ulp of 1 up to 2^20 radians. */
static void
sines(float *sine, float *cosine, const float *angle, size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++) {
		double shifted =
		    (double)angle[i] * 0.63661977236758134 + 6755399441055744.0;
		double quarters = shifted - 6755399441055744.0;
		float r = (float)((double)angle[i] - quarters * 1.5707963267948966);
		int32_t quadrant = (int32_t)quarters;
		float s = r * r;
		float odd =
		    ((-0.00019517215f * s + 0.008332178f) * s - 0.16666655f) * s * r + r;
		float even =
		    ((2.4438357e-05f * s - 0.0013887367f) * s + 0.041666646f) * s * s -
		    0.5f * s + 1.0f;
		float one = quadrant & 1 ? even : odd, other = quadrant & 1 ? odd : even;
		sine[i] = quadrant & 2 ? -one : one;
		cosine[i] = (quadrant + 1) & 2 ? -other : other;
	}
}

static void
rotate(float *x, const float *sine, const float *cosine, size_t half)
{
#pragma omp simd
	for (size_t i = 0; i < half; i++) {
		float a = x[i], b = x[half + i];
		x[i] = a * cosine[i] - b * sine[i];
		x[half + i] = b * cosine[i] + a * sine[i];
	}
}

void
nn_rotary(float *x, size_t ld, const float *inv, size_t step, const int32_t *starts,
    size_t N, size_t heads, size_t D, int direction)
{
	size_t T = (size_t)starts[N], half = D / 2;

#pragma omp parallel for schedule(static) if (T * heads * D > NN_SERIAL)
	for (size_t t = 0; t < T; t++) {
		float angle[NN_MAX_HEAD / 2], sine[NN_MAX_HEAD / 2],
		    cosine[NN_MAX_HEAD / 2];
		size_t sequence = sequence_of(starts, N, t);
		const float *own = inv + sequence * step;
		float position = (float)direction * (float)(t - (size_t)starts[sequence]);
		for (size_t i = 0; i < half; i++)
			angle[i] = position * own[i];
		sines(sine, cosine, angle, half);
		for (size_t h = 0; h < heads; h++)
			rotate(x + t * ld + h * D, sine, cosine, half);
	}
}

/* Pooling. ------------------------------------------------------------------------- */

/* The tokens first..last-1 of sequence i that take part; returns how many. */
static size_t
pooled(const int32_t *starts, const int32_t *skip, size_t i, size_t *first, size_t *last)
{
	*first = (size_t)starts[i];
	*last = (size_t)starts[i + 1];
	if (skip) {
		size_t left_out = (size_t)skip[i];
		*first = left_out < *last - *first ? *first + left_out : *last;
	}
	return *last - *first;
}

/* The weight of token t in a pooling that is a weighted sum. */
static float
pool_weight(enum nn_pool kind, size_t t, size_t start, size_t first, size_t last)
{
	double count = (double)(last - first), before = (double)(first - start);

	switch (kind) {
	case NN_POOL_MEAN: return (float)(1 / count);
	case NN_POOL_MEAN_SQRT: return (float)(1 / sqrt(count));
	case NN_POOL_WEIGHTED: /* 1, 2, 3, ... from the start of the sequence */
		return (float)((double)(t - start + 1) /
			       (count * (before + (count + 1) / 2)));
	default: return 0;
	}
}

static void
pool_sum(float *y, const float *x, enum nn_pool kind, size_t start, size_t first,
    size_t last, size_t C)
{
	memset(y, 0, C * sizeof *y);
	for (size_t t = first; t < last; t++) {
		float weight = pool_weight(kind, t, start, first, last);
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			y[c] += weight * x[t * C + c];
	}
}

static void
pool_max(float *y, const float *x, size_t first, size_t last, size_t C)
{
	memset(y, 0, C * sizeof *y);
	for (size_t t = first; t < last; t++)
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			y[c] = t == first || x[t * C + c] > y[c] ? x[t * C + c] : y[c];
}

void
nn_pool(float *y, size_t ldy, const float *x, const int32_t *starts, const int32_t *skip,
    enum nn_pool kind, size_t N, size_t C)
{
#pragma omp parallel for schedule(dynamic) if ((size_t)starts[N] * C > NN_SERIAL)
	for (size_t i = 0; i < N; i++) {
		size_t first, last, start = (size_t)starts[i], count;
		float *row = y + i * ldy;
		count = pooled(starts, skip, i, &first, &last);
		if (start == (size_t)starts[i + 1])
			memset(row, 0, C * sizeof *row);
		else if (kind == NN_POOL_CLS)
			memcpy(row, x + (count ? first : start) * C, C * sizeof *row);
		else if (kind == NN_POOL_LAST)
			memcpy(row, x + (last - 1) * C, C * sizeof *row);
		else if (kind == NN_POOL_MAX || count == 0)
			pool_max(row, x, first, last, C);
		else
			pool_sum(row, x, kind, start, first, last, C);
	}
}

/* The gradient of a maximum goes to the first token that has it. */
static void
pool_max_back(
    float *dx, const float *dy, const float *x, size_t first, size_t last, size_t C)
{
	for (size_t c = 0; c < C; c++) {
		size_t best = first;
		for (size_t t = first; t < last; t++)
			if (x[t * C + c] > x[best * C + c])
				best = t;
		dx[best * C + c] = dy[c];
	}
}

void
nn_pool_back(float *dx, const float *dy, size_t ldy, const float *x,
    const int32_t *starts, const int32_t *skip, enum nn_pool kind, size_t N, size_t C)
{
#pragma omp parallel for schedule(dynamic) if ((size_t)starts[N] * C > NN_SERIAL)
	for (size_t i = 0; i < N; i++) {
		size_t first, last, start = (size_t)starts[i],
				    end = (size_t)starts[i + 1];
		const float *row = dy + i * ldy;
		size_t count = pooled(starts, skip, i, &first, &last);
		memset(dx + start * C, 0, (end - start) * C * sizeof *dx);
		if (start == end)
			continue;
		if (kind == NN_POOL_CLS)
			memcpy(dx + (count ? first : start) * C, row, C * sizeof *dx);
		else if (kind == NN_POOL_LAST)
			memcpy(dx + (last - 1) * C, row, C * sizeof *dx);
		else if (kind == NN_POOL_MAX && count)
			pool_max_back(dx, row, x, first, last, C);
		else
			for (size_t t = first; t < last; t++) {
				float weight = pool_weight(kind, t, start, first, last);
				for (size_t c = 0; c < C; c++)
					dx[t * C + c] = weight * row[c];
			}
	}
}
