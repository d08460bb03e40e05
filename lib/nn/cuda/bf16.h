/*
 * bf16 - the kernels of bf16 arrays that stand beside their f32 twins; bf16.cu makes nn/bf16.h's table of them.
 */
#ifndef NN_CUDA_BF16_H
#define NN_CUDA_BF16_H

#include "nn/cuda/device.h"
extern "C" {
#include "nn/bf16.h"
}

/* norm.cu: as `norm` and `norm_sum` of struct nn_bf16 */
void bf16_norm(__nv_bfloat16 *y, const __nv_bfloat16 *x, const __nv_bfloat16 *r,
    size_t ld, const float *w, const float *b, float eps, enum nn_norm kind, size_t T,
    size_t C);
void bf16_norm_sum(__nv_bfloat16 *y, float *x, const __nv_bfloat16 *r, const float *w,
    const float *b, float eps, enum nn_norm kind, size_t T, size_t C);

/* activate.cu: y = act(y); y[T,I] = up act(gate), as nn_glu */
void bf16_activate(__nv_bfloat16 *y, enum nn_act act, size_t n);
void bf16_glu(__nv_bfloat16 *y, const __nv_bfloat16 *up, const __nv_bfloat16 *gate,
    size_t ld, enum nn_act act, size_t T, size_t I);

/* rotary.cu: as `heads` of struct nn_bf16 */
void bf16_heads(__nv_bfloat16 *qk, size_t ld, const float *const w[2], float eps,
    enum nn_norm kind, const float *inv, size_t step,
    const struct nn_sequences *sequences, size_t H, size_t K, size_t D);

#endif
