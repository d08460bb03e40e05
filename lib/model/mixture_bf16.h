/*
 * mixture_bf16 - token experts whose activations are bf16 (nn/bf16.h); as mixture_forward.
 */
#ifndef MODEL_MIXTURE_BF16_H
#define MODEL_MIXTURE_BF16_H

#include "model/mixture.h"
#include "nn/bf16.h"

/* Whether the kernels can: they have experts, whose matrices are packed as bf16, and rows are 16-byte aligned. */
bool mixture_bf16_fits(const struct nn_bf16 *kernels, const struct spec *spec,
    const struct nn_matrix (*experts)[MLP_PARAMETERS]);

/* out[T,C] overwritten; it is not y. */
void mixture_bf16_forward(const struct nn_bf16 *kernels, const struct spec *spec,
    const struct mixture_weights *weights, uint16_t *out, const uint16_t *y,
    const struct mixture_state *state, size_t T);

#endif
