/*
 * linear - a linear layer, and the LoRA pairs of adapters beside it:
 *
 *	y = x W' + b,	y += scale drop(x) A' B'  for the rows that go through an adapter with a pair
 *
 * Each sequence of a batch goes through one adapter (adapter.h) or none.  Nothing is merged: an adapter costs its own A and B,
 * and so do its gradients.  Rows of one adapter are computed together; a row's bits do not depend on other rows' adapters.
 *
 * Letters as in nn.h.  All arrays but segments and `tokens` are in memory of the kernels.
 */
#ifndef MODEL_LINEAR_H
#define MODEL_LINEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/workspace.h"
#include "nn/nn.h"

/* The LoRA pair of one adapter beside one tensor. */
struct linear_pair {
	struct nn_matrix a, b; /* [rank,C], [rows of the tensor,rank] */
	size_t rank;	       /* 0: the adapter leaves this tensor as it is */
	float scale;
	float *da, *db; /* gradients; NULL: the pair does not learn */
	uint64_t salt;	/* of this tensor's dropout */
};

/* The pairs beside a layer, whose W begins at a row of the tensor. */
struct linear_pairs {
	const struct linear_pair *at; /* [adapters]; NULL: no adapter has a pair here */
	size_t row;
};

/* Neighbouring sequences that go through one adapter: their tokens, up to `end`. */
struct linear_segment {
	int adapter; /* -1: none */
	size_t end;
};

/* The adapters of a batch. */
struct linear_batch {
	const struct linear_segment *segments; /* [count], host memory */
	size_t count;	      /* 0: no sequence goes through an adapter */
	size_t step;	      /* rows at a time: scratch does not grow with the batch */
	float *low, *dlow;    /* scratch [step,rank] */
	double dropout;	      /* of x before A, in training */
	const uint64_t *keys; /* [T], of each token's dropout; NULL: none */
	float *dropped, *ddropped;	  /* scratch [step,C] */
	const struct linear_watch *watch; /* NULL: none */
};

/* Is called with the input of each linear layer, x[T,C] with row stride ldx. */
struct linear_watch {
	void (*see)(void *context, struct nn_matrix w, const float *x, size_t ldx,
	    size_t T, size_t C);
	void *context;
};

/* Scratch for ranks and layers up to these; with `dropout` also keys for T tokens. */
void linear_layout(struct linear_batch *batch, struct workspace *workspace, size_t T,
    size_t rank, size_t C, double dropout);

/* The rows of a call: tokens first, first + 1, ... of the batch; or those listed, in ascending order. */
struct linear_rows {
	const struct linear_batch *batch;
	size_t first;
	const int32_t *tokens; /* host memory; NULL: no list */
	const int32_t *listed; /* the same list in memory of the kernels */
};

struct linear {
	struct nn_matrix w; /* [O,C] */
	const float *bias;  /* [O]; NULL: none */
	float *dw, *db;	    /* NULL: not wanted */
	struct linear_pairs pairs;
	size_t C, O;
};

/* Whether rows may have pairs, or a watch looks on: then the product cannot be fused with an activation. */
bool linear_busy(const struct linear *linear, const struct linear_rows *rows);

/* y[T,O] overwritten; ldy, ldx: row strides. */
void linear_forward(const struct linear *linear, const struct linear_rows *rows, float *y,
    size_t ldy, const float *x, size_t ldx, size_t T);

/* Several layers of one size, each for a group of rows; the groups follow each other in x[.,C] and y[.,O].  act: an activation
 * fused with the product, if no layer is busy; NULL: none. */
struct linear_group {
	struct linear layer;
	const struct linear_rows *rows;
	size_t T;
};
enum { LINEAR_GROUPS = 64 }; /* at most, and one at least */
void linear_forward_groups(float *y, const float *x, const struct linear_group *groups,
    size_t count, const enum nn_act *act);

/* From dy[T,O]: dx[T,C] = (or += when add); gradients of weights and pairs are added to.  dx NULL: not wanted; x NULL: the
 * gradients of weights and pairs are not. */
void linear_back(const struct linear *linear, const struct linear_rows *rows, float *dx,
    bool add, const float *dy, size_t ldy, const float *x, size_t ldx, size_t T);

#endif
