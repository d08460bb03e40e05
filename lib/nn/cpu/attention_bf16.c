/*
 * Attention whose products are of bf16, by the microkernels: scores st = k q^T [key][query], then out^T = v^T p [D][query], both
 * with the queries along the vectors, so that softmax and its factors need no sums across one.  Sums and softmax are f32.
 */
#include "nn/cpu/attention_panel.h"
#include "nn/cpu/microkernel.h"
#include "nn/cpu/transpose.h"

enum {
	QUERIES = PACKED_WIDTH,		   /* of a panel */
	PANELS = ITEM / QUERIES,	   /* of an item */
	HEAD_BYTES = 2 * NN_MAX_HEAD,	   /* of a row of k */
	KEY_BYTES = 2 * KEYS,		   /* of a row of v^T */
	ROWS = NN_MAX_HEAD + PACKED_HEIGHT /* of sums: tiles are whole */
};

/* Keys and values of one tile, bf16. */
struct key_tile {
	size_t first, keys; /* keys 0: none yet */
	size_t depth;	    /* bytes of a row of v */
	_Alignas(64) char k[KEYS * HEAD_BYTES], v[ROWS * KEY_BYTES];
};

/* A panel while its keys come tile by tile. */
struct bf16_panel {
	struct panel panel;
	size_t groups; /* of PACKED_PANEL queries */
	float top[QUERIES], sum[QUERIES];
	_Alignas(64) float out[NN_MAX_HEAD * QUERIES]; /* [D][QUERIES] */
	_Alignas(64) char q[QUERIES * HEAD_BYTES];     /* packed */
};

/* The arrays of a sequence and a head, from its first token on. */
struct bf16_head {
	const struct nn_attention *a;
	float *out;
	const float *q, *k, *v;
	size_t depth; /* bytes of a row of k */
};

