/*
 * linear - a linear layer, and the low-rank pairs of gates beside it:
 *
 *	y = x W' + b		y += scale drop(x) A' B'	of the rows that go through a gate with a pair
 *
 * A gate is a LoRA adapter (adapter.h) that some sequences of a batch go through and others do not.  Nothing is merged:
 * a gate costs its own A and B, and so do its gradients.  Rows of one gate stand together, and are computed together; a
 * row's bits do not depend on the gates of the others.
 *
 * Letters as in nn.h.  All arrays but the stretches and `tokens` are in memory of the kernels.
 */
#ifndef MODEL_LINEAR_H
#define MODEL_LINEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/workspace.h"
#include "nn/nn.h"

/* What one gate has beside one tensor. */
struct linear_pair {
	struct nn_matrix a,
	    b; /* [rank,C], [rows of the tensor,rank]; none: it leaves the tensor as it is */
	size_t rank;
	float scale;
	float *da, *db; /* NULL: they do not learn */
	uint64_t salt;	/* of this tensor's dropout */
};

/* The pairs of a layer, whose W begins at a row of the tensor. */
struct linear_pairs {
	const struct linear_pair *at; /* [gates]; NULL: none has any */
	size_t row;
};

/* Tokens of a batch, up to `end`, that go through one gate; -1: through none. */
struct linear_segment {
	int adapter;
	size_t end;
};

/* The gates of a batch. */
struct linear_batch {
	const struct linear_segment *segments;
	size_t count;	   /* 0: none goes through a gate */
	size_t step;	   /* rows at a time: scratch does not grow with the batch */
	float *low, *dlow; /* some rows, [rank] */
	/* Dropout, of x before A: with the keys of the tokens, [T]; NULL: none.  Scratch for some rows, [C] */
	double dropout;
	const uint64_t *keys;
	float *dropped, *ddropped;
	const struct linear_watch *watch; /* NULL: nobody looks */
};

/* Sees what enters linear layers, x[T,C] with row stride ldx, in memory of the kernels. */
struct linear_watch {
	void (*see)(void *context, struct nn_matrix w, const float *x, size_t ldx,
	    size_t T, size_t C);
	void *context;
};

/* Scratch for ranks and layers up to these, and with `dropout` keys for T tokens. */
void linear_layout(struct linear_batch *batch, struct workspace *workspace, size_t T,
    size_t rank, size_t C, double dropout);

/* The rows of a batch that are computed: tokens first, first + 1, ...; or those listed, in ascending order. */
struct linear_rows {
	const struct linear_batch *batch;
	size_t first;
	const int32_t *tokens; /* NULL: no list */
	const int32_t *listed; /* the same in memory of the kernels */
};

struct linear {
	struct nn_matrix w; /* [O,C] */
	const float *bias;  /* [O]; NULL: none */
	float *dw, *db;	    /* NULL: not wanted */
	struct linear_pairs pairs;
	size_t C, O;
};

/* Whether some of the rows may have pairs, or somebody looks: then nothing can be done in one step with the product. */
bool linear_busy(const struct linear *linear, const struct linear_rows *rows);

/* y[T,O] overwritten; ldy, ldx: row strides. */
void linear_forward(const struct linear *linear, const struct linear_rows *rows, float *y,
    size_t ldy, const float *x, size_t ldx, size_t T);

/* Several layers of one size, each for T rows of its own, those of one part after those of another: y[.,O] of x[.,C].  act: what
 * comes after them, where none of them is busy; NULL: nothing. */
struct linear_part {
	struct linear layer;
	const struct linear_rows *rows;
	size_t T;
};
enum { LINEAR_PARTS = 64 }; /* at most, and one at least */
void linear_forward_parts(float *y, const float *x, const struct linear_part *parts,
    size_t count, const enum nn_act *act);

/* dx[T,C] = (or += when add) the gradient of x, by dy[T,O] and all that is beside it; those of weights and pairs are added
 * to.  dx NULL: not wanted; x NULL: those of the weights and pairs are not. */
void linear_back(const struct linear *linear, const struct linear_rows *rows, float *dx,
    bool add, const float *dy, size_t ldy, const float *x, size_t ldx, size_t T);

#endif
