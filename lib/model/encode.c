/* Batches to embeddings, in parts that threads take one after another: a part's activations stay in one processor's cache, and
 * threads do not wait for each other at every layer. */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/adapters.h"
#include "model/model_struct.h"
#include "model/packed_weights.h"
#include "model/pass.h"
#include "model/quantized_weights.h"

/* Tokens of the smallest part: each part reads all weights. */
enum { SMALL = 128 };

struct encoding {
	struct model *model;
	struct batch *parts; /* [count], borrowed from the batch, but for starts */
	int64_t *ends;	     /* [count], the text after each part */
	size_t count, texts;
	float *emb;
	bool stays;			/* emb is nn memory */
	struct nn_transfer **transfers; /* [count], unless it stays */
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
		const struct safetensor *stored = weights->stored[i];
		bool copied = false;
		const float *x =
		    model->mode == MODEL_ENCODE
			? nn_weights(stored->data, stored->dtype, p->count, &copied)
			: model->values + p->offset;
		if (!nn_finite(x, p->count))
			die("%s: tensor '%s' holds values that are not finite (NaN or infinity)",
			    name, p->name);
		if (copied)
			nn_free((void *)x, p->count * sizeof *x);
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

/* The end of the part that begins with text `first`: at most `size` tokens, at least one text. */
static int64_t
part_end(const struct batch *batch, int64_t first, int64_t size)
{
	int64_t end = first + 1;

	while (end < batch->sequences &&
	       batch->starts[end + 1] - batch->starts[first] <= size)
		end++;
	return end;
}

/* Tokens of the part that begins with text `first`: fewer towards the end, so that all threads are done at the same time; on a
 * device as many as fill it; the whole batch for a callback, which is to see it at once. */
static int64_t
part_size(const struct model *model, const struct batch *batch, int64_t first)
{
	int64_t most = (int64_t)pass_worker_tokens(model);
	int64_t left = batch->tokens - batch->starts[first];
	int64_t size = left / (4 * (int64_t)nn_workers());

	if (model->see || model->choose || model->balance || model->linear_watch)
		return batch->tokens;
	if (nn_device())
		return most;
	return size > most ? most : size < SMALL ? SMALL : size;
}

/* Sets the ends of the batch's parts; returns their number.  Too few for an even share of threads become one, whose kernels use
 * all threads. */
static size_t
cut(int64_t *ends, const struct model *model, const struct batch *batch)
{
	size_t count = 0;

	for (int64_t first = 0; first < batch->sequences; first = ends[count++])
		ends[count] = part_end(batch, first, part_size(model, batch, first));
	if (count < 2 * nn_workers() && !nn_device()) {
		ends[0] = batch->sequences;
		count = batch->sequences > 0;
	}
	return count;
}

static void
encode_part(void *context, size_t worker, size_t i)
{
	const struct encoding *e = context;
	const struct batch *part = &e->parts[i];
	struct pass *pass = &e->model->passes[worker];
	size_t width = (size_t)model_width(e->model);
	size_t n = (size_t)part->sequences * width;

	pass->keep = false;
	pass->batch = NULL;
	pass_prepare(pass, e->model, part, 0);
	const float *made = pass_embed(e->model, pass, part);
	float *to = e->emb + ((size_t)e->ends[i] - (size_t)part->sequences) * width;
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
		.ends = mem_new(texts, sizeof *e->ends),
		.transfers = mem_new(texts, sizeof *e->transfers) };
	e->count = cut(e->ends, model, batch);
	pass_need(model, batch->expert, nn_workers());
	/* a device's kernels read them as they are stored */
	if (e->count > 1 && !nn_device())
		packed_weights_floats(model, batch->expert);
	for (size_t i = 0; i < e->count; i++)
		e->parts[i] = part_of(batch, i ? e->ends[i - 1] : 0, e->ends[i]);
	nn_parallel_for(e->count, encode_part, e);
	for (size_t i = 0; i < e->count; i++)
		free(e->parts[i].starts);
	free(e->parts);
	free(e->ends);
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

	for (size_t i = 0; i < e->count && !e->stays; i++)
		nn_download_end(e->transfers[i]);
	if (!e->stays && !are_finite(e->emb, e->texts * width))
		die_not_finite(e->model);
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
