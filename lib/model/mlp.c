#include "model/mlp.h"

static const float *
bias(const struct mlp *mlp, enum mlp_parameter of)
{
	return mlp->at[of + 1].at;
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
	size_t C = mlp->C, I = mlp->I;

	if (!mlp->gated && inner == up) { /* nobody asks for what was before act */
		nn_linear_activate(inner, I, y, C, mlp->at[MLP_UP], bias(mlp, MLP_UP),
		    mlp->act, T, C, I);
		return;
	}
	nn_linear(up, I, y, C, mlp->at[MLP_UP], bias(mlp, MLP_UP), T, C, I);
	if (mlp->gated)
		nn_linear(gate, I, y, C, mlp->at[MLP_GATE], bias(mlp, MLP_GATE), T, C, I);
	mlp_inner_again(mlp, inner, up, gate, T);
}

void
mlp_out(const struct mlp *mlp, float *out, const float *inner, size_t T)
{
	struct nn_matrix down = mlp->at[MLP_DOWN];
	size_t C = mlp->C, I = mlp->I;

	/* the backward of a linear layer from C to I is the product with a turned matrix */
	if (mlp->turned)
		nn_linear_back(out, false, NULL, NULL, inner, I, NULL, C, down, T, C, I);
	else
		nn_linear(out, C, inner, I, down, bias(mlp, MLP_DOWN), T, I, C);
}

void
mlp_out_back(const struct mlp *mlp, float *dinner, const float *dout, size_t T)
{
	struct nn_matrix down = mlp->at[MLP_DOWN];
	size_t C = mlp->C, I = mlp->I;

	if (mlp->turned)
		nn_linear(dinner, I, dout, C, down, NULL, T, C, I);
	else
		nn_linear_back(
		    dinner, false, NULL, NULL, dout, C, NULL, I, down, T, I, C);
}

void
mlp_out_gradients(const struct mlp *mlp, const float *dout, const float *inner, size_t T)
{
	struct nn_matrix down = mlp->at[MLP_DOWN];
	float *const *g = mlp->gradients;
	size_t C = mlp->C, I = mlp->I;

	if (mlp->turned)
		nn_linear_back(
		    NULL, false, g[MLP_DOWN], NULL, inner, I, dout, C, down, T, C, I);
	else
		nn_linear_back(NULL, false, g[MLP_DOWN], g[MLP_DOWN_BIAS], dout, C, inner,
		    I, down, T, I, C);
}

void
mlp_inner_back(const struct mlp *mlp, float *dy, bool add, float *dinner, float *up,
    float *gate, const float *y, size_t T)
{
	float *const *g = mlp->gradients, *dup = mlp->gated ? up : dinner;
	size_t C = mlp->C, I = mlp->I;

	if (mlp->gated) {
		nn_gate_back(up, gate, dinner, up, gate, I, mlp->act, T, I);
		nn_linear_back(dy, add, g[MLP_GATE], g[MLP_GATE_BIAS], gate, I, y, C,
		    mlp->at[MLP_GATE], T, C, I);
	} else {
		nn_activate_back(dup, dup, up, mlp->act, T * I);
	}
	nn_linear_back(dy, add || mlp->gated, g[MLP_UP], g[MLP_UP_BIAS], dup, I, y, C,
	    mlp->at[MLP_UP], T, C, I);
}
