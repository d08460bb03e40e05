/* Parameters as matrices: where each one is in the model's tensors, and its gradient. */
#include "base/mem.h"
#include "model/adapters.h"
#include "model/model_struct.h"
#include "model/packed_weights.h"

size_t
model_block_index(const struct model *model, int layer, int expert)
{
	size_t experts = model->spec.experts ? (size_t)model->spec.experts : 1;

	return (size_t)layer * experts + (size_t)(expert > 0 ? expert : 0);
}

/* A part of a tensor as a matrix; at NULL: there is none. */
static struct nn_matrix
slice_matrix(const struct model *model, const struct tensor_slice *part)
{
	if (part->tensor < 0)
		return (struct nn_matrix){ 0 };
	if (model->mode != MODEL_ENCODE)
		return nn_f32(model->values +
			      model->weights.tensors[part->tensor].offset + part->offset);
	if (!model->data[part->tensor].at) /* of an expert that nothing has come to */
		return (struct nn_matrix){ 0 };
	size_t columns = (size_t)model->weights.tensors[part->tensor].columns;
	columns = columns ? columns : 1;
	return nn_matrix_from(model->data[part->tensor], part->offset / columns, columns);
}

/* Its gradient; NULL: there is none. */
static float *
slice_gradient(const struct model *model, const struct tensor_slice *part)
{
	if (part->tensor < 0 || !model->gradients || model->training ||
	    model->weights.tensors[part->tensor].frozen)
		return NULL;
	return model->gradients + model->weights.tensors[part->tensor].offset +
	       part->offset;
}

static struct linear_pairs
pairs_beside(const struct model *model, const struct tensor_slice *part)
{
	const struct linear_pair *pairs = model->adapters && part->tensor >= 0
					      ? model->adapters->pairs[part->tensor]
					      : NULL;

	if (!pairs)
		return (struct linear_pairs){ 0 };
	return (struct linear_pairs){ pairs,
		part->offset / (size_t)model->weights.tensors[part->tensor].columns };
}

static void
resolve_mixtures(struct model *model)
{
	const struct weights *weights = &model->weights;
	size_t count = (size_t)model->spec.mixture.count;
	size_t layers = (size_t)model->spec.layers;

	if (!model->mixtures) {
		model->mixtures = mem_zero(layers * count, sizeof *model->mixtures);
		model->dmixtures = mem_zero(layers * count, sizeof *model->dmixtures);
		model->mixture_pairs =
		    mem_zero(layers * count, sizeof *model->mixture_pairs);
	}
	for (size_t e = 0; e < layers * count; e++)
		for (int i = 0; i < MLP_PARAMETERS; i++) {
			model->mixtures[e][i] =
			    slice_matrix(model, &weights->mixtures[e][i]);
			model->dmixtures[e][i] =
			    slice_gradient(model, &weights->mixtures[e][i]);
			model->mixture_pairs[e][i] =
			    pairs_beside(model, &weights->mixtures[e][i]);
		}
	for (size_t layer = 0; layer < layers; layer++)
		for (size_t b = model_block_index(model, (int)layer, -1);
		     b < model_block_index(model, (int)layer + 1, -1); b++) {
			model->blocks[b].mixture =
			    (const struct nn_matrix(*)[MLP_PARAMETERS])model->mixtures +
			    layer * count;
			model->blocks[b].mixture_pairs =
			    (const struct linear_pairs(*)[MLP_PARAMETERS])
				model->mixture_pairs +
			    layer * count;
			if (model->gradients)
				model->dblocks[b].mixture =
				    model->dmixtures + layer * count;
		}
}

static void
resolve_modules(struct model *model)
{
	for (int i = 0; i < model->head.count; i++) {
		struct head_module *module = &model->head.modules[i];
		const struct tensor_slice *from = model->dense[i];
		if (!head_tensor_name(module, 0))
			continue;
		module->weight = slice_matrix(model, &from[0]);
		module->bias_values = slice_matrix(model, &from[1]).at;
		module->residual_weight = slice_matrix(model, &from[2]);
		module->dweight = slice_gradient(model, &from[0]);
		module->dbias = slice_gradient(model, &from[1]);
	}
}

/* Whether something of a block learns: a weight, or the pair of an adapter. */
static bool
block_learns(const struct model *model, int layer)
{
	size_t count = (size_t)model->spec.mixture.count, first = (size_t)layer * count;

	for (size_t b = model_block_index(model, layer, -1);
	     b < model_block_index(model, layer + 1, -1); b++)
		for (int i = 0; i < BLOCK_PARAMETERS; i++)
			if (model->dblocks[b].at[i] || model->blocks[b].pairs[i].at)
				return true;
	for (size_t e = first; e < first + count; e++)
		for (int i = 0; i < MLP_PARAMETERS; i++)
			if (model->dmixtures[e][i] || model->mixture_pairs[e][i].at)
				return true;
	return false;
}

static int
find_first_learning(const struct model *model)
{
	int layer = 0;

	for (int i = STEM_TOKENS; i < STEM_FINAL_NORM; i++)
		if (model->dstem[i])
			return -1;
	while (layer < model->spec.layers && !block_learns(model, layer))
		layer++;
	return layer;
}

void
model_resolve(struct model *model)
{
	const struct weights *weights = &model->weights;
	size_t blocks = model_block_index(model, model->spec.layers, -1);

	if (!model->blocks) {
		model->blocks = mem_zero(blocks, sizeof *model->blocks);
		model->dblocks = mem_zero(blocks, sizeof *model->dblocks);
	}
	for (int i = 0; i < STEM_PARAMETERS; i++) {
		model->stem[i] = slice_matrix(model, &weights->stem[i]);
		model->dstem[i] = slice_gradient(model, &weights->stem[i]);
	}
	for (size_t b = 0; b < blocks; b++)
		for (int i = 0; i < BLOCK_PARAMETERS; i++) {
			model->blocks[b].at[i] =
			    slice_matrix(model, &weights->blocks[b][i]);
			model->dblocks[b].at[i] =
			    slice_gradient(model, &weights->blocks[b][i]);
			model->blocks[b].pairs[i] =
			    pairs_beside(model, &weights->blocks[b][i]);
		}
	if (model->spec.mixture.count)
		resolve_mixtures(model);
	resolve_modules(model);
	model->first_learning = find_first_learning(model);
	packed_weights_resolve(model);
}
