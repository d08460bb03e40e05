#include "model/rotary.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/model_struct.h"

static size_t
half_of(const struct model *model, int which)
{
	return (size_t)(spec_rotary_size(&model->spec, which) / 2);
}

static void
frequencies(const struct model *model, float *to, int which, double base)
{
	const struct spec_rotary *rotary = &model->spec.rotary[which];
	size_t half = half_of(model, which);

	for (size_t i = 0; i < half; i++) {
		double own = rotary->own[i] != 0 ? rotary->own[i] : 1;
		to[i] = (float)(pow(base, -(double)i / (double)half) /
				(rotary->divisor * own));
	}
}

void
rotary_open(struct model *model)
{
	float host[NN_MAX_HEAD / 2];

	for (int i = 0; i < model->spec.rotaries; i++) {
		size_t half = half_of(model, i);
		frequencies(model, host, i, model->spec.rotary[i].base);
		model->inverse[i] = nn_alloc(half * sizeof *host);
		nn_upload(model->inverse[i], host, half * sizeof *host);
	}
}

void
rotary_close(struct model *model)
{
	for (int i = 0; i < model->spec.rotaries; i++)
		nn_free(model->inverse[i], half_of(model, i) * sizeof(float));
}

float *
rotary_layout(const struct model *model, struct workspace *workspace, int which,
    const struct batch *batch)
{
	const struct spec_rotary *rotary = &model->spec.rotary[which];

	if (which >= model->spec.rotaries || rotary->factor == 0 ||
	    batch_longest(batch) <= rotary->trained)
		return NULL;
	return workspace_floats(
	    workspace, (size_t)batch->sequences, half_of(model, which));
}

struct block_rotary
rotary_upload(const struct model *model, int which, float *own, const struct batch *batch)
{
	const struct spec_rotary *rotary = &model->spec.rotary[which];
	size_t half = half_of(model, which), N = (size_t)batch->sequences;
	double D = spec_rotary_size(&model->spec, which);

	if (!own)
		return (struct block_rotary){ model->inverse[which], 0 };
	float *host = mem_new(mem_multiply(N, half, "rotary positions"), sizeof *host);
	for (size_t i = 0; i < N; i++) {
		double over =
		    (double)(batch->starts[i + 1] - batch->starts[i]) / rotary->trained;
		double grown = rotary->factor * over - (rotary->factor - 1);
		frequencies(model, host + i * half, which,
		    over > 1 ? rotary->base * pow(grown, D / (D - 2)) : rotary->base);
	}
	nn_upload(own, host, N * half * sizeof *host);
	free(host);
	return (struct block_rotary){ own, half };
}
