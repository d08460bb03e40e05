/*
 * jina-embeddings-v3 (Sturua et al. 2024): XLM-RoBERTa with rotary positions in the place of learned
 * ones, and in its checkpoint a LoRA for each of several tasks.  Folders on the Hub call it
 * "xlm-roberta"; transformers 5 has it, without the LoRAs, as "jina_embeddings_v3".
 */
#include <string.h>

#include "model/experts.h"
#include "model/spec.h"

static const char *const native_stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "embeddings.word_embeddings",
	[STEM_TYPES] = "embeddings.token_type_embeddings",
	[STEM_NORM] = "embeddings.LayerNorm",
};

static const char *const native_block[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "self_attn.q_proj",
	[BLOCK_K] = "self_attn.k_proj",
	[BLOCK_V] = "self_attn.v_proj",
	[BLOCK_OUT] = "self_attn.o_proj",
	[BLOCK_NORM1] = "post_attention_layernorm",
	[BLOCK_UP] = "mlp.fc1",
	[BLOCK_DOWN] = "mlp.fc2",
	[BLOCK_NORM2] = "post_mlp_layernorm",
};

static const char *const stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "embeddings.word_embeddings",
	[STEM_TYPES] = "embeddings.token_type_embeddings",
	[STEM_NORM] = "emb_ln",
};

static const char *const block[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "mixer.Wqkv",
	[BLOCK_K] = "mixer.Wqkv",
	[BLOCK_V] = "mixer.Wqkv",
	[BLOCK_OUT] = "mixer.out_proj",
	[BLOCK_NORM1] = "norm1",
	[BLOCK_UP] = "mlp.fc1",
	[BLOCK_DOWN] = "mlp.fc2",
	[BLOCK_NORM2] = "norm2",
};

static const char *const prefixes[] = { "roberta.", "", NULL };
static const char *const heads[] = { "lm_head.", "pooler.", "classifier.", "qa_outputs.",
	NULL };

static const struct names native_names = { .prefixes = prefixes,
	.stem = native_stem,
	.layers = "layers.",
	.block = native_block,
	.heads = heads };
static const struct names names = { .prefixes = prefixes,
	.stem = stem,
	.layers = "encoder.layers.",
	.block = block,
	.heads = heads,
	.otherwise = &native_names };

/* Rank and scale are one for all; which tasks there are, in the order of the tensors. */
static void
loras(struct spec *spec, const struct tree *config)
{
	const struct tree *list = tree_get(config, "lora_adaptations");

	if (!list)
		return;
	if (list->kind != TREE_LIST || list->count < 1 || list->count > SPEC_EXPERTS)
		tree_die(
		    list, "'lora_adaptations' must list 1 to %d tasks", SPEC_EXPERTS);
	for (size_t i = 0; i < list->count; i++) {
		const struct tree *task = list->items[i];
		if (task->kind != TREE_STRING || !experts_task_valid(task->string))
			tree_die(task,
			    "'lora_adaptations': a task's name must be up to 63 letters, digits, '_', '-' or '.'");
		for (int j = 0; j < spec->loras; j++)
			if (!strcmp(spec->expert_names[j], task->string))
				tree_die(task, "'lora_adaptations' has '%s' twice",
				    task->string);
		spec->expert_names[spec->loras++] = task->string;
	}
	/* where it is false the reference draws new ones, which change nothing yet */
	spec_expect(config, "load_trained_adapters", true);
	tree_need(config, "lora_alpha");
	spec->lora_rank = (int)tree_integer_in(config, "lora_rank", 1, 1 << 14);
	spec->lora_scale = tree_real(config, "lora_alpha", 0) / spec->lora_rank;
}

static void
rotary(struct spec *spec, const struct tree *config)
{
	tree_need(config, "rotary_emb_base");
	spec->rotaries = 1;
	spec->rotary[0] =
	    (struct spec_rotary){ .base = tree_real(config, "rotary_emb_base", 0),
		    .divisor = 1 };
	if (tree_get(config, "rotary_emb_scale_base"))
		tree_die(tree_get(config, "rotary_emb_scale_base"),
		    "'rotary_emb_scale_base' is not known; it must be null");
	tree_integer_or(
	    config, "rotary_emb_dim", spec->head_size, spec->head_size, spec->head_size);
	spec_expect(config, "rotary_emb_interleaved", false);
}

static void
configure_model(struct spec *spec, const struct tree *config)
{
	spec_sizes(spec, config);
	spec_divide_heads(spec, config, "num_attention_heads");
	int inner = (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20);
	spec->types = (int)tree_integer_or(config, "type_vocab_size", 1, 0, 1 << 16);
	spec->embedding_norm = spec->norm_bias = true;
	spec->norm = NN_LAYERNORM;
	spec->norm_eps = (float)tree_real(config, "layer_norm_eps", 1e-5);
	spec->act = spec_activation(config, "hidden_act", "gelu");
	spec->qkv_bias = spec->out_bias = spec->up_bias = spec->down_bias = true;
	spec->names = &names;
	spec_layers(spec, inner);
}

static void
configure(struct spec *spec, const struct tree *config)
{
	if (tree_get(config, "truncate_dim"))
		tree_die(tree_get(config, "truncate_dim"),
		    "'truncate_dim' is not known here; it must be null (encode --dim)");
	configure_model(spec, config);
	rotary(spec, config);
	loras(spec, config);
}

static void
configure_native(struct spec *spec, const struct tree *config)
{
	configure_model(spec, config);
	spec_rotary(spec, config, 20000);
}

const struct family family_jina_v3 = { "xlm-roberta/rotary", configure };
const struct family family_jina_v3_native = { "jina_embeddings_v3", configure_native };
