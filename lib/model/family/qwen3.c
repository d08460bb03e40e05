/*
 * Qwen3 (Yang et al. 2025), of which Qwen3-Embedding is made: grouped heads whose queries and
 * keys are normed one by one; heads x head size need not be the width.  jina-embeddings-v5-text-small is one, its LoRA adapters
 * beside it.
 */
#include "model/family/decoder.h"

static void
configure(struct spec *spec, const struct tree *config)
{
	decoder_configure(spec, config, 128, 1e-6);
	spec->qk_norm = SPEC_QK_HEAD;
	spec_layers(spec, (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20));
	decoder_qwen_windows(spec, config);
}

const struct family family_qwen3 = { "qwen3", configure };
const struct family family_jina_v5 = { "jina_embeddings_v5", configure };
