/* The forward pass that forgets: embeddings, and what passes on the way. */
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/model_internal.h"

size_t
model_block_index(const struct model *model, int layer, int expert)
{
	size_t experts = model->spec.experts ? (size_t)model->spec.experts : 1;

	return (size_t)layer * experts + (size_t)(expert > 0 ? expert : 0);
}

char *
model_refuses(const struct model *model, const struct batch *batch, int64_t first)
{
	const struct spec *spec = &model->spec;

	if (spec->experts && (batch->expert < 0 || batch->expert >= spec->experts))
		return mem_format("%s has task experts, and none was chosen", model->dir);
	for (int64_t i = 0; i < batch->sequences; i++) {
		int64_t length = batch->starts[i + 1] - batch->starts[i];
		if (length < 1)
			return mem_format(
			    "text %lld has no tokens", (long long)(first + i));
		if (length > spec->positions)
			return mem_format(
			    "text %lld has %lld tokens, more than the %d that %s takes; "
			    "truncate it (tok --max-length)",
			    (long long)(first + i), (long long)length, spec->positions,
			    model->dir);
		for (int32_t t = batch->starts[i]; t < batch->starts[i + 1]; t++)
			if (batch->ids[t] < 0 || batch->ids[t] >= spec->vocabulary)
				return mem_format(
				    "text %lld: the token id %d is not below the "
				    "vocabulary "
				    "of %s, %d; is it another model's tokenizer?",
				    (long long)(first + i), (int)batch->ids[t],
				    model->dir, spec->vocabulary);
	}
	return NULL;
}

void
model_demand(const struct model *model, const struct batch *batch)
{
	char *why = model_refuses(model, batch, 0);

	if (why)
		die("%s", why);
}

void
device_batch_layout(
    struct device_batch *on, struct model *model, const struct batch *batch)
{
	struct workspace *workspace = &model->workspace;
	size_t N = (size_t)batch->sequences;

	on->ids = workspace_take(workspace, (size_t)batch->tokens, 1, sizeof *on->ids);
	on->starts = workspace_take(workspace, N + 1, 1, sizeof *on->starts);
	on->skip = batch->skip ? workspace_take(workspace, N, 1, sizeof *on->skip) : NULL;
	for (int i = 0; i < SPEC_ROTARIES; i++)
		on->rotary[i] = model_rotary_layout(model, i, batch);
}

void
device_batch_upload(
    const struct device_batch *on, const struct model *model, const struct batch *batch)
{
	size_t N = (size_t)batch->sequences;

	nn_upload(on->ids, batch->ids, (size_t)batch->tokens * sizeof *on->ids);
	nn_upload(on->starts, batch->starts, (N + 1) * sizeof *on->starts);
	if (on->skip)
		nn_upload(on->skip, batch->skip, N * sizeof *on->skip);
	for (int i = 0; i < SPEC_ROTARIES; i++)
		model_rotary_upload(model, i, on->rotary[i], batch);
}

struct block_batch
model_block_batch(
    const struct model *model, const struct batch *batch, const struct device_batch *on)
{
	struct block_batch block = { .T = (size_t)batch->tokens,
		.N = (size_t)batch->sequences,
		.starts = on->starts };

	for (int i = 0; i < model->spec.rotaries; i++)
		block.rotary[i] = on->rotary[i]
				      ? (struct block_rotary){ on->rotary[i],
						(size_t)(model->spec.head_size / 2) }
				      : (struct block_rotary){ model->inverse[i], 0 };
	return block;
}

/* The pieces of one batch. */
struct run {
	struct device_batch on;
	float *x;		  /* [T,C] */
	struct block_state state; /* shared by all blocks */
	struct head_state head;
};

static void
layout(struct model *model, const struct batch *batch, struct run *run)
{
	struct workspace *w = &model->workspace;
	size_t T = (size_t)batch->tokens, C = (size_t)model->spec.width;

	device_batch_layout(&run->on, model, batch);
	run->x = workspace_floats(w, T, C);
	block_layout(&run->state, w, &model->spec, 0, T, run->x, false);
	if (model->see && model->spec.mixture.count)
		run->state.router =
		    workspace_floats(w, T, (size_t)model->spec.mixture.count);
	head_layout(&run->head, w, &model->head, T, (size_t)batch->sequences, C, false);
}

