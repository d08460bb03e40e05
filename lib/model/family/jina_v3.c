/*
 * jina-embeddings-v3 (Sturua et al. 2024): XLM-RoBERTa with rotary positions instead of learned ones, and in its
 * checkpoint a LoRA for each of several tasks.  Folders on the Hub call it "xlm-roberta"; transformers 5 has it, without
 * the LoRAs, as "jina_embeddings_v3".
 */
#include <string.h>

#include "model/experts.h"
#include "model/family/family.h"

static const struct tensor_names transformers = {
	.prefixes = { "roberta.", "" },
	.stem = { EMBEDDINGS("embeddings.LayerNorm") },
	.layers = "layers.",
	.block = { SELF_ATTN, MLP("mlp.fc1", NULL, "mlp.fc2"),
	    NORMS("post_attention_layernorm", "post_mlp_layernorm") },
	.heads = { "lm_head.", "pooler.", "classifier.", "qa_outputs." },
};

const struct tensor_names family_jina_names = {
	.prefixes = { "roberta.", "" },
	.stem = { EMBEDDINGS("emb_ln") },
	.layers = "encoder.layers.",
	.block = { QKV("mixer.Wqkv", "mixer.Wqkv", "mixer.Wqkv", "mixer.out_proj"),
	    MLP("mlp.fc1", NULL, "mlp.fc2"), NORMS("norm1", "norm2") },
	.classifier = { { "classifier.dense", ACTIVATED(NN_TANH) },
	    { .module = "classifier.out_proj" } },
	.heads = { "lm_head.", "pooler.", "classifier.", "qa_outputs." },
	.otherwise = &transformers,
};

/* The tasks that have a LoRA, in the order of the tensors; rank and scale are the same for all. */
static void
configure_loras(struct spec *spec, const struct tree *config)
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
	family_expect(config, "load_trained_adapters", true);
	tree_need(config, "lora_alpha");
	spec->lora_rank = (int)tree_integer_in(config, "lora_rank", 1, 1 << 14);
	spec->lora_scale = tree_real(config, "lora_alpha", 0) / spec->lora_rank;
}

static void
configure_rotary(struct spec *spec, const struct tree *config)
{
	tree_need(config, "rotary_emb_base");
	spec->rotaries = 1;
	spec->rotary[0] =
	    (struct spec_rotary){ .base = tree_real(config, "rotary_emb_base", 0),
		    .divisor = 1 };
	family_refuse(config, "rotary_emb_scale_base");
	tree_integer_or(
	    config, "rotary_emb_dim", spec->head_size, spec->head_size, spec->head_size);
	family_expect(config, "rotary_emb_interleaved", false);
}

static void
configure(struct spec *spec, const struct tree *config, const struct family *family)
{
	family_sizes(spec, config, family);
	family_divide_heads(spec, config, family);
	spec->types = (int)tree_integer_or(config, "type_vocab_size", 1, 0, 1 << 16);
	spec->embedding_norm = spec->norm_bias = true;
	spec->norm = NN_LAYERNORM;
	spec->norm_eps = (float)tree_real(config, "layer_norm_eps", 1e-5);
	spec->act = family_activation(config, "hidden_act", family->act);
	spec->qkv_bias = spec->out_bias = spec->up_bias = spec->down_bias = true;
}

static void
adjust_hub(struct spec *spec, const struct tree *config)
{
	if (tree_get(config, "truncate_dim"))
		tree_die(tree_get(config, "truncate_dim"),
		    "'truncate_dim' is not supported here; it must be null (encode --dim)");
	configure_rotary(spec, config);
	configure_loras(spec, config);
}

static void
adjust_transformers(struct spec *spec, const struct tree *config)
{
	family_rotary(spec, config, 20000);
}

const struct family jina_v3_families[] = {
	{ "jina_embeddings_v3", &family_jina_names, configure, adjust_transformers,
	    .act = "gelu" },
	{ "xlm-roberta/rotary", &family_jina_names, configure, adjust_hub,
	    .act = "gelu" },
	{ 0 },
};
