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
		.pairs = mlp->pairs[which],
		.C = down ? mlp->I : mlp->C,
		.O = down ? mlp->C : mlp->I };
}

void
mlp_inner_again(
    const struct mlp *mlp, float *inner, const float *up, const float *gate, size_t T)
{
	if (mlp->gated)
		nn_glu(inner, up, gate, mlp->I, mlp->act, T, mlp->I);
	else
		nn_activate(inner, up, mlp->act, T * mlp->I);
}

/* The same layer of each. */
static void
groups_of(struct linear_group *groups, const struct mlp *mlps, const size_t *rows,
    size_t count, enum mlp_parameter which)
{
	size_t i = 0;

	do
		groups[i] = (struct linear_group){ layer(&mlps[i], which), &mlps[i].rows,
			rows[i] };
	while (++i < count);
}

static bool
any_busy(const struct linear_group *groups, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (linear_busy(&groups[i].layer, groups[i].rows))
			return true;
	return false;
}

static size_t
sum_of(const size_t *rows, size_t count)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += rows[i];
	return sum;
}

void
mlp_inner_each(const struct mlp *mlps, const size_t *rows, size_t count, float *inner,
    float *up, float *gate, const float *y)
{
	struct linear_group groups[LINEAR_GROUPS];

	groups_of(groups, mlps, rows, count, MLP_UP);
	/* the activation is fused with the product */
	if (!mlps->gated && inner == up && !any_busy(groups, count)) {
		linear_forward_groups(inner, y, groups, count, &mlps->act);
		return;
	}
	linear_forward_groups(up, y, groups, count, NULL);
	if (mlps->gated) {
		groups_of(groups, mlps, rows, count, MLP_GATE);
		linear_forward_groups(gate, y, groups, count, NULL);
	}
	mlp_inner_again(mlps, inner, up, gate, sum_of(rows, count));
}

void
mlp_inner(
    const struct mlp *mlp, float *inner, float *up, float *gate, const float *y, size_t T)
{
	mlp_inner_each(mlp, &T, 1, inner, up, gate, y);
}

void
mlp_out_each(const struct mlp *mlps, const size_t *rows, size_t count, float *out,
    const float *inner)
{
	struct linear_group groups[LINEAR_GROUPS];
	size_t C = mlps->C, I = mlps->I;

	groups_of(groups, mlps, rows, count, MLP_DOWN);
	if (!mlps->transposed || groups->layer.w.packed) {
		linear_forward_groups(out, inner, groups, count, NULL);
		return;
	}
	/* the backward of a linear layer from C to I is the product with the transposed matrix */
	for (size_t i = 0; i < count; i++) {
		nn_linear_back(out, false, NULL, NULL, inner, I, NULL, C,
		    groups[i].layer.w, rows[i], C, I);
		out += rows[i] * C;
		inner += rows[i] * I;
	}
}

void
mlp_out(const struct mlp *mlp, float *out, const float *inner, size_t T)
{
	mlp_out_each(mlp, &T, 1, out, inner);
}

void
mlp_out_back(const struct mlp *mlp, float *dinner, const float *dout, size_t T)
{
	struct linear down = layer(mlp, MLP_DOWN);
	size_t C = mlp->C, I = mlp->I;

	down.dw = down.db = NULL;
	if (mlp->transposed)
		nn_linear(dinner, I, dout, C, down.w, NULL, T, C, I);
	else
		linear_back(&down, &mlp->rows, dinner, false, dout, C, NULL, I, T);
}

void
mlp_out_gradients(const struct mlp *mlp, const float *dout, const float *inner, size_t T)
{
	struct linear down = layer(mlp, MLP_DOWN);
	size_t C = mlp->C, I = mlp->I;

	if (mlp->transposed)
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
		nn_glu_back(up, gate, dinner, up, gate, I, mlp->act, T, I);
		linear_back(&to_gate, &mlp->rows, dy, add, gate, I, y, C, T);
	} else {
		nn_activate_back(dup, dup, up, mlp->act, T * I);
	}
	linear_back(&to_up, &mlp->rows, dy, add || mlp->gated, dup, I, y, C, T);
}
