#include "model/pass.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/adapters.h"
#include "model/model_struct.h"
#include "model/packed_weights.h"
#include "model/pooled.h"
#include "model/rotary.h"

char *
model_refuses(const struct model *model, const struct batch *batch, int64_t first)
{
	const struct spec *spec = &model->spec;
	int known = model->table_rows.count ? model->table_rows.count : spec->vocabulary;

	if (spec->experts && (batch->expert < 0 || batch->expert >= spec->experts))
		return mem_format("%s has task experts, and none was chosen", model->dir);
	for (int64_t i = 0; i < batch->sequences; i++) {
		int64_t length = batch->starts[i + 1] - batch->starts[i];
		if (length < 1 && spec->layers && !batch->empty)
			return mem_format(
			    "text %lld has no tokens", (long long)(first + i + 1));
		if (length > spec->positions)
			return mem_format(
			    "text %lld has %lld tokens, more than the %d that %s takes; truncate it (tok --max-length)",
			    (long long)(first + i + 1), (long long)length,
			    spec->positions, model->dir);
		for (int32_t t = batch->starts[i]; t < batch->starts[i + 1]; t++)
			if (batch->ids[t] < 0 || batch->ids[t] >= known)
				return mem_format(
				    "text %lld: the token id %d is not below the vocabulary of %s, %d; is it another model's tokenizer?",
				    (long long)(first + i + 1), (int)batch->ids[t],
				    model->dir, known);
	}
	return NULL;
}

/* The batch. ---------------------------------------------------------------------- */

/* A batch without draws has no dropout. */
static bool
has_draws(const struct batch *batch)
{
	return batch->draws && batch->sequences && batch->draws[0];
}

/* Tokens up to the end of sequence i go through its adapter; those of neighbours together. */
void
pass_find_segments(struct pass *pass, const struct batch *batch, const int32_t *adapters)
{
	size_t N = (size_t)batch->sequences, count = 0;

	pass->segments =
	    mem_grow(pass->segments, &pass->segments_room, N, sizeof *pass->segments);
	for (size_t i = 0; i < N; i++) {
		count += !i || adapters[i] != adapters[i - 1];
		pass->segments[count - 1] =
		    (struct linear_segment){ adapters[i], (size_t)batch->starts[i + 1] };
	}
	bool some = count > 1 || (count && pass->segments->adapter >= 0);
	pass->adapters.count = some ? count : 0;
	pass->adapters.segments = pass->segments;
}

static void
layout_adapters(struct pass *pass, const struct model *model, const struct batch *batch)
{
	bool chosen = model->choose && !pass->keep;

	pass->adapters = (struct linear_batch){ .watch = model->linear_watch };
	if (!model->adapters)
		return;
	if (!chosen && batch->adapters)
		pass_find_segments(pass, batch, batch->adapters);
	if (chosen || pass->adapters.count)
		linear_layout(&pass->adapters, &pass->workspace, (size_t)batch->tokens,
		    model->adapters->rank, model->adapters->width,
		    has_draws(batch) ? model->adapters->dropout : 0);
}

/* Whether a table of relative positions learns. */
static bool
distance_learns(const struct model *model)
{
	bool learns = model->dstem[STEM_DISTANCE];

	for (int layer = 0; layer < model->spec.layers; layer++)
		learns |= (bool)model->dblocks[model_block_index(model, layer, -1)]
			      .at[BLOCK_DISTANCE];
	return learns;
}

/* An array of so many elements; NULL if it is not wanted. */
static void *
take_if(struct workspace *workspace, bool wanted, size_t count, size_t size)
{
	return wanted ? workspace_take(workspace, count, 1, size) : NULL;
}

static void
layout_batch(struct pass *pass, const struct model *model, const struct batch *batch)
{
	struct workspace *workspace = &pass->workspace;
	const struct spec *spec = &model->spec;
	size_t N = (size_t)batch->sequences, T = (size_t)batch->tokens,
	       size = sizeof(int32_t);

	pass->ids = workspace_take(workspace, T, 1, size);
	pass->starts = workspace_take(workspace, N + 1, 1, size);
	pass->skip = take_if(workspace, batch->skip, N, size);
	pass->sides = take_if(workspace, model->balance, T, size);
	pass->places = take_if(workspace, spec->position_first, T, size);
	pass->types = take_if(workspace, batch->second && spec->types > 1, T, size);
	pass->attended = take_if(workspace, batch->attended, N, size);
	pass->counts = take_if(workspace, model->table_rows.weight, T, sizeof(float));
	for (int i = 0; i < SPEC_ROTARIES; i++)
		pass->rotary[i] = rotary_layout(model, workspace, i, batch);
	distance_layout(&pass->distance, workspace, spec, T, (size_t)batch_longest(batch),
	    pass->keep && distance_learns(model));
	layout_adapters(pass, model, batch);
	pass->dropout = (struct batch_dropout){ .seed = model->dropout_seed };
	pass->dropout.keys = take_if(workspace, has_draws(batch) && dropout_is(spec), T,
	    sizeof *pass->dropout.keys);
}

