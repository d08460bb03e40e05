/* The forward pass: from a batch to its last hidden states and embeddings. */
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/adapters.h"
#include "model/task_loras.h"
#include "model/balance.h"
#include "model/block_bf16.h"
#include "model/latents.h"
#include "model/model_struct.h"
#include "model/pass.h"
#include "model/pooled.h"

static struct model_seen
seen_at(
    const struct model *model, const struct pass *pass, const float *hidden, int layer)
{
	return (struct model_seen){ .layer = layer,
		.C = (size_t)model->spec.width,
		.E = (size_t)model->spec.mixture.count,
		.sequences = pass->block.sequences,
		.ids = pass->ids,
		.hidden = hidden,
		.skip = pass->skip };
}

/* Calls model->choose with the hidden states that enter its block; from this block on the batch has the adapters that it chose. */
static void
choose_adapters(const struct model *model, struct pass *pass, const struct batch *batch,
    const float *hidden, int layer)
{
	if (!model->choose || pass->keep || layer != model->choose_layer)
		return;
	struct model_seen seen = seen_at(model, pass, hidden, layer);
	int32_t *adapters = mem_new(seen.sequences.N, sizeof *adapters);
	model->choose(model->choose_context, &seen, adapters);
	pass_find_segments(pass, batch, adapters);
	pass->block.adapters = pass->adapters;
	free(adapters);
}

/* Shows model_watch's callback the hidden states after `layer` blocks. */
static void
show(const struct model *model, const struct pass *pass, const float *hidden, int layer)
{
	const struct spec *spec = &model->spec;

	if (!model->see || pass->keep)
		return;
	struct model_seen seen = seen_at(model, pass, hidden, layer);
	if (layer > 0 && spec->layer[layer - 1].mixture) {
		seen.logits = pass->buffers.router;
		seen.routing = pass->buffers.mixture.p;
	}
	if (layer > 0 && spec->neuron_experts)
		seen.energy = pass->buffers.energy;
	model->see(model->see_context, &seen);
}

/* x0[T,C]: the sum of the embeddings, scaled, normed and projected as the model has it. */
static void
embed(const struct model *model, const struct pass *pass)
{
	const struct spec *spec = &model->spec;
	const struct nn_matrix *stem = model->stem;
	size_t T = pass->block.sequences.T, C = (size_t)spec->width;
	size_t E = (size_t)spec_embedding_width(spec);

	task_loras_embed(model, pass);
	if (stem[STEM_TASKS].at)
		nn_add_row(pass->sum0, stem[STEM_TASKS].at, T, E);
	if (pass->counts)
		nn_scale_rows(pass->sum0, pass->counts, T, E);
	if (spec->embedding_scale != 0)
		nn_scale(pass->sum0, spec->embedding_scale, T * E);
	if (spec->embedding_norm)
		nn_norm(pass->embedded, NULL, pass->stats0, pass->sum0, NULL,
		    stem[STEM_NORM].at, stem[STEM_NORM_BIAS].at, spec->norm_eps,
		    spec->norm, T, E);
	dropout_rows(
	    &pass->dropout, spec, SPEC_DROP_EMBEDDINGS, -1, pass->embedded, 0, T, E);
	if (spec->embedding_width)
		nn_linear(pass->x0, C, pass->embedded, E, stem[STEM_PROJECT],
		    stem[STEM_PROJECT_BIAS].at, T, E, C);
	if (spec->layer_embedding && !pass->keep)
		nn_copy(pass->buffers.embedded, pass->x0, T * C);
}

/* Inference through a block, the last one's output of the pooled tokens alone. */
static const float *
infer_block(const struct model *model, struct pass *pass, const struct batch *batch,
    int layer, const struct block_weights *weights)
{
	bool last = layer == model->spec.layers - 1;
	struct block_pooled *pooled = last && pass->pooled.tokens ? &pass->pooled : NULL;

	if (pooled)
		pooled_find_segments(pass, batch);
	block_infer(&model->spec, layer, weights, &pass->block, &pass->buffers, pooled);
	return pooled ? pooled->x : pass->buffers.x;
}

/* Hidden states [T,C] through a block with the weights blocks[index]; returns its output. */
static const float *
run_block(const struct model *model, struct pass *pass, const struct batch *batch,
    int layer, size_t index)
{
	const struct block_weights *weights = &model->blocks[index];

	if (!pass->keep)
		return infer_block(model, pass, batch, layer, weights);
	block_forward(
	    &model->spec, layer, weights, &pass->block, &pass->activations[layer]);
	return pass->activations[layer].out;
}

/* The kernels that keep the activations of all blocks in bf16; NULL: some block cannot, or a callback needs f32 between blocks. */
static const struct nn_bf16 *
bf16_kernels(
    const struct model *model, const struct pass *pass, const struct batch *batch)
{
	const struct spec *spec = &model->spec;
	const struct nn_bf16 *kernels = nn_bf16();

	if (!kernels || pass->keep || model->see || model->choose ||
	    pass->adapters.count || pass->adapters.watch)
		return NULL;
	for (int layer = 0; layer < spec->layers; layer++) {
		size_t index = model_block_index(model, layer, batch->expert);
		if (!block_bf16_fits(kernels, spec, layer, &model->blocks[index]))
			return NULL;
	}
	return kernels;
}

