#include "model/mixture_bf16.h"

#include "model/mlp.h"

bool
mixture_bf16_fits(const struct nn_bf16 *kernels, const struct spec *spec,
    const struct nn_matrix (*experts)[MLP_PARAMETERS])
{
	static const enum mlp_parameter linear[] = { MLP_UP, MLP_DOWN, MLP_GATE };
	size_t layers = spec->gated ? 3 : 2;

	if (!kernels->experts || spec->mixture.inner % 8)
		return false;
	for (int e = 0; e < spec->mixture.count; e++)
		for (size_t i = 0; i < layers; i++) {
			const struct nn_matrix *w = &experts[e][linear[i]];
			if (!w->packed || w->dtype != DTYPE_BF16)
				return false;
		}
	return true;
}

void
mixture_bf16_forward(const struct nn_bf16 *kernels, const struct spec *spec,
    const struct mixture_weights *weights, uint16_t *out, const uint16_t *y,
    const struct mixture_state *s, size_t T)
{
	size_t C = (size_t)spec->width, I = (size_t)spec->mixture.inner;
	size_t E = (size_t)spec->mixture.count, top = (size_t)spec->mixture.top;
	struct nn_bf16_layer in[SPEC_TOKEN_EXPERTS], down[SPEC_TOKEN_EXPERTS];
	struct nn_bf16_routes to = { s->rows, s->slots, s->weights + T * top,
		weights->bias, top };
	int32_t offsets[SPEC_TOKEN_EXPERTS + 1];

	kernels->linear_f32(s->p, y, weights->router.w, T, C, E);
	mixture_choose(spec, s, s->p, T);
	nn_download(offsets, s->offsets, (E + 1) * sizeof *offsets);
	for (size_t e = 0; e < E; e++) {
		const struct nn_matrix *mlp = weights->experts[e];
		size_t rows = (size_t)(offsets[e + 1] - offsets[e]);
		in[e] = (struct nn_bf16_layer){ mlp[MLP_UP], mlp[MLP_GATE],
			mlp[MLP_UP_BIAS].at, mlp[MLP_GATE_BIAS].at, I, rows };
		down[e] = (struct nn_bf16_layer){ .w = mlp[MLP_DOWN],
			.b = mlp[MLP_DOWN_BIAS].at,
			.O = C,
			.rows = rows };
	}
	kernels->experts(out, y, in, down, E, &to, spec->act, T, C, I);
}