/* The row of each token in the position table. */
static void
upload_places(const struct pass *pass, const struct spec *spec, const struct batch *batch)
{
	int32_t *host = mem_new((size_t)batch->tokens, sizeof *host);
	int32_t padding = spec->position_first - 1;

	for (int64_t i = 0; i < batch->sequences; i++) {
		int32_t next = spec->position_first;
		for (int32_t t = batch->starts[i]; t < batch->starts[i + 1]; t++)
			host[t] = batch->ids[t] == padding ? padding : next++;
	}
	nn_upload(pass->places, host, (size_t)batch->tokens * sizeof *host);
	free(host);
}

/* The type of each token: 1 from a pair's second text on. */
static void
upload_types(const struct pass *pass, const struct batch *batch)
{
	int32_t *host = mem_zero((size_t)batch->tokens, sizeof *host);

	for (int64_t i = 0; i < batch->sequences; i++)
		for (int32_t t = batch->starts[i] + batch->second[i];
		     batch->second[i] && t < batch->starts[i + 1]; t++)
			host[t] = 1;
	nn_upload(pass->types, host, (size_t)batch->tokens * sizeof *host);
	free(host);
}

/* The side of each token. */
static void
upload_sides(const struct pass *pass, const struct batch *batch)
{
	int32_t *host = mem_zero((size_t)batch->tokens, sizeof *host);

	for (int64_t i = 0; batch->sides && i < batch->sequences; i++)
		for (int32_t t = batch->starts[i]; t < batch->starts[i + 1]; t++)
			host[t] = batch->sides[i];
	nn_upload(pass->sides, host, (size_t)batch->tokens * sizeof *host);
	free(host);
}

/* The key of each token's dropout: its sequence's draw plus its position. */
static void
upload_keys(uint64_t *keys, const struct batch *batch)
{
	uint64_t *host = mem_new((size_t)batch->tokens, sizeof *host);

	for (int64_t i = 0; i < batch->sequences; i++)
		for (int32_t t = batch->starts[i]; t < batch->starts[i + 1]; t++)
			host[t] = batch->draws[i] + (uint64_t)(t - batch->starts[i]);
	nn_upload(keys, host, (size_t)batch->tokens * sizeof *host);
	free(host);
}

/* The tokens' rows in the table of static embeddings, and their weights. */
static void
upload_rows(
    const struct pass *pass, const struct table_rows *rows, const struct batch *batch)
{
	size_t T = (size_t)batch->tokens;
	int32_t *ids = mem_new(T, sizeof *ids);
	float *counts = mem_new(T, sizeof *counts);

	for (size_t t = 0; t < T; t++) {
		ids[t] = rows->row ? rows->row[batch->ids[t]] : batch->ids[t];
		counts[t] = rows->weight ? rows->weight[batch->ids[t]] : 1;
	}
	nn_upload(pass->ids, ids, T * sizeof *ids);
	if (pass->counts)
		nn_upload(pass->counts, counts, T * sizeof *counts);
	free(ids);
	free(counts);
}

static void
upload_batch(struct pass *pass, const struct model *model, const struct batch *batch)
{
	size_t N = (size_t)batch->sequences;

	if (model->table_rows.count)
		upload_rows(pass, &model->table_rows, batch);
	else
		nn_upload(
		    pass->ids, batch->ids, (size_t)batch->tokens * sizeof *pass->ids);
	nn_upload(pass->starts, batch->starts, (N + 1) * sizeof *pass->starts);
	if (pass->skip)
		nn_upload(pass->skip, batch->skip, N * sizeof *pass->skip);
	if (pass->attended)
		nn_upload(pass->attended, batch->attended, N * sizeof *pass->attended);
	if (pass->places)
		upload_places(pass, &model->spec, batch);
	if (pass->types)
		upload_types(pass, batch);
	if (pass->sides)
		upload_sides(pass, batch);
	if (pass->adapters.keys)
		upload_keys((uint64_t *)pass->adapters.keys, batch);
	if (pass->dropout.keys)
		upload_keys((uint64_t *)pass->dropout.keys, batch);
	pass->block = (struct block_batch){ .sequences = { .starts = pass->starts,
						.N = N,
						.T = (size_t)batch->tokens,
						.longest = (size_t)batch_longest(batch),
						.positions = pass->places,
						.types = pass->types,
						.attended = pass->attended },
		.bias = pass->distance.bias,
		.relative = model->relative,
		.relative_rows = pass->distance.buckets,
		.dbias = pass->distance.dbias,
		.adapters = pass->adapters,
		.dropout = pass->dropout };
	distance_upload(&pass->distance, &model->spec, (size_t)batch_longest(batch));
	for (int i = 0; i < model->spec.rotaries; i++)
		pass->block.rotary[i] = rotary_upload(model, i, pass->rotary[i], batch);
	pooled_upload(pass, model, batch);
}

