/* The backward pass: from the gradient of embeddings or last hidden states to every parameter. */
#include "base/err.h"
#include "model/balance.h"
#include "model/model_struct.h"
#include "model/pass.h"

/* From pass->d, the gradient of x0, to the parameters before the blocks. */
static void
stem_back(const struct model *model, const struct pass *pass)
{
	const struct spec *spec = &model->spec;
	const struct nn_sequences *sequences = &pass->block.sequences;
	float *const *g = model->dstem, *d = pass->d;
	size_t T = sequences->T, C = (size_t)spec->width;
	size_t E = (size_t)spec_embedding_width(spec);

	if (spec->layer_embedding)
		nn_add(d, pass->scratch.dembedded, T * C);
	if (spec->embedding_width) {
		d = pass->dembedded;
		nn_linear_back(d, false, g[STEM_PROJECT], g[STEM_PROJECT_BIAS], pass->d,
		    C, pass->embedded, E, model->stem[STEM_PROJECT], T, E, C);
	}
	dropout_rows(&pass->dropout, spec, SPEC_DROP_EMBEDDINGS, -1, d, 0, T, E);
	if (spec->embedding_norm)
		nn_norm_back(d, g[STEM_NORM], g[STEM_NORM_BIAS], d, pass->sum0,
		    pass->stats0, model->stem[STEM_NORM].at, spec->norm, T, E);
	if (spec->embedding_scale != 0)
		nn_scale(d, spec->embedding_scale, T * E);
	nn_embed_back(
	    g[STEM_TOKENS], g[STEM_TYPES], g[STEM_POSITIONS], d, pass->ids, sequences, E);
	if (g[STEM_TASKS]) {
		struct nn_sequences first = *sequences;
		first.types = NULL; /* each token has the first task, whatever its type */
		nn_embed_back(NULL, g[STEM_TASKS], NULL, d, pass->ids, &first, E);
	}
	if (!spec->distance.each)
		distance_backward(&pass->distance, spec, g[STEM_DISTANCE], sequences);
}

static void
layer_back(const struct model *model, const struct pass *pass, int layer, int expert)
{
	const struct spec *spec = &model->spec;
	size_t index = model_block_index(model, layer, expert);

	if (spec->distance.each) {
		distance_forward(&pass->distance, spec,
		    model->blocks[index].at[BLOCK_DISTANCE], &pass->block.sequences);
		distance_clear(&pass->distance, spec, pass->block.sequences.T);
	}
	block_backward(spec, layer, &model->blocks[index], &model->dblocks[index],
	    &pass->block, &pass->activations[layer], &pass->scratch, pass->d);
	if (spec->distance.each)
		distance_backward(&pass->distance, spec,
		    model->dblocks[index].at[BLOCK_DISTANCE], &pass->block.sequences);
}

void
pass_backward(
    struct model *model, const struct batch *batch, const struct model_whole *whole)
{
	const struct spec *spec = &model->spec;
	struct pass *pass = model->pass;
	float *const *g = model->dstem;
	size_t C = (size_t)spec->width;

	pass->block.balance = (struct mixture_balance){
		model->balance ? balance_gradients(model->balance) : NULL, pass->sides
	};
	if (!spec->distance.each)
		distance_clear(&pass->distance, spec, pass->block.sequences.T);
	if (spec->prenorm)
		nn_norm_back(pass->d, g[STEM_FINAL_NORM], g[STEM_FINAL_NORM_BIAS],
		    pass->d, pass->activations[spec->layers - 1].out, pass->stats_last,
		    model->stem[STEM_FINAL_NORM].at, spec->norm, pass->block.sequences.T,
		    C);
	if (spec->layer_embedding)
		nn_zero(pass->scratch.dembedded, pass->block.sequences.T * C);
	for (int layer = spec->layers - 1; layer >= 0; layer--) {
		if (layer >= model->first_learning)
			layer_back(model, pass, layer, batch->expert);
		if (whole)
			whole->tell(whole->context, layer);
	}
	if (model->first_learning < 0)
		stem_back(model, pass);
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
