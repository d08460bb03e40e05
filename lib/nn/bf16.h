/*
 * bf16 - kernels of inference whose activations are bf16 in memory, for a backend where a pass waits for memory between its GEMMs.
 *
 * A device has them; there half the bytes are half the time of all that is not a GEMM.  Sums, norms and softmax are of f32
 * inside a kernel.  Letters, arrays and arguments as in nn.h.  An array of bf16 is a uint16_t *, its rows 16-byte aligned: columns and
 * strides are multiples of 8.  Weights are packed as bf16 (nn_pack); biases and the parameters of norms are f32.
 */
#ifndef NN_BF16_H
#define NN_BF16_H

#include "nn/nn.h"

/* A linear layer from C to O columns; gate.at NULL: not gated. */
struct nn_bf16_layer {
	struct nn_matrix w, gate; /* [O,C] */
	const float *b, *gate_b;  /* [O]; NULL: none */
	size_t O;
	size_t rows; /* of an expert */
};

/* The experts of each token. */
struct nn_bf16_routes {
	const int32_t *rows, *slots; /* [T top], sorted by expert */
	const float *weights;	     /* [T,top] */
	const float *bias;	     /* [C] or NULL */
	size_t top;
};

struct nn_bf16 {
	void (*from_f32)(uint16_t *y, const float *x, size_t n);
	void (*to_f32)(float *y, const uint16_t *x, size_t n);
	void (*add_to_f32)(float *y, const uint16_t *x, size_t n); /* y += x */

	/* y = act(x[T,C] w^T + b) of `count` layers that read the same x, side by side in y; act NULL: no activation,
	 * else they fill y's rows */
	void (*linear)(uint16_t *y, size_t ldy, const uint16_t *x,
	    const struct nn_bf16_layer *layers, size_t count, const enum nn_act *act,
	    size_t T, size_t C);
	/* y[T,O] = (x w^T + b) act(x gate^T + gate_b) */
	void (*linear_gated)(uint16_t *y, const uint16_t *x,
	    const struct nn_bf16_layer *layer, enum nn_act act, size_t T, size_t C);
	/* y[T,O] = x w^T in f32; w is not packed: a router's logits */
	void (*linear_f32)(float *y, const uint16_t *x, struct nn_matrix w, size_t T,
	    size_t C, size_t O);

	/*
	 * out[t] = bias + sum over j < top of weights[t top + j] mlp_e(x[t]), e the j-th expert of token t.  NULL: not here.
	 * `in` and `down` are the layers of the `count` experts, whose `rows` say how many of the T top rows are each one's; rows
	 * and slots are those of nn_sort_by_expert.
	 */
	void (*experts)(uint16_t *out, const uint16_t *x, const struct nn_bf16_layer *in,
	    const struct nn_bf16_layer *down, size_t count,
	    const struct nn_bf16_routes *to, enum nn_act act, size_t T, size_t C,
	    size_t I);

	/* y = norm(x + r) w + b, as nn_norm; r may be NULL, y may be x or r; all have row stride ld */
	void (*norm)(uint16_t *y, const uint16_t *x, const uint16_t *r, size_t ld,
	    const float *w, const float *b, float eps, enum nn_norm kind, size_t T,
	    size_t C);
	/* x += r, of f32 and bf16, and y = norm(x) w + b; y may be r */
	void (*norm_sum)(uint16_t *y, float *x, const uint16_t *r, const float *w,
	    const float *b, float eps, enum nn_norm kind, size_t T, size_t C);

	/*
	 * On qk[T,(H + K) D], q's heads and then k's, with row stride ld, in place: the norm of each head as nn_norm_heads,
	 * with w[0] for those of q and w[1] for those of k (both NULL: no norm), and then nn_rotary's turn (inv NULL: none).
	 */
	void (*heads)(uint16_t *qk, size_t ld, const float *const w[2], float eps,
	    enum nn_norm kind, const float *inv, size_t step,
	    const struct nn_sequences *sequences, size_t H, size_t K, size_t D);

	/* nn_attention of bf16, without lse */
	void (*attention)(uint16_t *out, const uint16_t *q, const uint16_t *k,
	    const uint16_t *v, const struct nn_attention *a);
};

/* NULL: this backend has none, and activations are f32. */
const struct nn_bf16 *nn_bf16(void);

#endif