/* The bias of scores in a block that has its own. */
static void
find_bias(const struct model *model, const struct pass *pass, size_t index)
{
	if (model->spec.distance.each)
		distance_forward(&pass->distance, &model->spec,
		    model->blocks[index].at[BLOCK_DISTANCE], &pass->block.sequences);
}

static void
run_blocks_bf16(const struct nn_bf16 *kernels, const struct model *model,
    const struct pass *pass, const struct batch *batch)
{
	for (int layer = 0; layer < model->spec.layers; layer++) {
		size_t index = model_block_index(model, layer, batch->expert);
		find_bias(model, pass, index);
		block_bf16_infer(kernels, &model->spec, layer, &model->blocks[index],
		    &pass->block, &pass->buffers);
	}
}

/* The sequences of the last hidden states. */
static const struct nn_sequences *
last_sequences(const struct pass *pass)
{
	return pass->pooled.tokens ? &pass->pooled.batch.sequences
				   : &pass->block.sequences;
}

static const float *
run_forward(const struct model *model, struct pass *pass, const struct batch *batch)
{
	const struct spec *spec = &model->spec;
	const struct nn_matrix *stem = model->stem;
	size_t C = (size_t)spec->width;
	const float *x = pass->x0;

	embed(model, pass);
	if (!spec->distance.each)
		distance_forward(
		    &pass->distance, spec, stem[STEM_DISTANCE], &pass->block.sequences);
	const struct nn_bf16 *kernels = bf16_kernels(model, pass, batch);
	if (kernels)
		run_blocks_bf16(kernels, model, pass, batch);
	for (int layer = 0; !kernels && layer < spec->layers; layer++) {
		size_t index = model_block_index(model, layer, batch->expert);
		show(model, pass, x, layer);
		choose_adapters(model, pass, batch, x, layer);
		find_bias(model, pass, index);
		x = run_block(model, pass, batch, layer, index);
		if (model->balance && spec->layer[layer].mixture)
			balance_count(model->balance, batch,
			    pass->keep ? &pass->activations[layer].mixture
				       : &pass->buffers.mixture);
	}
	if (spec->prenorm)
		nn_norm(pass->last, NULL, pass->stats_last, x, NULL,
		    stem[STEM_FINAL_NORM].at, stem[STEM_FINAL_NORM_BIAS].at,
		    spec->norm_eps, spec->norm, last_sequences(pass)->T, C);
	show(model, pass, pass->last, spec->layers);
	if (model->latents)
		latents_forward(model, pass->last, last_sequences(pass)->T);
	return pass->last;
}

/* Prepares a pass for each batch; model->pass is the first. */
static void
prepare(struct model *model, const struct batch *batches, size_t count, bool keep,
    size_t predicted)
{
	if (keep && !model->gradients)
		die("%s: was opened to encode, not to train", model->dir);
	for (size_t i = 0; i < count; i++)
		pass_need(model, batches[i].expert, count);
	for (size_t i = 0; i < model->passes_room; i++) {
		model->passes[i].keep = keep;
		model->passes[i].batch = keep && i < count ? &batches[i] : NULL;
	}
	for (size_t i = 0; i < count; i++)
		pass_prepare(&model->passes[i], model, &batches[i], predicted);
}

const float *
pass_forward(struct model *model, const struct batch *batch, bool keep, size_t predicted)
{
	prepare(model, batch, 1, keep, predicted);
	return run_forward(model, model->pass, batch);
}

float *
pass_embed(const struct model *model, struct pass *pass, const struct batch *batch)
{
	const float *x = run_forward(model, pass, batch);

	return head_forward(&model->head, &pass->head, x, last_sequences(pass),
	    pass->pooled.tokens ? NULL : pass->skip, (size_t)model->spec.width);
}

const float *
model_forward(struct model *model, const struct batch *batch)
{
	prepare(model, batch, 1, true, 0);
	return pass_embed(model, model->pass, batch);
}

void
model_forward_all(struct model *model, const struct batch *batches, size_t count,
    const float **embeddings)
{
	prepare(model, batches, count, true, 0);
	for (size_t i = 0; i < count; i++)
		embeddings[i] = pass_embed(model, &model->passes[i], &batches[i]);
}

void
model_watch(struct model *model,
    void (*see)(void *context, const struct model_seen *seen), void *context)
{
	model->see = see;
	model->see_context = context;
}

void
model_choose(struct model *model, int layer,
    void (*choose)(void *context, const struct model_seen *seen, int32_t *adapters),
    void *context)
{
	adapters_demand_from(model, layer);
	model->choose = choose;
	model->choose_context = context;
	model->choose_layer = layer;
}

void
model_balance(struct model *model, struct balance *balance)
{
	model->balance = balance;
}
