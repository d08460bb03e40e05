/* A batch as the kernels take it: laid out in the workspace of a pass, and brought there. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/model_internal.h"

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
void
pass_find_stretches(struct pass *pass, const struct batch *batch, const int32_t *gates)
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
		pass_find_stretches(pass, batch, batch->gates);
	if (chosen || pass->gates.count)
		linear_layout(&pass->gates, &pass->workspace, (size_t)batch->tokens,
		    model->gates->rank, model->gates->width, dropout_of(model, batch));
}

void
pass_layout_batch(struct pass *pass, const struct model *model, const struct batch *batch)
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
	    (size_t)longest(batch),
	    pass->keep &&
		(model->dstem[STEM_DISTANCE] ||
		    (model->spec.distance.each && model->dblocks[0].at[BLOCK_DISTANCE])));
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

void
pass_upload_batch(struct pass *pass, const struct model *model, const struct batch *batch)
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
