#include "model/rotary.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/model_struct.h"

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

float *
rotary_layout(const struct model *model, struct workspace *workspace, int which,
    const struct batch *batch)
{
	const struct spec_rotary *rotary = &model->spec.rotary[which];

	if (which >= model->spec.rotaries || rotary->factor == 0 ||
	    batch_longest(batch) <= rotary->trained)
		return NULL;
	return workspace_floats(workspace, (size_t)batch->sequences, half_of(model));
}

struct block_rotary
rotary_upload(const struct model *model, int which, float *own, const struct batch *batch)
{
	const struct spec_rotary *rotary = &model->spec.rotary[which];
	size_t half = half_of(model), N = (size_t)batch->sequences;
	double D = model->spec.head_size;

	if (!own)
		return (struct block_rotary){ model->inverse[which], 0 };
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
	return (struct block_rotary){ own, half };
}
