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
		if (length < 1 && spec->layers)
			return mem_format(
			    "text %lld has no tokens", (long long)(first + i));
		if (length > spec->positions)
			return mem_format(
			    "text %lld has %lld tokens, more than the %d that %s takes; "
			    "truncate it (tok --max-length)",
			    (long long)(first + i), (long long)length, spec->positions,
			    model->dir);
		for (int32_t t = batch->starts[i]; t < batch->starts[i + 1]; t++)
			if (batch->ids[t] < 0 || batch->ids[t] >= known)
				return mem_format(
				    "text %lld: the token id %d is not below the "
				    "vocabulary "
				    "of %s, %d; is it another model's tokenizer?",
				    (long long)(first + i), (int)batch->ids[t],
				    model->dir, known);
	}
	return NULL;
}

/* Rotary frequencies: a table a kind of layer, and of long sequences. ------------- */

static size_t
half_of(const struct model *model)
{
	return (size_t)(model->spec.head_size / 2);
}

static void
frequencies(
    const struct model *model, float *to, const struct spec_rotary *rotary, double base)
{
	size_t half = half_of(model);

	for (size_t i = 0; i < half; i++) {
		double own = rotary->own[i] != 0 ? rotary->own[i] : 1;
		to[i] = (float)(pow(base, -(double)i / (double)half) /
				(rotary->divisor * own));
	}
}

void
rotary_open(struct model *model)
{
	size_t half = half_of(model);
	float *host = mem_new(half + 1, sizeof *host);

	for (int i = 0; i < model->spec.rotaries; i++) {
		const struct spec_rotary *rotary = &model->spec.rotary[i];
		frequencies(model, host, rotary, rotary->base);
		model->inverse[i] = nn_alloc(half * sizeof *host);
		nn_upload(model->inverse[i], host, half * sizeof *host);
	}
	free(host);
}

void
rotary_close(struct model *model)
{
	for (int i = 0; i < model->spec.rotaries; i++)
		nn_free(model->inverse[i], half_of(model) * sizeof(float));
}

static int32_t
longest(const struct batch *batch)
{
	int32_t most = 0;

	for (int64_t i = 0; i < batch->sequences; i++)
		if (batch->starts[i + 1] - batch->starts[i] > most)
			most = batch->starts[i + 1] - batch->starts[i];
	return most;
}

static float *
rotary_layout(const struct model *model, struct workspace *workspace, int which,
    const struct batch *batch)
{
	const struct spec_rotary *rotary = &model->spec.rotary[which];

	if (which >= model->spec.rotaries || rotary->factor == 0 ||
	    longest(batch) <= rotary->trained)
		return NULL;
	return workspace_floats(workspace, (size_t)batch->sequences, half_of(model));
}

static void
rotary_upload(const struct model *model, int which, float *own, const struct batch *batch)
{
	const struct spec_rotary *rotary = &model->spec.rotary[which];
	size_t half = half_of(model), N = (size_t)batch->sequences;
	double D = model->spec.head_size;

	if (!own)
		return;
	float *host = mem_new(mem_multiply(N, half, "rotary positions"), sizeof *host);
	for (size_t i = 0; i < N; i++) {
		double over =
		    (double)(batch->starts[i + 1] - batch->starts[i]) / rotary->trained;
		double grown = rotary->factor * over - (rotary->factor - 1);
		frequencies(model, host + i * half, rotary,
		    over > 1 ? rotary->base * pow(grown, D / (D - 2)) : rotary->base);
	}
	nn_upload(own, host, N * half * sizeof *host);
	free(host);
}

/* The batch. ---------------------------------------------------------------------- */

/* The dropout of a batch: none where nothing says what it is drawn from. */
static double
dropout_of(const struct model *model, const struct batch *batch)
{
	return batch->draws && batch->draws[0] ? model->gates->dropout : 0;
}

