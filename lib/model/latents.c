#include "model/latents.h"

#include <math.h>

#include "folder/safetensors.h"
#include "model/model_struct.h"

enum { ROWS = 128 }; /* tokens at a time */

/* The epsilon of all norms: torch's default, which config.json cannot change. */
static const float EPSILON = 1e-5F;

static void
norm(const struct model *model, float *y, const float *x, enum stem_parameter weight,
    size_t rows)
{
	nn_norm(y, NULL, NULL, x, NULL, model->stem[weight].at,
	    model->stem[weight + 1].at, EPSILON, NN_LAYERNORM, rows,
	    (size_t)model->spec.width);
}

/* Floats of the keys, or of the values. */
static size_t
size_of(const struct spec_latents *latents)
{
	return (size_t)latents->count * (size_t)latents->heads *
	       (size_t)latents->head_size;
}

/* values[D,L] of a head, from rows[L,D]: the product with attention weights is then one with a matrix of weights. */
static void
turn(float *values, const float *rows, size_t L, size_t D)
{
	for (size_t l = 0; l < L; l++)
		for (size_t d = 0; d < D; d++)
			values[d * L + l] = rows[l * D + d];
}

void
latents_open(struct model *model)
{
	const struct spec_latents *latents = &model->spec.latents;
	size_t L = (size_t)latents->count, D = (size_t)latents->head_size,
	       H = (size_t)latents->heads, C = (size_t)model->spec.width;

	if (!L)
		return;
	int tensor = model->weights.stem[STEM_LATENTS].tensor;
	const struct safetensor *stored = model->weights.stored[tensor];
	float *table = nn_alloc(L * C * sizeof *table);
	float *rows = nn_alloc(L * D * sizeof *rows);
	tensor_to_f32(table, stored->data, stored->dtype, L * C);
	norm(model, table, table, STEM_LATENTS_NORM, L);
	model->latents = nn_alloc(2 * size_of(latents) * sizeof *model->latents);
	for (size_t h = 0; h < H; h++) {
		struct nn_matrix kv = model->stem[STEM_LATENTS_KV];
		float *keys = model->latents + h * L * D;
		nn_linear(keys, D, table, C, nn_matrix_from(kv, h * D, C), NULL, L, C, D);
		nn_linear(
		    rows, D, table, C, nn_matrix_from(kv, (H + h) * D, C), NULL, L, C, D);
		turn(keys + size_of(latents), rows, L, D);
	}
	nn_free(rows, L * D * sizeof *rows);
	nn_free(table, L * C * sizeof *table);
}

void
latents_close(struct model *model)
{
	nn_free(
	    model->latents, 2 * size_of(&model->spec.latents) * sizeof *model->latents);
}

/* Arrays for ROWS tokens, in one allocation. */
struct scratch {
	float *all, *normed, *q, *p, *both, *inner;
	size_t bytes;
};

static struct scratch
scratch_new(const struct spec *spec)
{
	size_t C = (size_t)spec->width, H = (size_t)spec->latents.heads;
	size_t Q = H * (size_t)spec->latents.head_size,
	       P = H * (size_t)spec->latents.count;
	struct scratch made = { .bytes = ROWS * (13 * C + Q + P) * sizeof(float) };

	made.all = made.normed = nn_alloc(made.bytes);
	made.q = made.normed + ROWS * C;
	made.p = made.q + ROWS * Q;
	made.both = made.p + ROWS * P;
	made.inner = made.both + ROWS * 8 * C;
	return made;
}

/* x[T,C] += the attention to the latents. */
static void
attend(const struct model *model, const struct scratch *s, float *x, size_t T)
{
	const struct spec_latents *latents = &model->spec.latents;
	size_t C = (size_t)model->spec.width, L = (size_t)latents->count;
	size_t D = (size_t)latents->head_size, H = (size_t)latents->heads;

	norm(model, s->normed, x, STEM_LATENTS_Q_NORM, T);
	nn_linear(
	    s->q, H * D, s->normed, C, model->stem[STEM_LATENTS_Q], NULL, T, C, H * D);
	for (size_t h = 0; h < H; h++)
		nn_linear(s->p + h * L, H * L, s->q + h * D, H * D,
		    nn_f32(model->latents + h * L * D), NULL, T, D, L);
	nn_scale(s->p, 1 / sqrtf((float)D), T * H * L);
	nn_softmax(s->p, s->p, T * H, L);
	for (size_t h = 0; h < H; h++)
		nn_linear(s->q + h * D, H * D, s->p + h * L, H * L,
		    nn_f32(model->latents + size_of(latents) + h * L * D), NULL, T, L, D);
	nn_linear_add(x, C, s->q, H * D, model->stem[STEM_LATENTS_OUT], T, H * D, C);
}

/* x[T,C] += the MLP. */
static void
transform(const struct model *model, const struct scratch *s, float *x, size_t T)
{
	const struct nn_matrix *stem = model->stem;
	size_t C = (size_t)model->spec.width;

	norm(model, s->normed, x, STEM_LATENTS_MLP_NORM, T);
	nn_linear(s->both, 8 * C, s->normed, C, stem[STEM_LATENTS_UP],
	    stem[STEM_LATENTS_UP_BIAS].at, T, C, 8 * C);
	nn_glu(s->inner, s->both, s->both + 4 * C, 8 * C, NN_GELU, T, 4 * C);
	nn_linear(s->normed, C, s->inner, 4 * C, stem[STEM_LATENTS_DOWN],
	    stem[STEM_LATENTS_DOWN_BIAS].at, T, 4 * C, C);
	nn_add(x, s->normed, T * C);
}

void
latents_forward(const struct model *model, float *x, size_t T)
{
	struct scratch scratch = scratch_new(&model->spec);
	size_t C = (size_t)model->spec.width;

	for (size_t at = 0; at < T; at += ROWS) {
		size_t n = T - at < ROWS ? T - at : ROWS;
		attend(model, &scratch, x + at * C, n);
		transform(model, &scratch, x + at * C, n);
	}
	nn_free(scratch.all, scratch.bytes);
}

void
latents_pool(struct head *head, const struct tree *config)
{
	const struct tree *latents = tree_get(config, "latent_attention_config");

	head->pool[0] = NN_POOL_MEAN;
	head->include_prompt = !tree_boolean(config, "is_mask_instruction", true);
	head->assumed = false;
	head_normalize(head, tree_boolean(latents, "output_normalize", true));
}
