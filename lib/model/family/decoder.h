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

/* Names of tensors, as in struct family.  shared: the module of the dense MLP in a layer with
 * token experts ("mlp.shared_expert"), NULL in families that have none. */
void decoder_stem(
    const struct spec *spec, enum stem_parameter which, struct place *place);
void decoder_place(const struct spec *spec, int layer, enum block_parameter which,
    const char *shared, struct place *place);
void decoder_expert(const struct spec *spec, int layer, int expert,
    enum mixture_parameter which, struct place *place);

/* NULL-terminated: "", "model.". */
extern const char *const decoder_prefixes[];

#endif
