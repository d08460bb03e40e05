/*
 * mlp - one MLP, of a block or of a token expert, in two steps between which its rows can be weighed:
 *
 *	inner = up(y) act(gate(y)), without a gate act(up(y))		mlp_inner
 *	out = down(inner)						mlp_out
 *
 * Letters as in nn.h; I inner channels.  All arrays are in memory of the kernels.
 */
#ifndef MODEL_MLP_H
#define MODEL_MLP_H

#include <stdbool.h>
#include <stddef.h>

#include "model/linear.h"
#include "model/spec.h"

struct mlp {
	const struct nn_matrix *at; /* [MLP_PARAMETERS]; biases are f32 */
	float *const
	    *gradients; /* [MLP_PARAMETERS], NULL entries: not wanted; NULL: none is */
	const struct linear_pairs *pairs; /* [MLP_PARAMETERS] */
	struct linear_rows rows;	  /* of each call */
	enum nn_act act;
	bool gated;
	bool transposed; /* down is stored as [I,C], and has no bias */
	size_t C, I;
};

/* inner[T,I] from y[T,C].  up[T,I] and gate[T,I] (unless gated: not read) keep the values before the activation for the backward
 * pass; inner may be up, which then is overwritten. */
void mlp_inner(const struct mlp *mlp, float *inner, float *up, float *gate,
    const float *y, size_t T);

/* Several MLPs of one shape, LINEAR_GROUPS at most: rows[i] rows go through mlps[i], and follow those of mlps[i - 1]. */
void mlp_inner_each(const struct mlp *mlps, const size_t *rows, size_t count,
    float *inner, float *up, float *gate, const float *y);

/* inner[T,I] once more, from up and gate. */
void mlp_inner_again(
    const struct mlp *mlp, float *inner, const float *up, const float *gate, size_t T);

/* out[T,C] overwritten. */
void mlp_out(const struct mlp *mlp, float *out, const float *inner, size_t T);
void mlp_out_each(const struct mlp *mlps, const size_t *rows, size_t count, float *out,
    const float *inner);

/* dinner[T,I] overwritten, from dout[T,C]; and the gradients of down and its bias, added to. */
void mlp_out_back(const struct mlp *mlp, float *dinner, const float *dout, size_t T);
void mlp_out_gradients(
    const struct mlp *mlp, const float *dout, const float *inner, size_t T);

/* From dinner: dy[T,C] = (or += when add), and the gradients of up, gate and their biases.  dinner, up and gate are overwritten. */
void mlp_inner_back(const struct mlp *mlp, float *dy, bool add, float *dinner, float *up,
    float *gate, const float *y, size_t T);

#endif
