/* A batch through the model: forward, keeping what the backward needs or not, and backward. */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/balance.h"
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
	int known = model->table_rows.count ? model->table_rows.count : spec->vocabulary;

	if (spec->experts && (batch->expert < 0 || batch->expert >= spec->experts))
		return mem_format("%s has task experts, and none was chosen", model->dir);
	for (int64_t i = 0; i < batch->sequences; i++) {
		int64_t length = batch->starts[i + 1] - batch->starts[i];
		if (length < 1 && spec->layers && !batch->empty)
			return mem_format(
			    "text %lld has no tokens", (long long)(first + i));
		if (length > spec->positions)
			return mem_format(
			    "text %lld has %lld tokens, more than the %d that %s takes; truncate it (tok --max-length)",
			    (long long)(first + i), (long long)length, spec->positions,
			    model->dir);
		for (int32_t t = batch->starts[i]; t < batch->starts[i + 1]; t++)
			if (batch->ids[t] < 0 || batch->ids[t] >= known)
				return mem_format(
				    "text %lld: the token id %d is not below the vocabulary of %s, %d; is it another model's tokenizer?",
				    (long long)(first + i), (int)batch->ids[t],
				    model->dir, known);
	}
	return NULL;
}

/* Forward. ------------------------------------------------------------------------ */

/* Forgetting, one state serves all blocks, and everything happens in place. */
static struct block_state *
state_of(const struct pass *pass, int layer)
{
	return &pass->states[pass->keep ? layer : 0];
}

