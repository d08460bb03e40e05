/*
 * Attention's products of int8, whose sums are exact, so that all processors give the same bits.
 *
 * k and v^T are u8, with a scale and a zero point for each key, and for each component of v in a tile; queries are i8, each with
 * a scale.  p is relative to the greatest of its query and has 14 bits, in two halves of seven, because most of many
 * keys' p would be 0 in seven: the cosine of embeddings to f32's is 0.99996 by 14 bits, 0.9991 by seven (MiniLM, 60 abstracts).
 */
#include <float.h>

#include "nn/cpu/attention_packed.h"

enum { HALF_BITS = 7, MOST = 127, LEVELS = (1 << 2 * HALF_BITS) - 1 };

/* x to the nearest integer, |x| < 2^22 */
NN_INLINE int32_t
nearest(float x)
{
	const float round = 12582912.0f; /* 1.5 x 2^23 */

	return nn_bits(x + round) - nn_bits(round);
}

static void
pack_rows(char *to, struct row_scale *scales, const float *x, size_t ld,
    const float *shift, size_t rows, size_t terms, size_t depth)
{
	quantize_rows(
	    to, scales, x, ld, &(struct row_map){ .shift = shift }, rows, terms, depth);
}

/* inverse: 1 / step of each query.  at->scale: `scale` times the step, NaN if the query is not finite. */
static void
query_scales(
    struct packed_panel *at, float *inverse, const float *x, size_t terms, float scale)
{
	for (size_t first = 0; first < at->groups * PACKED_PANEL; first += PACKED_PANEL) {
		float most[PACKED_PANEL] = { 0 }, wrong[PACKED_PANEL] = { 0 };
		for (size_t c = 0; c < terms; c++)
#pragma omp simd
			for (size_t i = 0; i < PACKED_PANEL; i++) {
				float value = x[c * QUERIES + first + i];
				float size = fabsf(value);
				most[i] = size > most[i] ? size : most[i];
				wrong[i] += value * 0;
			}
		for (size_t i = 0; i < PACKED_PANEL; i++) {
			float step = most[i] / MOST;
			bool normal = step > FLT_MIN && step <= FLT_MAX;
			inverse[first + i] = normal ? 1 / step : 0;
			at->scale[first + i] = scale * step + wrong[i];
		}
	}
}

static void
pack_queries(
    struct packed_panel *at, const float *x, size_t terms, size_t depth, float scale)
{
	float inverse[QUERIES];
	size_t lanes = at->groups * PACKED_PANEL;

	query_scales(at, inverse, x, terms, scale);
	for (size_t first = 0; first < lanes; first += PACKED_PANEL) {
		uint32_t *words = (uint32_t *)(void *)(at->q + first * depth);
		uint32_t sum[PACKED_PANEL] = { 0 }; /* of NaN it may overflow */
		memset(words, 0, PACKED_PANEL * depth);
		for (size_t c = 0; c < terms; c++) {
			uint32_t *word = words + c / 4 * PACKED_PANEL;
			const float *from = x + c * QUERIES + first;
#pragma omp simd
			for (size_t i = 0; i < PACKED_PANEL; i++) {
				uint32_t value =
				    (uint32_t)nearest(from[i] * inverse[first + i]);
				word[i] |= (value & 255) << c % 4 * 8;
				sum[i] += value;
			}
		}
		for (size_t i = 0; i < PACKED_PANEL; i++)
			at->offset[first + i] =
			    at->scale[first + i] * (float)(int32_t)sum[i];
	}
}

static void
scores(float *st, const struct packed_panel *at, const struct key_tile *tile, size_t keys)
{
	union packed_sum *sums = (union packed_sum *)(void *)st;
	size_t lanes = at->groups * PACKED_PANEL;
	/* widened rows are read by whole groups */
	size_t rows = nn_round_up(keys, PACKED_WIDE);

	attention_products(DTYPE_I8, sums, tile->k, at->q, at->groups,
	    rows < tile->keys ? rows : tile->keys, tile->k_depth);
	for (size_t j = 0; j < keys; j++, st += QUERIES, sums += QUERIES)
		for (size_t first = 0; first < lanes; first += PACKED_PANEL) {
			float by = tile->k_scales[j].scale, base = tile->k_scales[j].base;
			const float *scale = at->scale + first,
				    *offset = at->offset + first;
#pragma omp simd
			for (size_t i = 0; i < PACKED_PANEL; i++)
				st[first + i] = nn_fused((float)sums[first + i].i32,
				    by * scale[i], base * offset[i]);
		}
}

