/*
 * attention_packed - attention whose products the microkernels make, of bf16 or int8.
 *
 * Scores are st = k q^T [key][query], the result is out^T = v^T p [D][query]: both have the queries along the vectors, so that
 * softmax and its factors need no sums across one.  Softmax is f32.  A kind packs the operands and makes the two products.
 */
#ifndef NN_CPU_ATTENTION_PACKED_H
#define NN_CPU_ATTENTION_PACKED_H

#include "nn/cpu/attention_panel.h"
#include "nn/cpu/microkernel.h"
#include "nn/cpu/quantize.h"

enum {
	QUERIES = PACKED_WIDTH,		   /* of a panel */
	HEAD_BYTES = 2 * NN_MAX_HEAD,	   /* of a row of k */
	KEY_BYTES = 2 * KEYS,		   /* of a row of v^T */
	SUMS = NN_MAX_HEAD + PACKED_HEIGHT /* rows of sums: tiles are whole */
};

/* Keys and values of one tile, packed.  All panels that meet it read the same numbers, whichever keys their queries see. */
struct key_tile {
	size_t first, keys;		 /* keys 0: none yet */
	size_t k_depth, v_depth;	 /* bytes of a row */
	struct row_scale k_scales[KEYS]; /* i8 */
	struct row_scale v_scales[NN_MAX_HEAD];
	_Alignas(64) char k[KEYS * HEAD_BYTES], v[SUMS * KEY_BYTES];
};

/* A panel while its keys come tile by tile. */
struct packed_panel {
	struct panel panel;
	size_t groups; /* of PACKED_PANEL queries */
	_Alignas(64) float top[QUERIES], sum[QUERIES];
	/* of the queries; bf16 has no offsets */
	_Alignas(64) float scale[QUERIES], offset[QUERIES];
	_Alignas(64) float out[NN_MAX_HEAD * QUERIES]; /* [D][QUERIES] */
	_Alignas(64) char q[QUERIES * HEAD_BYTES];     /* packed */
};

/* depth: bytes of a packed row; x[terms][QUERIES]: columns; scores are times `scale`. */
struct attention_kind {
	enum dtype dtype;
	/* keys are less a vector, so that a constant does not widen their range; softmax does not change by it */
	bool centred;
	/* rows of `terms` floats, ld apart, to packed rows, and their scales; shift[terms]: what rows are less, NULL: nothing */
	void (*pack_rows)(char *to, struct row_scale *scales, const float *x, size_t ld,
	    const float *shift, size_t rows, size_t terms, size_t depth);
	void (*pack_queries)(struct packed_panel *at, const float *x, size_t terms,
	    size_t depth, float scale);
	/* st[keys][QUERIES], of the tile's first keys; st has room for SUMS rows */
	void (*scores)(float *st, const struct packed_panel *at,
	    const struct key_tile *tile, size_t keys);
	/* out[D][QUERIES] = out factor[QUERIES] + v^T p, of p in st[keys][QUERIES], which is overwritten */
	void (*mix)(struct packed_panel *at, const struct key_tile *tile, float *st,
	    size_t keys, const float *factor, size_t D);
};

const struct attention_kind *attention_of_bf16(void);
const struct attention_kind *attention_of_i8(void);

/* sums[rows][QUERIES] of packed rows and columns. */
void attention_products(enum dtype dtype, union packed_sum *sums, const char *x,
    const char *w, size_t groups, size_t rows, size_t depth);

/* Item `item` of a sequence, as attention.c has it: only between begin and end of the kind's microkernel. */
void attend_item_packed(const struct attention_kind *kind, float *out, const float *q,
    const float *k, const float *v, const struct nn_attention *a, size_t sequence,
    size_t item);

#endif