/* Tokens up to the end of sequence i go through its gate; those of neighbours together. */
static void
find_stretches(struct pass *pass, const struct batch *batch, const int32_t *gates)
{
	size_t N = (size_t)batch->sequences, count = 0;

	pass->stretches =
	    mem_grow(pass->stretches, &pass->stretches_room, N, sizeof *pass->stretches);
	for (size_t i = 0; i < N; i++) {
		count += !i || gates[i] != gates[i - 1];
		pass->stretches[count - 1] =
		    (struct linear_stretch){ gates[i], (size_t)batch->starts[i + 1] };
	}
	bool some = count > 1 || (count && pass->stretches->gate >= 0);
	pass->gates.count = some ? count : 0;
	pass->gates.stretches = pass->stretches;
}

static void
layout_gates(struct pass *pass, const struct model *model, const struct batch *batch)
{
	bool chosen = model->choose && !pass->keep;

	pass->gates = (struct linear_batch){ .watch = model->linear_watch };
	if (!model->gates)
		return;
	if (!chosen && batch->gates)
		find_stretches(pass, batch, batch->gates);
	if (chosen || pass->gates.count)
		linear_layout(&pass->gates, &pass->workspace, (size_t)batch->tokens,
		    model->gates->rank, model->gates->width, dropout_of(model, batch));
}

static void
layout_batch(struct pass *pass, const struct model *model, const struct batch *batch)
{
	struct workspace *workspace = &pass->workspace;
	size_t N = (size_t)batch->sequences;

	pass->ids =
	    workspace_take(workspace, (size_t)batch->tokens, 1, sizeof *pass->ids);
	pass->starts = workspace_take(workspace, N + 1, 1, sizeof *pass->starts);
	pass->skip =
	    batch->skip ? workspace_take(workspace, N, 1, sizeof *pass->skip) : NULL;
	pass->sides = model->balance ? workspace_take(workspace, (size_t)batch->tokens, 1,
					   sizeof *pass->sides)
				     : NULL;
	pass->places = model->spec.position_first
			   ? workspace_take(workspace, (size_t)batch->tokens, 1,
				 sizeof *pass->places)
			   : NULL;
	pass->counts = model->table_rows.weight
			   ? workspace_floats(workspace, (size_t)batch->tokens, 1)
			   : NULL;
	for (int i = 0; i < SPEC_ROTARIES; i++)
		pass->rotary[i] = rotary_layout(model, workspace, i, batch);
	distance_layout(&pass->distance, workspace, &model->spec, (size_t)batch->tokens,
	    (size_t)longest(batch), pass->keep && model->dstem[STEM_DISTANCE]);
	layout_gates(pass, model, batch);
}

/* The row of each token's position. */
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

/* The keys of dropout: of what is drawn for the sequence, and the position in it. */
static void
upload_keys(const struct pass *pass, const struct batch *batch)
{
	uint64_t *host = mem_new((size_t)batch->tokens, sizeof *host);

	for (int64_t i = 0; i < batch->sequences; i++)
		for (int32_t t = batch->starts[i]; t < batch->starts[i + 1]; t++)
			host[t] = batch->draws[i] + (uint64_t)(t - batch->starts[i]);
	nn_upload((void *)pass->gates.keys, host, (size_t)batch->tokens * sizeof *host);
	free(host);
}

