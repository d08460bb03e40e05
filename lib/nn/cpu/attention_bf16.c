/* Attention's products of bf16, whose sums are f32. */
#include "nn/cpu/attention_packed.h"

static void
pack_rows(char *to, struct row_scale *scales, const float *x, size_t ld,
    const float *shift, size_t rows, size_t terms, size_t depth)
{
	size_t used = terms * sizeof(uint16_t);

	(void)scales, (void)shift;
	for (size_t r = 0; r < rows; r++, to += depth, x += ld) {
		nn_bf16_row((uint16_t *)(void *)to, x, terms);
		memset(to + used, 0, depth - used);
	}
}

/* Columns of x[terms][QUERIES] as the microkernels read weights: groups of PACKED_PANEL, pairs of terms; zeros up to depth. */
static void
pack_columns(char *to, const float *x, size_t terms, size_t groups, size_t depth)
{
	size_t words = depth / sizeof(uint32_t);

	for (size_t p = 0; p < groups;
	     p++, x += PACKED_PANEL, to += depth * PACKED_PANEL) {
		uint32_t *row = (uint32_t *)(void *)to;
		size_t i = 0;
		for (; 2 * i < terms; i++, row += PACKED_PANEL) {
			const float *even = x + 2 * i * QUERIES;
			nn_bf16_pairs(row, even,
			    2 * i + 1 < terms ? even + QUERIES : NULL, PACKED_PANEL);
		}
		memset(row, 0, (words - i) * PACKED_PANEL * sizeof *row);
	}
}

static void
pack_queries(
    struct packed_panel *at, const float *x, size_t terms, size_t depth, float scale)
{
	pack_columns(at->q, x, terms, at->groups, depth);
	for (size_t i = 0; i < QUERIES; i++)
		at->scale[i] = scale;
}

/* Not the queries are scaled: rounding them would add an error. */
static void
scores(float *st, const struct packed_panel *at, const struct key_tile *tile, size_t keys)
{
	size_t lanes = at->groups * PACKED_PANEL;

	attention_products(DTYPE_BF16, (union packed_sum *)(void *)st, tile->k, at->q,
	    at->groups, keys, tile->k_depth);
	for (size_t j = 0; j < keys; j++, st += QUERIES)
		for (size_t first = 0; first < lanes; first += PACKED_PANEL)
#pragma omp simd
			for (size_t i = 0; i < PACKED_PANEL; i++)
				st[first + i] *= at->scale[first + i];
}

static void
mix(struct packed_panel *at, const struct key_tile *tile, float *st, size_t keys,
    const float *factor, size_t D)
{
	_Alignas(64) char p[QUERIES * KEY_BYTES];
	size_t lanes = at->groups * PACKED_PANEL;

	pack_columns(p, st, keys, at->groups, tile->v_depth);
	attention_products(DTYPE_BF16, (union packed_sum *)(void *)st, tile->v, p,
	    at->groups, D, tile->v_depth);
	for (size_t d = 0; d < D; d++) {
		float *out = at->out + d * QUERIES;
#pragma omp simd
		for (size_t i = 0; i < lanes; i++)
			out[i] = out[i] * factor[i] + st[d * QUERIES + i];
	}
}

const struct attention_kind *
attention_of_bf16(void)
{
	static const struct attention_kind kind = { DTYPE_BF16, false, pack_rows,
		pack_queries, scores, mix };

	return &kind;
}
