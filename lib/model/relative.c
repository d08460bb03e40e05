#include "model/relative.h"

#include <math.h>

#include "model/linear.h"
#include "model/model_struct.h"

/* An odd function of n.  The reference takes logarithms in single precision, which gives the same rows for tables of 2 to 512
 * buckets and positions to 2,048. */
static int32_t
row_of(const struct spec_relative *relative, ptrdiff_t n)
{
	ptrdiff_t half = relative->rows / 2, middle = half / 2, away = n < 0 ? -n : n;

	if (relative->buckets && away > middle) {
		double part = log((double)away / (double)middle) /
			      log((double)(relative->farthest - 1) / (double)middle);
		away = middle + (ptrdiff_t)ceil(part * (double)(middle - 1));
	}
	ptrdiff_t row = half + (n < 0 ? -away : away);
	return (int32_t)(row < 0 ? 0 : row < 2 * half ? row : 2 * half - 1);
}

void
relative_rows(int32_t *rows, const struct spec_relative *relative, size_t longest)
{
	for (size_t x = 0; x < 2 * longest; x++)
		rows[x] = row_of(relative, (ptrdiff_t)x - (ptrdiff_t)longest);
}

static void
project(const struct model *model, int layer, enum block_parameter which, float *to,
    const float *table)
{
	const struct block_weights *block =
	    &model->blocks[model_block_index(model, layer, -1)];
	size_t C = (size_t)model->spec.width;
	struct linear linear = {
		.w = block->at[which], .bias = block->at[which + 1].at, .C = C, .O = C
	};
	struct linear_batch no_adapters = { 0 };
	struct linear_rows rows = { .batch = &no_adapters };

	linear_forward(
	    &linear, &rows, to, C, table, C, (size_t)model->spec.relative.rows);
}

void
relative_open(struct model *model)
{
	const struct spec *spec = &model->spec;
	size_t R = (size_t)spec->relative.rows, C = (size_t)spec->width;

	if (!R)
		return;
	int tensor = model->weights.stem[STEM_RELATIVE].tensor;
	const struct safetensor *stored = model->weights.stored[tensor];
	float *table = nn_alloc(R * C * sizeof *table);
	tensor_to_f32(table, stored->data, stored->dtype, R * C);
	if (spec->relative.norm)
		nn_norm(table, NULL, NULL, table, NULL,
		    model->stem[STEM_RELATIVE_NORM].at,
		    model->stem[STEM_RELATIVE_NORM_BIAS].at, spec->norm_eps, spec->norm,
		    R, C);
	size_t layers = (size_t)spec->layers;
	model->relative = nn_alloc(layers * 2 * R * C * sizeof *model->relative);
	for (size_t layer = 0; layer < layers; layer++) {
		float *to = model->relative + layer * 2 * R * C;
		project(model, (int)layer, BLOCK_Q, to, table);
		project(model, (int)layer, BLOCK_K, to + R * C, table);
	}
	nn_free(table, R * C * sizeof *table);
}

void
relative_close(struct model *model)
{
	const struct spec *spec = &model->spec;

	nn_free(model->relative, (size_t)spec->layers * 2 * (size_t)spec->relative.rows *
				     (size_t)spec->width * sizeof *model->relative);
}
