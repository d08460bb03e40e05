#include "model/pooled.h"

#include <stdlib.h>

#include "base/mem.h"

static bool
reads_one(const struct pass *pass, const struct model *model, const struct batch *batch)
{
	const struct head *head = &model->head;
	bool one = batch && head->pools == 1 &&
		   (*head->pool == NN_POOL_CLS || *head->pool == NN_POOL_LAST);
	bool watched = model->see || model->linear_watch || model->balance;

	/* per-layer embeddings are of all tokens */
	return one && !watched && !pass->keep && !model->spec.layer_embedding &&
	       !nn_device() && model->spec.layers && !batch->empty &&
	       !(batch->draws && batch->sequences && batch->draws[0]);
}

void
pooled_layout(struct pass *pass, const struct model *model, const struct batch *batch)
{
	struct workspace *workspace = &pass->workspace;
	struct block_pooled *pooled = &pass->pooled;
	const struct spec *spec = &model->spec;

	*pooled = (struct block_pooled){ .tokens = NULL };
	if (!reads_one(pass, model, batch))
		return;
	size_t N = (size_t)batch->sequences;
	pooled->tokens = workspace_take(workspace, N, 1, sizeof *pooled->tokens);
	pooled->rows = workspace_take(workspace, N, 1, sizeof *pooled->rows);
	pooled->starts = workspace_take(workspace, N + 1, 1, sizeof *pooled->starts);
	pooled->x = workspace_floats(workspace, N, (size_t)spec->width);
	size_t Q = (size_t)spec->heads * (size_t)spec_head_size(spec, spec->layers - 1);
	bool conv = spec->layer[spec->layers - 1].conv;
	pooled->attended = workspace_floats(workspace, N, conv ? (size_t)spec->width : Q);
}

/* The pooled token of sequence i, as nn_pool has it; counted from the first. */
static int32_t
token_of(const struct head *head, const struct batch *batch, int64_t i)
{
	int32_t length = batch->starts[i + 1] - batch->starts[i];
	int32_t skip = batch->skip && !head->include_prompt ? batch->skip[i] : 0;

	if (*head->pool == NN_POOL_LAST)
		return length - 1;
	return skip < length ? skip : 0;
}

void
pooled_upload(struct pass *pass, const struct model *model, const struct batch *batch)
{
	struct block_pooled *pooled = &pass->pooled;
	size_t N = (size_t)batch->sequences;

	if (!pooled->tokens)
		return;
	int32_t *host = mem_new(3 * N + 1, sizeof *host);
	for (size_t i = 0; i < N; i++) {
		host[i] = token_of(&model->head, batch, (int64_t)i);
		host[N + i] = batch->starts[i] + host[i];
	}
	for (size_t i = 0; i <= N; i++)
		host[2 * N + i] = (int32_t)i;
	nn_upload(pooled->tokens, host, N * sizeof *host);
	nn_upload(pooled->rows, host + N, N * sizeof *host);
	nn_upload(pooled->starts, host + 2 * N, (N + 1) * sizeof *host);
	free(host);
	pooled->batch = pass->block;
	pooled->batch.sequences = (struct nn_sequences){
		.starts = pooled->starts, .N = N, .T = N, .longest = 1
	};
}

void
pooled_find_segments(struct pass *pass, const struct batch *batch)
{
	const struct linear_batch *all = &pass->block.adapters;
	struct linear_batch *adapters = &pass->pooled.batch.adapters;
	size_t sequence = 0;

	*adapters = *all;
	pass->pooled_segments = mem_grow(pass->pooled_segments,
	    &pass->pooled_segments_room, all->count, sizeof *pass->pooled_segments);
	for (size_t i = 0; i < all->count; i++) {
		while ((size_t)batch->starts[sequence] < all->segments[i].end)
			sequence++;
		pass->pooled_segments[i] =
		    (struct linear_segment){ all->segments[i].adapter, sequence };
	}
	adapters->segments = pass->pooled_segments;
}