static size_t
row_depth(size_t terms)
{
	return nn_round_up(terms * sizeof(uint16_t), PACKED_DEPTH);
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

/* Rows of `terms` floats, ld apart, to bf16 rows of `depth` bytes. */
static void
round_rows(char *to, const float *x, size_t ld, size_t rows, size_t terms, size_t depth)
{
	size_t used = terms * sizeof(uint16_t);

	for (size_t r = 0; r < rows; r++, to += depth, x += ld) {
		nn_bf16_row((uint16_t *)(void *)to, x, terms);
		memset(to + used, 0, depth - used);
	}
}

static void
fill_tile(struct key_tile *tile, const struct bf16_head *head, size_t first, size_t keys)
{
	_Alignas(64) float turned[NN_MAX_HEAD * KEYS];
	const struct nn_attention *a = head->a;

	if (tile->keys == keys && tile->first == first)
		return;
	tile->first = first;
	tile->keys = keys;
	tile->depth = row_depth(keys);
	round_rows(tile->k, head->k + first * a->ldkv, a->ldkv, keys, a->D, head->depth);
	nn_transpose(turned, KEYS, nn_f32(head->v + first * a->ldkv), a->ldkv, 0, keys,
	    a->D, nn_round_up(keys, NN_LANES), 1);
	round_rows(tile->v, turned, KEYS, a->D, keys, tile->depth);
}

static void
begin_panel(struct bf16_panel *at, const struct bf16_head *head)
{
	_Alignas(64) float turned[NN_MAX_HEAD * QUERIES];
	const struct nn_attention *a = head->a;
	const struct panel *p = &at->panel;

	at->groups = nn_round_up(p->count, PACKED_PANEL) / PACKED_PANEL;
	nn_transpose(turned, QUERIES, nn_f32(head->q + p->first * a->ldq), a->ldq, 0,
	    p->count, a->D, at->groups * PACKED_PANEL, 1);
	pack_columns(at->q, turned, a->D, at->groups, head->depth);
	for (size_t i = 0; i < QUERIES; i++) {
		at->top[i] = -1e30f; /* as in attention.c */
		at->sum[i] = 0;
	}
	memset(at->out, 0, a->D * QUERIES * sizeof *at->out);
}

/* sums[rows][QUERIES] of rows of x and packed columns. */
static void
products(union packed_sum *sums, const char *x, const char *w, size_t groups, size_t rows,
    size_t depth)
{
	const struct microkernel *kernel = microkernel(DTYPE_BF16);

	for (size_t r = 0; r < rows; r += kernel->rows)
		kernel->sums(sums + r * QUERIES, x + r * depth, w, groups,
		    rows - r < kernel->rows ? rows - r : kernel->rows, depth);
}

/* Scores times log2 e, biased and masked.  Not the queries are scaled: rounding them would add an error. */
static void
finish_scores(float *st, const struct bf16_panel *at, const struct bf16_head *head,
    const struct key_tile *tile)
{
	const struct nn_attention *a = head->a;
	size_t lanes = at->groups * PACKED_PANEL;
	float scale = a->scale != 0 ? LOG2_E * a->scale : LOG2_E / sqrtf((float)a->D);

	for (size_t j = 0; j < tile->keys; j++)
#pragma omp simd
		for (size_t i = 0; i < lanes; i++)
			st[j * QUERIES + i] *= scale;
	if (at->panel.bias)
		add_bias(st, &at->panel, tile->first, tile->keys, QUERIES);
	mask(st, a, &at->panel, tile->first, tile->keys, QUERIES);
}

/* The keys of a tile join the panel's softmax. */
static void
attend_keys(
    struct bf16_panel *at, const struct bf16_head *head, const struct key_tile *tile)
{
	_Alignas(64) union packed_sum sums[ROWS * QUERIES];
	_Alignas(64) char p[QUERIES * KEY_BYTES];
	const struct nn_attention *a = head->a;
	size_t lanes = at->groups * PACKED_PANEL;
	float factor[QUERIES], *st = &sums->f32;

	products(sums, tile->k, at->q, at->groups, tile->keys, head->depth);
	finish_scores(st, at, head, tile);
	softmax_step(st, tile->keys, at->top, at->sum, factor, lanes, QUERIES);
	pack_columns(p, st, tile->keys, at->groups, tile->depth);
	products(sums, tile->v, p, at->groups, a->D, tile->depth);
	for (size_t d = 0; d < a->D; d++) {
		float *out = at->out + d * QUERIES;
#pragma omp simd
		for (size_t i = 0; i < lanes; i++)
			out[i] = out[i] * factor[i] + st[d * QUERIES + i];
	}
}

static void
end_panel(struct bf16_panel *at, const struct bf16_head *head)
{
	_Alignas(64) float rows[QUERIES * NN_MAX_HEAD];
	const struct nn_attention *a = head->a;
	const struct panel *p = &at->panel;
	size_t lanes = at->groups * PACKED_PANEL, ldo = a->H * a->D;

	for (size_t i = 0; i < lanes; i++)
		at->sum[i] = at->sum[i] >= LEAST_SUM ? 1 / at->sum[i] : 0;
	for (size_t d = 0; d < a->D; d++)
#pragma omp simd
		for (size_t i = 0; i < lanes; i++)
			at->out[d * QUERIES + i] *= at->sum[i];
	nn_transpose(rows, NN_MAX_HEAD, nn_f32(at->out), QUERIES, 0, a->D, p->count,
	    nn_round_up(a->D, NN_LANES), 1);
	for (size_t i = 0; i < p->count; i++)
		memcpy(head->out + (p->first + i) * ldo, rows + i * NN_MAX_HEAD,
		    a->D * sizeof *rows);
}

/* All panels meet a tile of keys before the next tile comes, as in attention.c. */
static void
attend_panels(struct bf16_panel *panels, size_t count, const struct bf16_head *head)
{
	struct key_tile tile;
	size_t left = count;

	tile.keys = 0; /* not all of its 140 KB */
	for (size_t ahead = 0; left; ahead += KEYS)
		for (size_t i = 0; i < count; i++) {
			const struct panel *p = &panels[i].panel;
			size_t key = p->from + ahead;
			if (ahead == 0)
				begin_panel(&panels[i], head);
			if (key < p->to) {
				fill_tile(&tile, head, key,
				    p->to - key < KEYS ? p->to - key : KEYS);
				attend_keys(&panels[i], head, &tile);
			}
			if (ahead == 0 ? key + KEYS >= p->to
				       : key < p->to && key + KEYS >= p->to) {
				end_panel(&panels[i], head);
				left--;
			}
		}
}

void
nn_attend_item_bf16(float *out, const float *q, const float *k, const float *v,
    const struct nn_attention *a, size_t sequence, size_t item)
{
	struct bf16_panel panels[PANELS];
	size_t start = (size_t)a->sequences.starts[sequence];
	size_t length = (size_t)a->sequences.starts[sequence + 1] - start;
	size_t h = item % a->H, kv = start * a->ldkv + h / (a->H / a->K) * a->D;
	size_t first, count = 0, last = item_queries(a, sequence, item, length, &first);
	const struct bf16_head head = { a, out + start * a->H * a->D + h * a->D,
		q + start * a->ldq + h * a->D, k + kv, v + kv, row_depth(a->D) };

	for (; first < last; first += QUERIES)
		panels[count++].panel = panel_at(a, sequence, h, first, length, QUERIES);
	attend_panels(panels, count, &head);
}