/* The rows that the tokens have in the table, and what they count. */
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
	if (pass->places)
		upload_places(pass, &model->spec, batch);
	if (pass->sides)
		upload_sides(pass, batch);
	if (pass->gates.keys)
		upload_keys(pass, batch);
	pass->block = (struct block_batch){ .sequences = { .starts = pass->starts,
						.N = N,
						.T = (size_t)batch->tokens,
						.longest = (size_t)longest(batch),
						.places = pass->places },
		.bias = pass->distance.bias,
		.dbias = pass->distance.dbias,
		.gates = pass->gates };
	distance_upload(&pass->distance, &model->spec, (size_t)longest(batch));
	for (int i = 0; i < model->spec.rotaries; i++) {
		float *own = pass->rotary[i];
		rotary_upload(model, i, own, batch);
		pass->block.rotary[i] =
		    own ? (struct block_rotary){ own, half_of(model) }
			: (struct block_rotary){ model->inverse[i], 0 };
	}
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

	layout_batch(pass, model, batch);
	float *x = pass->x0 = pass->sum0 = workspace_floats(w, T, C);
	pass->stats0 = pass->stats_last = NULL;
	if (spec->embedding_norm && keep) {
		pass->stats0 = workspace_floats(w, T, 2);
		x = pass->x0 = workspace_floats(w, T, C);
	}
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
	find_stretches(pass, batch, gates);
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
pass_need(struct model *model, size_t count)
{
	size_t had = model->passes_room;

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
	upload_batch(pass, model, batch);
}

/* Passes of these batches, beside each other; the first is at work. */
static void
prepare(struct model *model, const struct batch *batches, size_t count, bool keep,
    size_t predicted)
{
	if (keep && !model->gradients)
		die("%s: was opened to encode, not to train", model->dir);
	pass_need(model, count);
	for (size_t i = 0; i < model->passes_room; i++) {
		model->passes[i].keep = keep;
		model->passes[i].batch = keep && i < count ? &batches[i] : NULL;
	}
	for (size_t i = 0; i < count; i++)
		pass_prepare(&model->passes[i], model, &batches[i], predicted);
}

static const float *
run_forward(const struct model *model, struct pass *pass, const struct batch *batch)
{
	const struct spec *spec = &model->spec;
	const struct nn_matrix *stem = model->stem;
	size_t C = (size_t)spec->width;
	const float *x = pass->x0;

	loras_embed(model, pass);
	if (pass->counts)
		nn_scale_rows(pass->sum0, pass->counts, pass->block.sequences.T, C);
	if (spec->embedding_scale != 0)
		nn_scale(pass->sum0, spec->embedding_scale, pass->block.sequences.T * C);
	distance_forward(
	    &pass->distance, spec, stem[STEM_DISTANCE], &pass->block.sequences);
	if (spec->embedding_norm)
		nn_norm(pass->x0, NULL, pass->stats0, pass->sum0, NULL,
		    stem[STEM_NORM].at, stem[STEM_NORM_BIAS].at, spec->norm_eps,
		    spec->norm, pass->block.sequences.T, C);
	for (int layer = 0; layer < spec->layers; layer++) {
		size_t index = model_block_index(model, layer, batch->expert);
		show(model, pass, x, layer);
		choose_gates(model, pass, batch, x, layer);
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
	distance_clear(&pass->distance, spec, pass->block.sequences.T);
	if (spec->prenorm)
		nn_norm_back(pass->d, g[STEM_FINAL_NORM], g[STEM_FINAL_NORM_BIAS],
		    pass->d, pass->states[spec->layers - 1].out, pass->stats_last,
		    model->stem[STEM_FINAL_NORM].at, spec->norm, pass->block.sequences.T,
		    C);
	for (int layer = spec->layers - 1; layer >= 0; layer--) {
		size_t index = model_block_index(model, layer, batch->expert);
		block_backward(spec, layer, &model->blocks[index], &model->dblocks[index],
		    &pass->block, &pass->states[layer], &pass->scratch, pass->d);
		if (whole)
			whole->tell(whole->context, layer);
	}
	if (spec->embedding_norm)
		nn_norm_back(pass->d, g[STEM_NORM], g[STEM_NORM_BIAS], pass->d,
		    pass->sum0, pass->stats0, model->stem[STEM_NORM].at, spec->norm,
		    pass->block.sequences.T, C);
	if (spec->embedding_scale != 0)
		nn_scale(pass->d, spec->embedding_scale, pass->block.sequences.T * C);
	nn_embed_back(g[STEM_TOKENS], g[STEM_TYPES], g[STEM_POSITIONS], pass->d,
	    pass->ids, &pass->block.sequences, C);
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
