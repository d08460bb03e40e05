/*
 * decoder - what the decoders in Llama's mould share (Llama, Mistral, Qwen, Gemma 3, OLMoE,
 * DeepSeekMoE): causal attention with rotary positions, RMS norms before attention and MLP, gated
 * MLPs.
 */
#ifndef MODEL_FAMILY_DECODER_H
#define MODEL_FAMILY_DECODER_H

#include "model/spec.h"

/*
 * The members of config.json that they spell alike: sizes, heads, rotary positions, norms,
 * activation, biases.  head_size and epsilon: where the config says none; head_size 0: width / heads.
 * The caller fills in the layers.
 */
void decoder_configure(
    struct spec *spec, const struct tree *config, int head_size, double epsilon);

/* Die where a layer would see a window only: of families that have none. */
void decoder_refuse_windows(const struct tree *config);

/* "sliding_window" as the blocks have it (spec.h): a causal layer sees so many tokens with its own,
 * another so many on either side.  `otherwise` where it is absent; 0 where it is null. */
int decoder_window(const struct spec *spec, const struct tree *config, int otherwise);

/* A window (0: none) for the layers that "layer_types" names; where it is absent, for those from `from` on. */
void decoder_windows(struct spec *spec, const struct tree *config, int window, int from);

/* Those of Qwen2 and Qwen3: with "use_sliding_window", from "max_window_layers" on. */
void decoder_qwen_windows(struct spec *spec, const struct tree *config);

/* The MLPs of `count` token experts, `top` of them a token: reads `norm_topk_prob`, and the
 * sizes from the keys given. */
void decoder_mixture(struct spec *spec, const struct tree *config, const char *count_key,
    const char *inner_key);

#endif