static void
layout(struct pass *pass, const struct model *model, const struct batch *batch,
    size_t predicted)
{
	struct workspace *w = &pass->workspace;
	const struct spec *spec = &model->spec;
	size_t T = (size_t)batch->tokens, C = (size_t)spec->width;
	bool keep = pass->keep;

	pass_layout_batch(pass, model, batch);
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
	for (int layer = 0; layer < (keep || !spec->layers ? spec->layers : 1); layer++) {
		block_layout(state_of(pass, layer), w, spec, layer, T, x,
		    keep ? 0 : pass_worker_tokens(model));
		x = state_of(pass, layer)->out;
	}
	if (!keep && model->see && spec->mixture.count)
		pass->states->router =
		    workspace_floats(w, T, (size_t)spec->mixture.count);
	pass->last = x;
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

static struct model_seen
seen_at(
    const struct model *model, const struct pass *pass, const float *hidden, int layer)
{
	return (struct model_seen){ .layer = layer,
		.C = (size_t)model->spec.width,
		.E = (size_t)model->spec.mixture.count,
		.sequences = pass->block.sequences,
		.hidden = hidden,
		.skip = pass->skip };
}

/* Let who chooses gates see what enters a block; those of this batch are the chosen ones from there on. */
static void
choose_gates(const struct model *model, struct pass *pass, const struct batch *batch,
    const float *hidden, int layer)
{
	if (!model->choose || pass->keep || layer != model->choose_layer)
		return;
	struct model_seen seen = seen_at(model, pass, hidden, layer);
	int32_t *gates = mem_new(seen.sequences.N, sizeof *gates);
	model->choose(model->choose_context, &seen, gates);
	pass_find_stretches(pass, batch, gates);
	pass->block.gates = pass->gates;
	free(gates);
}

/* Let the watcher see the hidden states after `layer` blocks. */
static void
show(const struct model *model, const struct pass *pass, const float *hidden, int layer)
{
	const struct spec *spec = &model->spec;

	if (!model->see || pass->keep)
		return;
	struct model_seen seen = seen_at(model, pass, hidden, layer);
	if (layer > 0 && spec->layer[layer - 1].mixture) {
		seen.logits = pass->states->router;
		seen.routing = pass->states->mixture.p;
	}
	model->see(model->see_context, &seen);
}

size_t
pass_worker_tokens(const struct model *model)
{
	return nn_worker_tokens(model->packed ? packed_kind(model->packed) : DTYPE_F32);
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
		    (struct pass){ .states = mem_zero((size_t)model->spec.layers,
				       sizeof *model->passes->states) };
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
	pass_upload_batch(pass, model, batch);
}

/* Passes of these batches, beside each other; the first is at work. */
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

/* What the blocks read. */
static void
embed(const struct model *model, const struct pass *pass)
{
	const struct spec *spec = &model->spec;
	const struct nn_matrix *stem = model->stem;
	size_t T = pass->block.sequences.T, C = (size_t)spec->width;
	size_t E = (size_t)spec_embedding_width(spec);

	loras_embed(model, pass);
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
	if (spec->embedding_width)
		nn_linear(pass->x0, C, pass->embedded, E, stem[STEM_PROJECT],
		    stem[STEM_PROJECT_BIAS].at, T, E, C);
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
	for (int layer = 0; layer < spec->layers; layer++) {
		size_t index = model_block_index(model, layer, batch->expert);
		show(model, pass, x, layer);
		choose_gates(model, pass, batch, x, layer);
		if (spec->distance.each)
			distance_forward(&pass->distance, spec,
			    model->blocks[index].at[BLOCK_DISTANCE],
			    &pass->block.sequences);
		block_forward(spec, layer, &model->blocks[index], &pass->block,
		    state_of(pass, layer));
		x = state_of(pass, layer)->out;
		if (model->balance && spec->layer[layer].mixture)
			balance_count(
			    model->balance, batch, &state_of(pass, layer)->mixture);
	}
	if (spec->prenorm)
		nn_norm(pass->last, NULL, pass->stats_last, x, NULL,
		    stem[STEM_FINAL_NORM].at, stem[STEM_FINAL_NORM_BIAS].at,
		    spec->norm_eps, spec->norm, pass->block.sequences.T, C);
	show(model, pass, pass->last, spec->layers);
	return pass->last;
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

	return head_forward(&model->head, &pass->head, x, &pass->block.sequences,
	    pass->skip, (size_t)model->spec.width);
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
    void (*choose)(void *context, const struct model_seen *seen, int32_t *gates),
    void *context)
{
	gates_demand_from(model, layer);
	model->choose = choose;
	model->choose_context = context;
	model->choose_layer = layer;
}

void
model_balance(struct model *model, struct balance *balance)
{
	model->balance = balance;
}

/* Backward. ----------------------------------------------------------------------- */

/* From the gradient of what the first block read. */
static void
embed_back(const struct model *model, const struct pass *pass)
{
	const struct spec *spec = &model->spec;
	const struct nn_sequences *sequences = &pass->block.sequences;
	float *const *g = model->dstem, *d = pass->d;
	size_t T = sequences->T, C = (size_t)spec->width;
	size_t E = (size_t)spec_embedding_width(spec);

	if (spec->embedding_width) {
		d = pass->dembedded;
		nn_linear_back(d, false, g[STEM_PROJECT], g[STEM_PROJECT_BIAS], pass->d,
		    C, pass->embedded, E, model->stem[STEM_PROJECT], T, E, C);
	}
	if (spec->embedding_norm)
		nn_norm_back(d, g[STEM_NORM], g[STEM_NORM_BIAS], d, pass->sum0,
		    pass->stats0, model->stem[STEM_NORM].at, spec->norm, T, E);
	if (spec->embedding_scale != 0)
		nn_scale(d, spec->embedding_scale, T * E);
	nn_embed_back(
	    g[STEM_TOKENS], g[STEM_TYPES], g[STEM_POSITIONS], d, pass->ids, sequences, E);
	if (g[STEM_TASKS])
		nn_embed_back(NULL, g[STEM_TASKS], NULL, d, pass->ids, sequences, E);
}

/* The biases of a block that has a table of its own, and no gradients of them yet. */
static void
begin_distance(const struct model *model, const struct pass *pass, size_t index)
{
	distance_forward(&pass->distance, &model->spec,
	    model->blocks[index].at[BLOCK_DISTANCE], &pass->block.sequences);
	distance_clear(&pass->distance, &model->spec, pass->block.sequences.T);
}

void
pass_backward(
    struct model *model, const struct batch *batch, const struct model_whole *whole)
{
	const struct spec *spec = &model->spec;
	struct pass *pass = model->pass;
	float *const *g = model->dstem;
	size_t C = (size_t)spec->width;

	pass->block.push =
	    (struct mixture_push){ model->balance ? balance_slopes(model->balance) : NULL,
		    pass->sides };
	if (!spec->distance.each)
		distance_clear(&pass->distance, spec, pass->block.sequences.T);
	if (spec->prenorm)
		nn_norm_back(pass->d, g[STEM_FINAL_NORM], g[STEM_FINAL_NORM_BIAS],
		    pass->d, pass->states[spec->layers - 1].out, pass->stats_last,
		    model->stem[STEM_FINAL_NORM].at, spec->norm, pass->block.sequences.T,
		    C);
	for (int layer = spec->layers - 1; layer >= 0; layer--) {
		size_t index = model_block_index(model, layer, batch->expert);
		if (spec->distance.each)
			begin_distance(model, pass, index);
		block_backward(spec, layer, &model->blocks[index], &model->dblocks[index],
		    &pass->block, &pass->states[layer], &pass->scratch, pass->d);
		if (spec->distance.each)
			distance_backward(&pass->distance, spec,
			    model->dblocks[index].at[BLOCK_DISTANCE],
			    &pass->block.sequences);
		if (whole)
			whole->tell(whole->context, layer);
	}
	embed_back(model, pass);
	if (!spec->distance.each)
		distance_backward(
		    &pass->distance, spec, g[STEM_DISTANCE], &pass->block.sequences);
	if (batch->expert >= 0)
		model->reached[batch->expert] = true;
	if (whole)
		whole->tell(whole->context, -1);
	pass->batch = NULL;
}

void
model_backward(struct model *model, const struct batch *batch, const float *demb,
    const struct model_whole *whole)
{
	size_t i = 0;

	while (i < model->passes_room && model->passes[i].batch != batch)
		i++;
	if (i == model->passes_room)
		die("%s: a backward pass without its forward pass", model->dir);
	struct pass *pass = model->pass = &model->passes[i];
	head_backward(&model->head, &pass->head, pass->d, demb, pass->last,
	    &pass->block.sequences, pass->skip, (size_t)model->spec.width);
	pass_backward(model, batch, whole);
}

void
pass_free(struct model *model)
{
	for (size_t i = 0; i < model->passes_room; i++) {
		free(model->passes[i].states);
		free(model->passes[i].stretches);
		workspace_free(&model->passes[i].workspace);
	}
	free(model->passes);
}
