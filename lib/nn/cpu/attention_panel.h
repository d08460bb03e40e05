/*
 * attention_panel - shared by attention.c and attention_packed.c: some queries of a head, whose scores are stored transposed,
 * st[key][query], so that softmax needs no sums across a vector.  `width` is the length of a row of st.
 */
#ifndef NN_CPU_ATTENTION_PANEL_H
#define NN_CPU_ATTENTION_PANEL_H

#include <math.h>
#include <string.h>

#include "nn/cpu/cpu.h"
#include "nn/cpu/elementary.h"

enum { KEYS = 128, WIDEST = 32, MOST_QUERIES = 64 };

/* The queries first..first+count-1 of a sequence of `length` tokens, and the keys from..to-1 that any of them may see. */
struct panel {
	size_t first, count, length, from, to;
	const float *bias;    /* of the head, at distance 0; NULL: none */
	const uint64_t *keys; /* of dropout, of the panel's queries; NULL: none */
	uint64_t salt;	      /* of the head */
};

NN_INLINE struct panel
panel_at(const struct nn_attention *a, size_t sequence, size_t h, size_t first,
    size_t length, size_t width)
{
	struct panel p = { first, length - first, length, 0, length, NULL, NULL, 0 };
	size_t longest = a->sequences.longest;

	if (a->bias)
		p.bias = a->bias + h * 2 * longest + longest;
	if (a->dropout.keys) {
		p.keys = a->dropout.keys + a->sequences.starts[sequence] + first;
		p.salt = a->dropout.salt + h;
	}
	if (p.count > width)
		p.count = width;
	if (a->queries)
		p.count = 1;
	/* tiles of keys begin at the same key for panels of 1, 16 and 32 queries, so that the bits are the same */
	size_t widest = width > WIDEST ? width : WIDEST, begin = first / widest * widest;
	if (a->window && begin > a->window)
		p.from = begin - a->window;
	size_t last = first + p.count - 1;
	if (a->window && length - last > a->window + 1)
		p.to = last + a->window + 1;
	if (a->causal)
		p.to = last + 1;
	if (a->sequences.attended && (size_t)a->sequences.attended[sequence] < p.to)
		p.to = (size_t)a->sequences.attended[sequence];
	return p;
}

/* Sets scores of keys that a query may not see to minus infinity. */
NN_INLINE void
mask(float *st, const struct nn_attention *a, const struct panel *p, size_t key,
    size_t keys, int32_t width)
{
	size_t last = p->first + p->count - 1;
	bool ahead = a->causal && key + keys - 1 > p->first;
	bool far = a->window &&
		   (key + a->window < last || key + keys - 1 > p->first + a->window);

	if (!ahead && !far)
		return;
	int32_t window =
	    a->window && a->window < INT32_MAX ? (int32_t)a->window : INT32_MAX;
	int32_t after = a->causal ? 0 : window;
	for (size_t j = 0; j < keys; j++) {
		int32_t distance = (int32_t)(key + j) - (int32_t)p->first;
		float *row = st + j * (size_t)width;
#pragma omp simd
		for (int32_t i = 0; i < width; i++)
			row[i] = distance - i > after || i - distance > window ? -INFINITY
									       : row[i];
	}
}

/* Adds `keys` scores to the online softmax: top and sum of each query; factor rescales the sums so far.  st becomes
 * 2^(st - top). */
NN_INLINE void
softmax_step(float *st, size_t keys, float *top, float *sum, float *factor, size_t lanes,
    size_t width)
{
	float high[MOST_QUERIES], part[MOST_QUERIES] = { 0 };

	memcpy(high, top, width * sizeof *high);
	for (size_t j = 0; j < keys; j++)
#pragma omp simd
		for (size_t i = 0; i < lanes; i++)
			high[i] =
			    st[j * width + i] > high[i] ? st[j * width + i] : high[i];
	for (size_t j = 0; j < keys; j++)
#pragma omp simd
		for (size_t i = 0; i < lanes; i++) {
			float p = nn_exp2(st[j * width + i] - high[i]);
			st[j * width + i] = p;
			part[i] += p;
		}
#pragma omp simd
	for (size_t i = 0; i < lanes; i++) {
		factor[i] = nn_exp2(top[i] - high[i]);
		sum[i] = sum[i] * factor[i] + part[i];
		top[i] = high[i];
	}
}

/* Scores are stored times log2 e, because powers of two are cheaper. */
static const float LOG2_E = 1.44269504f, LN_2 = 0.693147181f;
/* The sum is at least 1 for a query that sees a key, and else 0. */
static const float LEAST_SUM = 0.5f;

/* Offset in p->bias of the panel's first query with this key. */
NN_INLINE ptrdiff_t
ahead_of(const struct panel *p, size_t key)
{
	return (ptrdiff_t)p->first - (ptrdiff_t)key;
}

NN_INLINE void
add_bias(float *st, const struct panel *p, size_t key, size_t keys, size_t width)
{
	for (size_t j = 0; j < keys; j++) {
		const float *bias = p->bias + ahead_of(p, key + j);
		float *row = st + j * width;
#pragma omp simd
		for (size_t i = 0; i < p->count; i++)
			row[i] += bias[i] * LOG2_E;
	}
}

/*
 * Threads take work items in the order of the tokens: one head of up to ITEM queries of one sequence.  Each thread steps forward
 * from its last item.
 */
enum { ITEM = 256 };

/* The queries of item `item` of a sequence of `length` tokens: *first up to the returned one. */
NN_INLINE size_t
item_queries(const struct nn_attention *a, size_t sequence, size_t item, size_t length,
    size_t *first)
{
	*first = item / a->H * ITEM;
	if (a->queries) {
		*first = (size_t)a->queries[sequence];
		return *first + 1;
	}
	return length - *first < ITEM ? length : *first + ITEM;
}

#endif
