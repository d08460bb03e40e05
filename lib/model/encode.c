/* Batches to embeddings, in parts that threads take one after another: a part's activations stay in one processor's cache, and
 * threads do not wait for each other at every layer. */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/adapters.h"
#include "model/model_struct.h"
#include "model/packed_weights.h"
#include "model/parts.h"
#include "model/pass.h"
#include "model/quantized_weights.h"

struct encoding {
	struct model *model;
	struct parts cut;
	struct batch *parts; /* [cut.count], borrowed from the batch, but for starts */
	size_t texts;
	float *emb;
	bool stays;			/* emb is nn memory */
	struct nn_transfer **transfers; /* [cut.count], unless it stays */
};

static bool
are_finite(const float *x, size_t n)
{
	size_t i = 0;

	while (i < n && isfinite(x[i]))
		i++;
	return i == n;
}

/* Names the tensor that is not finite, or says that numbers overflow. */
_Noreturn static void
die_not_finite(const struct model *model)
{
	const struct weights *weights = &model->weights;
	const char *name = model->file ? safetensors_name(model->file) : model->dir;

	for (int i = 0; i < weights->count; i++) {
		const struct parameter *p = &weights->tensors[i];
		if (model->mode == MODEL_ENCODE)
			weights_demand_finite(name, weights->stored[i], p->name);
		else if (!nn_finite(model->values + p->offset, p->count))
			die("%s: tensor '%s' holds values that are not finite (NaN or infinity)",
			    name, p->name);
	}
	adapters_demand_finite(model);
	const char *kept = model->packed ? packed_weights_file(model->packed)
					 : quantized_weights_file(model->quantized);
	if (kept)
		die("%s: an embedding is not finite though all weights of %s are; remove the file, it may be damaged",
		    kept, name);
	die("%s: an embedding is not finite though all weights are; the numbers overflow",
	    name);
}

/* Texts first..end-1 of a batch; the caller frees starts. */
static struct batch
part_of(const struct batch *batch, int64_t first, int64_t end)
{
	int32_t before = batch->starts[first];
	struct batch part = { .sequences = end - first,
		.tokens = batch->starts[end] - before,
		.ids = batch->ids + before,
		.skip = batch->skip ? batch->skip + first : NULL,
		.second = batch->second ? batch->second + first : NULL,
		.attended = batch->attended ? batch->attended + first : NULL,
		.sides = batch->sides ? batch->sides + first : NULL,
		.adapters = batch->adapters ? batch->adapters + first : NULL,
		.draws = batch->draws ? batch->draws + first : NULL,
		.expert = batch->expert };

	part.starts = mem_new((size_t)part.sequences + 1, sizeof *part.starts);
	for (int64_t i = first; i <= end; i++)
		part.starts[i - first] = batch->starts[i] - before;
	return part;
}

static void
encode_part(void *context, size_t worker, size_t next)
{
	const struct encoding *e = context;
	size_t i = e->cut.order[next];
	const struct batch *part = &e->parts[i];
	struct pass *pass = &e->model->passes[worker];
	size_t width = (size_t)model_width(e->model);
	size_t n = (size_t)part->sequences * width;

	pass->keep = false;
	pass->batch = NULL;
	pass->threads = e->cut.count == 1 && !nn_device() ? e->cut.threads : 1;
	pass_prepare(pass, e->model, part, 0);
	const float *made = pass_embed(e->model, pass, part);
	float *to = e->emb + ((size_t)e->cut.ends[i] - (size_t)part->sequences) * width;
	if (e->stays) {
		nn_copy(to, made, n);
		return;
	}
	e->transfers[i] = nn_download_begin(to, made, n * sizeof *made);
}

static struct encoding *
begin(struct model *model, const struct batch *batch, float *emb, bool stays)
{
	size_t texts = (size_t)batch->sequences;
	struct encoding *e = mem_new(1, sizeof *e);

	*e = (struct encoding){ .model = model,
		.emb = emb,
		.stays = stays,
		.texts = texts,
		.parts = mem_new(texts, sizeof *e->parts),
		.transfers = mem_new(texts, sizeof *e->transfers) };
	e->cut = parts_cut(model, batch);
	pass_need(model, batch->expert, nn_workers());
	/* a device's kernels read stored matrices */
	if (e->cut.count > 1 && !nn_device())
		packed_weights_floats(model, batch->expert);
	for (size_t i = 0; i < e->cut.count; i++)
		e->parts[i] = part_of(batch, i ? e->cut.ends[i - 1] : 0, e->cut.ends[i]);
	size_t all = e->cut.count == 1 ? nn_use_threads(e->cut.threads) : 0;
	nn_parallel_for(e->cut.count, encode_part, e);
	if (all)
		nn_use_threads(all);
	for (size_t i = 0; i < e->cut.count; i++)
		free(e->parts[i].starts);
	free(e->parts);
	return e;
}

struct encoding *
model_encode_begin(struct model *model, const struct batch *batch, float *emb)
{
	return begin(model, batch, emb, false);
}

void
model_encode_end(struct encoding *e)
{
	size_t width = (size_t)model_width(e->model);

	for (size_t i = 0; i < e->cut.count && !e->stays; i++)
		nn_download_end(e->transfers[i]);
	if (!e->stays && !are_finite(e->emb, e->texts * width))
		die_not_finite(e->model);
	parts_free(&e->cut);
	free(e->transfers);
	free(e);
}

void
model_encode(struct model *model, const struct batch *batch, float *emb)
{
	model_encode_end(begin(model, batch, emb, false));
}

void
model_embed(struct model *model, const struct batch *batch, float *emb)
{
	model_encode_end(begin(model, batch, emb, true));
}

void
model_demand_finite(const struct model *model, const float *emb, size_t n)
{
	if (!nn_finite(emb, n))
		die_not_finite(model);
}