/* Let the watcher see the hidden states after `layer` blocks. */
static void
show(const struct model *model, const struct block_batch *block, const struct run *run,
    int layer)
{
	const struct spec *spec = &model->spec;

	struct model_sight sight = { .layer = layer,
		.T = block->T,
		.N = block->N,
		.C = (size_t)spec->width,
		.E = (size_t)spec->mixture.count,
		.hidden = run->x,
		.starts = run->on.starts,
		.skip = run->on.skip };

	if (!model->see)
		return;
	if (layer > 0 && spec->layer[layer - 1].mixture) {
		sight.logits = run->state.router;
		sight.routing = run->state.mixture.p;
	}
	model->see(model->see_context, &sight);
}

static void
forward(struct model *model, const struct batch *batch, struct run *run)
{
	const struct spec *spec = &model->spec;
	const struct nn_matrix *stem = model->stem;
	size_t C = (size_t)spec->width;

	model_demand(model, batch);
	workspace_measure(&model->workspace);
	layout(model, batch, run);
	workspace_ready(&model->workspace);
	layout(model, batch, run);
	device_batch_upload(&run->on, model, batch);
	struct block_batch block = model_block_batch(model, batch, &run->on);
	nn_embed(run->x, run->on.ids, run->on.starts, stem[STEM_TOKENS], stem[STEM_TYPES],
	    stem[STEM_POSITIONS], block.N, C);
	if (spec->embedding_norm)
		nn_norm(run->x, NULL, NULL, run->x, NULL, stem[STEM_NORM].at,
		    stem[STEM_NORM_BIAS].at, spec->norm_eps, spec->norm, block.T, C);
	for (int layer = 0; layer < spec->layers; layer++) {
		size_t index = model_block_index(model, layer, batch->expert);
		show(model, &block, run, layer);
		block_forward(spec, layer, &model->blocks[index], &block, &run->state);
	}
	if (spec->prenorm)
		nn_norm(run->x, NULL, NULL, run->x, NULL, stem[STEM_FINAL_NORM].at,
		    stem[STEM_FINAL_NORM_BIAS].at, spec->norm_eps, spec->norm, block.T,
		    C);
	show(model, &block, run, spec->layers);
}

/* Name the weights to blame, or say that the numbers grew too large. */
_Noreturn static void
die_not_finite(const struct model *model)
{
	const struct weights *weights = &model->weights;
	const char *name = model->file ? safetensors_name(model->file) : model->dir;

	for (int i = 0; i < weights->count; i++) {
		const struct parameter *p = &weights->tensors[i];
		const struct safetensor *stored = weights->stored[i];
		bool copied = false;
		const float *x = model->data ? nn_weights(stored->data, stored->dtype,
						   p->count, &copied)
					     : model->values + p->offset;
		if (!nn_finite(x, p->count))
			die("%s: tensor '%s' holds values that are not finite (NaN or "
			    "infinity)",
			    name, p->name);
		if (copied)
			nn_free((void *)x, p->count * sizeof *x);
	}
	die("%s: an embedding is not finite though all weights are; the numbers overflow",
	    name);
}

void
model_encode(struct model *model, const struct batch *batch, float *emb)
{
	struct run run;
	size_t N = (size_t)batch->sequences, width = (size_t)model_width(model);

	if (!N)
		return;
	forward(model, batch, &run);
	const float *made = head_forward(&model->head, &run.head, run.x, run.on.starts,
	    run.on.skip, N, (size_t)model->spec.width);
	if (!nn_finite(made, N * width))
		die_not_finite(model);
	nn_download(emb, made, N * width * sizeof *emb);
}

void
model_watch(struct model *model,
    void (*see)(void *context, const struct model_sight *sight), void *context)
{
	model->see = see;
	model->see_context = context;
}