/* The halves of p[keys][QUERIES] as columns of `depth` keys, and their sums. */
struct weights_i8 {
	uint32_t total[QUERIES]; /* of NaN it may overflow */
	_Alignas(64) uint32_t high[QUERIES * KEYS / 4], low[QUERIES * KEYS / 4];
};

/* Four keys of a group of queries. */
NN_INLINE void
pack_four(uint32_t *high, uint32_t *low, uint32_t *total, const float *p)
{
#pragma omp simd
	for (size_t i = 0; i < PACKED_PANEL; i++) {
		uint32_t h = 0, l = 0, sum = 0;
#pragma GCC unroll 4
		for (size_t key = 0; key < 4; key++) {
			uint32_t value = (uint32_t)nearest(p[key * QUERIES + i] * LEVELS);
			sum += value;
			h |= (value >> HALF_BITS) << 8 * key;
			l |= (value & MOST) << 8 * key;
		}
		high[i] = h;
		low[i] = l;
		total[i] += sum;
	}
}

/* p has zeros up to four keys. */
NN_NOINLINE void
pack_weights(
    struct weights_i8 *w, const float *p, size_t keys, size_t groups, size_t depth)
{
	memset(w->total, 0, sizeof w->total);
	for (size_t g = 0; g < groups; g++, p += PACKED_PANEL) {
		size_t at = g * depth * PACKED_PANEL / 4, k = 0;
		for (; k < keys; k += 4, at += PACKED_PANEL)
			pack_four(w->high + at, w->low + at, w->total + g * PACKED_PANEL,
			    p + k * QUERIES);
		if (k < depth) {
			size_t rest = (depth - k) / 4 * PACKED_PANEL;
			memset(w->high + at, 0, rest * sizeof *w->high);
			memset(w->low + at, 0, rest * sizeof *w->low);
		}
	}
}

static void
mix(struct packed_panel *at, const struct key_tile *tile, float *st, size_t keys,
    const float *factor, size_t D)
{
	_Alignas(64) union packed_sum low[SUMS * QUERIES];
	union packed_sum *high = (union packed_sum *)(void *)st;
	struct weights_i8 w;
	_Alignas(64) float unit[QUERIES], total[QUERIES];
	size_t lanes = at->groups * PACKED_PANEL;

	memset(
	    st + keys * QUERIES, 0, (nn_round_up(keys, 4) - keys) * QUERIES * sizeof *st);
	pack_weights(&w, st, keys, at->groups, tile->v_depth);
	attention_products(
	    DTYPE_I8, high, tile->v, (const char *)w.high, at->groups, D, tile->v_depth);
	attention_products(
	    DTYPE_I8, low, tile->v, (const char *)w.low, at->groups, D, tile->v_depth);
	for (size_t i = 0; i < lanes; i++) {
		/* NaN if a score was */
		unit[i] = 1.0f / LEVELS + (at->sum[i] - at->sum[i]);
		total[i] = (float)(int32_t)w.total[i];
	}
	for (size_t d = 0; d < D; d++)
		for (size_t first = 0; first < lanes; first += PACKED_PANEL) {
			const struct row_scale *v = &tile->v_scales[d];
			size_t row = d * QUERIES + first;
			float *out = at->out + row;
#pragma omp simd
			for (size_t i = 0; i < PACKED_PANEL; i++) {
				int32_t sum = high[row + i].i32 * (1 << HALF_BITS) +
					      low[row + i].i32;
				float mixed = nn_fused(
				    (float)sum, v->scale, v->base * total[first + i]);
				out[i] = nn_fused(
				    mixed, unit[first + i], out[i] * factor[first + i]);
			}
		}
}

const struct attention_kind *
attention_of_i8(void)
{
	static const struct attention_kind kind = { DTYPE_I8, true, pack_rows,
		pack_queries, scores, mix };

	return &kind;
}
