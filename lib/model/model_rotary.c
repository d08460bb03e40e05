/* Rotary frequencies: one table a kind of layer, and those of single long sequences. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/model_internal.h"

static size_t
half_of(const struct model *model)
{
	return (size_t)(model->spec.head_size / 2);
}

static void
fill(const struct model *model, float *to, double base, double divisor)
{
	size_t half = half_of(model);

	for (size_t i = 0; i < half; i++)
		to[i] = (float)(pow(base, -(double)i / (double)half) / divisor);
}

void
model_rotary_open(struct model *model)
{
	size_t half = half_of(model);
	float *host = mem_new(half + 1, sizeof *host);

	for (int i = 0; i < model->spec.rotaries; i++) {
		const struct spec_rotary *rotary = &model->spec.rotary[i];
		fill(model, host, rotary->base, rotary->divisor);
		model->inverse[i] = nn_alloc(half * sizeof *host);
		nn_upload(model->inverse[i], host, half * sizeof *host);
	}
	free(host);
}

void
model_rotary_close(struct model *model)
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

float *
model_rotary_layout(struct model *model, int which, const struct batch *batch)
{
	const struct spec_rotary *rotary = &model->spec.rotary[which];

	if (which >= model->spec.rotaries || rotary->factor == 0 ||
	    longest(batch) <= rotary->trained)
		return NULL;
	return workspace_floats(
	    &model->workspace, (size_t)batch->sequences, half_of(model));
}

void
model_rotary_upload(
    const struct model *model, int which, float *own, const struct batch *batch)
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
		fill(model, host + i * half,
		    over > 1 ? rotary->base * pow(grown, D / (D - 2)) : rotary->base,
		    rotary->divisor);
	}
	nn_upload(own, host, N * half * sizeof *host);
	free(host);
}