/* Memory and checks. --------------------------------------------------------------- */

/* The blocks, which read x; returns their output. */
static float *
layout_blocks(struct pass *pass, const struct model *model, size_t T, float *x)
{
	struct workspace *w = &pass->workspace;
	const struct spec *spec = &model->spec;

	size_t step = pass_worker_tokens(model) * (pass->threads ? pass->threads : 1);
	if (!pass->keep && spec->layers)
		block_buffers_layout(&pass->buffers, w, spec, T, x, step);
	if (!pass->keep && model->see && spec->mixture.count)
		pass->buffers.router =
		    workspace_floats(w, T, (size_t)spec->mixture.count);
	if (!pass->keep && model->see && spec->neuron_experts)
		pass->buffers.energy =
		    workspace_floats(w, T, (size_t)spec->neuron_experts);
	for (int layer = 0; pass->keep && layer < spec->layers; layer++) {
		struct block_activations *activations = &pass->activations[layer];
		block_activations_layout(activations, w, spec, layer, T, x);
		activations->layer.embedded = pass->x0;
		x = activations->out;
	}
	return x;
}

static void
layout(struct pass *pass, const struct model *model, const struct batch *batch,
    size_t predicted)
{
	struct workspace *w = &pass->workspace;
	const struct spec *spec = &model->spec;
	size_t T = (size_t)batch->tokens, C = (size_t)spec->width;
	bool keep = pass->keep;

	layout_batch(pass, model, batch);
	size_t E = (size_t)spec_embedding_width(spec);
	pass->embedded = pass->sum0 = workspace_floats(w, T, E);
	pass->stats0 = pass->stats_last = NULL;
	if (spec->embedding_norm && keep) {
		pass->stats0 = workspace_floats(w, T, 2);
		pass->embedded = workspace_floats(w, T, E);
	}
	float *x = pass->embedded;
	if (spec->embedding_width) {
		x = workspace_floats(w, T, C);
		pass->dembedded = keep ? workspace_floats(w, T, E) : NULL;
	}
	pass->x0 = x;
	x = layout_blocks(pass, model, T, x);
	pooled_layout(pass, model, predicted ? NULL : batch);
	pass->last = pass->pooled.tokens ? pass->pooled.x : x;
	if (spec->prenorm && keep) {
		pass->stats_last = workspace_floats(w, T, 2);
		pass->last = workspace_floats(w, T, C);
	}
	if (keep) {
		block_scratch_layout(&pass->scratch, w, spec, T);
		pass->d = workspace_floats(w, T, C);
	}
	if (predicted)
		prediction_layout(pass, model, predicted);
	else
		head_layout(
		    &pass->head, w, &model->head, T, (size_t)batch->sequences, C, keep);
}

size_t
pass_worker_tokens(const struct model *model)
{
	return nn_worker_tokens(
	    model->packed ? packed_weights_kind(model->packed) : DTYPE_F32);
}

void
pass_need(struct model *model, int expert, size_t count)
{
	size_t had = model->passes_room;

	model_need_expert(model, expert);
	model->passes =
	    mem_grow(model->passes, &model->passes_room, count, sizeof *model->passes);
	for (size_t i = had; i < model->passes_room; i++)
		model->passes[i] =
		    (struct pass){ .activations = mem_zero((size_t)model->spec.layers,
				       sizeof *model->passes->activations) };
	model->pass = model->passes;
}

void
pass_prepare(struct pass *pass, const struct model *model, const struct batch *batch,
    size_t predicted)
{
	char *why = model_refuses(model, batch, 0);

	if (why)
		die("%s", why);
	workspace_measure(&pass->workspace);
	layout(pass, model, batch, predicted);
	workspace_ready(&pass->workspace);
	layout(pass, model, batch, predicted);
	upload_batch(pass, model, batch);
}

void
pass_free(struct model *model)
{
	for (size_t i = 0; i < model->passes_room; i++) {
		free(model->passes[i].activations);
		free(model->passes[i].segments);
		free(model->passes[i].pooled_segments);
		workspace_free(&model->passes[i].workspace);
	}
	free(model->passes);
}
