/*
 * mlp - one MLP, of a block or of a token expert.
 *
 *	inner = up(y) act(gate(y)), without a gate act(up(y))		mlp_inner
 *	out = down(inner)						mlp_out
 *
 * In two halves, because something may come between them: a weight of each row.
 * Letters as in nn.h.  All arrays are in memory of the kernels.
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
	    *gradients; /* [MLP_PARAMETERS]; NULL entries: not wanted; NULL: none is */
	const struct linear_pairs *pairs; /* [MLP_PARAMETERS] */
	struct linear_rows rows;	  /* those that the calls are of */
	enum nn_act act;
	bool gated;
	bool turned; /* down is stored [I,C], and has no bias */
	size_t C, I;
};

/* inner[T,I] of y[T,C].  What was before the activation stays in up[T,I] and, where there is a gate,
 * gate[T,I]; inner may be up, which then is lost. */
void mlp_inner(const struct mlp *mlp, float *inner, float *up, float *gate,
    const float *y, size_t T);

/* Several of one shape, as many as linear_forward_parts takes: rows[i] rows of mlps[i], those of one after those of another. */
void mlp_inner_each(const struct mlp *mlps, const size_t *rows, size_t count,
    float *inner, float *up, float *gate, const float *y);

/* inner once more, from what mlp_inner left. */
void mlp_inner_again(
    const struct mlp *mlp, float *inner, const float *up, const float *gate, size_t T);

/* out[T,C] overwritten. */
void mlp_out(const struct mlp *mlp, float *out, const float *inner, size_t T);
void mlp_out_each(const struct mlp *mlps, const size_t *rows, size_t count, float *out,
    const float *inner);

/* dinner[T,I] overwritten, from dout[T,C]; then the gradients of down and its bias, added to. */
void mlp_out_back(const struct mlp *mlp, float *dinner, const float *dout, size_t T);
void mlp_out_gradients(
    const struct mlp *mlp, const float *dout, const float *inner, size_t T);

/* From dinner, which is used up as up and gate are: dy[T,C] = (or += when add), and the gradients of
 * up, gate and their biases. */
void mlp_inner_back(const struct mlp *mlp, float *dy, bool add, float *dinner, float *up,
    float *gate, const float *y, size_t T);

#endif
