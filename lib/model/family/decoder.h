/*
 * decoder - what the decoders in Llama's mould share (Qwen3, OLMoE, Qwen2-MoE, DeepSeekMoE):
 * causal attention with rotary positions, RMS norms before attention and MLP, gated MLPs.
 */
#ifndef DECODER_H
#define DECODER_H

#include "model/spec.h"

/*
 * The members of config.json that they spell alike: sizes, heads, rotary positions, norms,
 * activation.  head_size and epsilon: where the config says none; head_size 0: width / heads.
 * The caller fills in the layers.
 */
void decoder_configure(
    struct spec *spec, const struct tree *config, int head_size, double epsilon);

/* The MLPs of `count` token experts, `top` of them a token: reads `norm_topk_prob`, and the
 * sizes from the keys given. */
void decoder_mixture(struct spec *spec, const struct tree *config, const char *count_key,
    const char *inner_key);

#endif
