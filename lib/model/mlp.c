#include "model/mlp.h"

static struct linear
layer(const struct mlp *mlp, enum mlp_parameter which)
{
	float *const *g = mlp->gradients;
	bool down = which == MLP_DOWN;

	return (struct linear){ .w = mlp->at[which],
		.bias = mlp->at[which + 1].at,
		.dw = g ? g[which] : NULL,
		.db = g ? g[which + 1] : NULL,
		.gates = mlp->gates[which],
		.C = down ? mlp->I : mlp->C,
		.O = down ? mlp->C : mlp->I };
}

void
mlp_inner_again(
    const struct mlp *mlp, float *inner, const float *up, const float *gate, size_t T)
{
	if (mlp->gated)
		nn_gate(inner, up, gate, mlp->I, mlp->act, T, mlp->I);
	else
		nn_activate(inner, up, mlp->act, T * mlp->I);
}

void
mlp_inner(
    const struct mlp *mlp, float *inner, float *up, float *gate, const float *y, size_t T)
{
	struct linear to_up = layer(mlp, MLP_UP), to_gate = layer(mlp, MLP_GATE);
	size_t C = mlp->C, I = mlp->I;

	/* nobody asks for what was before act */
	if (!mlp->gated && inner == up && !linear_busy(&to_up, &mlp->rows)) {
		nn_linear_activate(
		    inner, I, y, C, to_up.w, to_up.bias, mlp->act, T, C, I);
		return;
	}
	linear_forward(&to_up, &mlp->rows, up, I, y, C, T);
	if (mlp->gated)
		linear_forward(&to_gate, &mlp->rows, gate, I, y, C, T);
	mlp_inner_again(mlp, inner, up, gate, T);
}

void
mlp_out(const struct mlp *mlp, float *out, const float *inner, size_t T)
{
	struct linear down = layer(mlp, MLP_DOWN);
	size_t C = mlp->C, I = mlp->I;

	/* the backward of a linear layer from C to I is the product with a turned matrix */
	if (mlp->turned && !down.w.packed)
		nn_linear_back(
		    out, false, NULL, NULL, inner, I, NULL, C, down.w, T, C, I);
	else
		linear_forward(&down, &mlp->rows, out, C, inner, I, T);
}

void
mlp_out_back(const struct mlp *mlp, float *dinner, const float *dout, size_t T)
{
	struct linear down = layer(mlp, MLP_DOWN);
	size_t C = mlp->C, I = mlp->I;

	down.dw = down.db = NULL;
	if (mlp->turned)
		nn_linear(dinner, I, dout, C, down.w, NULL, T, C, I);
	else
		linear_back(&down, &mlp->rows, dinner, false, dout, C, NULL, I, T);
}

void
mlp_out_gradients(const struct mlp *mlp, const float *dout, const float *inner, size_t T)
{
	struct linear down = layer(mlp, MLP_DOWN);
	size_t C = mlp->C, I = mlp->I;

	if (mlp->turned)
		nn_linear_back(
		    NULL, false, down.dw, NULL, inner, I, dout, C, down.w, T, C, I);
	else
		linear_back(&down, &mlp->rows, NULL, false, dout, C, inner, I, T);
}

void
mlp_inner_back(const struct mlp *mlp, float *dy, bool add, float *dinner, float *up,
    float *gate, const float *y, size_t T)
{
	struct linear to_up = layer(mlp, MLP_UP), to_gate = layer(mlp, MLP_GATE);
	float *dup = mlp->gated ? up : dinner;
	size_t C = mlp->C, I = mlp->I;

	if (mlp->gated) {
		nn_gate_back(up, gate, dinner, up, gate, I, mlp->act, T, I);
		linear_back(&to_gate, &mlp->rows, dy, add, gate, I, y, C, T);
	} else {
		nn_activate_back(dup, dup, up, mlp->act, T * I);
	}
	linear_back(&to_up, &mlp->rows, dy, add || mlp->gated, dup, I, y, C, T);
}
