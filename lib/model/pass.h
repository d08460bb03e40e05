/*
 * pass - one batch in memory of the kernels, and what the forward pass makes of it up to the embeddings or the logits.  Several
 * passes stand beside each other in model->passes: one for each thread of model_encode, one for each batch of model_forward_all.
 *
 * Letters as in nn.h; E: spec_embedding_width.  All arrays are in the workspace unless said.
 */
#ifndef MODEL_PASS_H
#define MODEL_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/batch.h"
#include "model/block.h"
#include "model/distance.h"
#include "model/head.h"
#include "model/model.h"
#include "model/spec.h"
#include "model/workspace.h"

/* M tokens that are predicted: model_predict. */
struct prediction {
	size_t M, rows;		      /* rows of logits at a time */
	int32_t *positions, *targets; /* [M] */
	float *hidden;		      /* [M,C], their last hidden states */
	float *dense, *act, *norm,
	    *stats; /* [M,E], [M,E], [M,E], [M,2]; without a dense layer norm is hidden */
	float *logits; /* [rows,V] */
	struct nn_loss *sum;
	float *d; /* [M,C], d loss / d hidden */
};

struct pass {
	struct workspace workspace;
	bool keep;		   /* for a backward pass */
	size_t threads;		   /* of its kernels: 0 or 1 of a pass among others */
	const struct batch *batch; /* that is kept for its backward pass; NULL: none */
	/* the batch */
	int32_t *ids, *starts, *skip; /* [T], [N + 1], [N]; skip NULL: none */
	int32_t *places;   /* [T] rows of the position table; NULL: they count from 0 */
	int32_t *types;	   /* [T] rows of the table of types; NULL: 0 */
	int32_t *attended; /* [N] as in nn_sequences; NULL: all tokens */
	int32_t *sides;	   /* [T], balance.h; NULL: nothing is balanced */
	float *counts;	   /* [T], a weight of each token (table_rows.h); NULL: 1 */
	float *rotary[SPEC_ROTARIES]; /* rotary_layout */
	struct distance distance;
	struct batch_dropout dropout;
	struct linear_batch adapters;
	struct linear_segment *segments; /* [N], host memory */
	size_t segments_room;
	struct block_batch block; /* the above, as blocks take it */
	struct block_pooled pooled;
	struct linear_segment *pooled_segments; /* its adapters', host memory */
	size_t pooled_segments_room;
	/* activations */
	float *sum0, *stats0; /* [T,E], sum of embeddings; [T,2], its norm's */
	float *embedded,
	    *x0; /* [T,E], the sum normed; [T,C], what the first block reads */
	struct block_buffers buffers;	       /* inference */
	struct block_activations *activations; /* training, [layers] */
	float *last,
	    *stats_last; /* [T,C], the last hidden states; [T,2], the final norm's */
	struct head_state head;
	struct prediction prediction;
	/* gradients */
	struct block_scratch scratch;
	float *d;	  /* [T,C], of the hidden states */
	float *dembedded; /* [T,E] */
};

/* The weights of a task expert (-1: none) and `count` passes, at least; passes that are there keep their memory. */
void pass_need(struct model *model, int expert, size_t count);
void pass_free(struct model *model); /* all of them */

/* nn_worker_tokens for the precision of the model's products. */
size_t pass_worker_tokens(const struct model *model);

/* Lays out a pass, pass->keep set before, and brings the batch there; dies where the model does not take it.  predicted: so
 * many tokens are predicted (predict.c); 0: embeddings. */
void pass_prepare(struct pass *pass, const struct model *model, const struct batch *batch,
    size_t predicted);

/* Sends the tokens of each sequence through an adapter: adapters[N], -1 for none. */
void pass_find_segments(
    struct pass *pass, const struct batch *batch, const int32_t *adapters);

/* Memory of a prediction.  (predict.c) */
void prediction_layout(struct pass *pass, const struct model *model, size_t M);

/* From p->hidden [M,C] to p->norm [M,E], the input of the output matrix. */
void prediction_to_output(const struct model *model, struct prediction *p);

/* Dies if the checkpoint has no head that predicts masked tokens, or only a part of it. */
void prediction_demand(const struct model *model);

/* Forward. (forward.c) ------------------------------------------------------------- */

/* Embeddings [N, model_width] of a pass that is prepared, in its memory. */
float *pass_embed(
    const struct model *model, struct pass *pass, const struct batch *batch);

/* The last hidden states [T,C] of a batch, in model->pass; keep: for pass_backward. */
const float *pass_forward(
    struct model *model, const struct batch *batch, bool keep, size_t predicted);

/* Backward. (backward.c) ----------------------------------------------------------- */

/* From pass->d, the gradient of the last hidden states, to every parameter. */
void pass_backward(
    struct model *model, const struct batch *batch, const struct model_whole *whole);

#endif
