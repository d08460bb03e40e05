/* attention_bf16 - nn_attention of bf16 arrays, for inference. */
#ifndef NN_CUDA_ATTENTION_BF16_H
#define NN_CUDA_ATTENTION_BF16_H

#include "nn/cuda/device.h"

/*
 * out[T, H D] = nn_attention of q, k, v in bf16, whose row strides a->ldq and a->ldkv count elements; scores and sums are f32.
 * Quickest if all arrays begin on 16 bytes and D, ldq and ldkv are multiples of 8.  A row's bits depend on its sequence alone.
 */
extern "C" void attention_bf16(__nv_bfloat16 *out, const __nv_bfloat16 *q,
    const __nv_bfloat16 *k, const __nv_bfloat16 *v, const struct nn_attention *a);

/* nn_attention of f32 arrays whose q, k and v are rounded to bf16. */
void attention_rounded(float *out, float *lse, const float *q, const float *k,
    const float *v, const struct nn_attention *a);

#endif
