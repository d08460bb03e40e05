/*
 * NomicBERT (Nussbaum et al. 2024): BERT with rotary positions, gated MLP, no biases but
 * those of the norms.  config.json comes in two spellings: GPT-2's (n_embd, ...) as the
 * Hub has it, and the one of transformers 5 (hidden_size, ...).
 */
#include <string.h>

#include "model/spec.h"

/* The member under either of its names. */
static const char *
either(const struct tree *config, const char *first, const char *second)
{
	return tree_get(config, first) || !tree_get(config, second) ? first : second;
}

/* The Hub's spelling.  The reference's own defaults differ from every published model, and
 * are therefore not taken over: what decides must be said. */
static void
rotary(struct spec *spec, const struct tree *config)
{
	struct spec_rotary *rotary = &spec->rotary[0];

	spec->rotaries = 1;
	tree_need(config, "rotary_emb_base");
	*rotary = (struct spec_rotary){ .base = tree_real(config, "rotary_emb_base", 0),
		.divisor = 1,
		.factor = tree_real(config, "rotary_scaling_factor", 0),
		.trained = (int)tree_integer_or(
		    config, "max_trained_positions", 2048, 1, 1 << 24) };
	if (tree_real(config, "rotary_emb_fraction", 0) != 1)
		tree_die(config, "'rotary_emb_fraction' must be 1");
	if (tree_get(config, "rotary_emb_scale_base"))
		tree_die(tree_get(config, "rotary_emb_scale_base"),
		    "'rotary_emb_scale_base' is not known; it must be null");
	if (rotary->factor != 0 && !(rotary->factor >= 1 && rotary->factor <= 1024))
		tree_die(tree_get(config, "rotary_scaling_factor"),
		    "'rotary_scaling_factor' is %g; it must be in 1..1024",
		    rotary->factor);
	spec_expect(config, "rotary_emb_interleaved", false);
}

static void
activation(struct spec *spec, const struct tree *config)
{
	const char *name = tree_string(config, "activation_function", NULL);

	spec->gated = true;
	if (!name)
		spec->act = spec_activation(config, "hidden_act", "silu");
	else if (!strcmp(name, "swiglu"))
		spec->act = NN_SILU;
	else if (!strcmp(name, "geglu"))
		spec->act = NN_GELU;
	else if (!strcmp(name, "glu"))
		spec->act = NN_SIGMOID;
	else {
		spec->act = spec_activation(config, "activation_function", NULL);
		spec->gated = false;
	}
	/* of the Hub's code, GELU where it is not SiLU */
	bool silu = !name || spec->act == NN_GELU_TANH || spec->act == NN_SILU;
	spec->head_act = silu ? spec->act : NN_GELU;
}

static void
refuse(const struct tree *config)
{
	spec_expect(config, "prenorm", false);
	spec_expect(config, "parallel_block", false);
	spec_expect(config, "causal", false);
	spec_expect(config, "use_rms_norm", false);
	spec_expect(config, "scale_attn_weights", true);
	spec_expect(config, "scale_attn_by_inverse_layer_idx", false);
}

/* nomic-embed-text-v2-moe: token experts in blocks 1, 1 + n, 1 + 2 n, ..., without biases but one
 * for their sum. */
static void
mixture(struct spec *spec, const struct tree *config, int inner)
{
	struct spec_mixture *m = &spec->mixture;
	int step;

	if (tree_integer(config, "moe_every_n_layers", 0) <= 0)
		return;
	/* with 1 the reference would have none */
	step = (int)tree_integer_in(config, "moe_every_n_layers", 2, SPEC_LAYERS);
	spec_expect(config, "expert_choice_router", false);
	tree_integer_or(config, "num_shared_experts", 0, 0, 0);
	tree_integer_or(config, "ffn_div", 1, 1, 1);
	m->count = (int)tree_integer_in(config, "num_experts", 1, SPEC_TOKEN_EXPERTS);
	m->top = (int)tree_integer_in(config, "moe_top_k", 1, m->count);
	m->renormalize = tree_boolean(config, "moe_normalize_expert_weights", false);
	m->inner = inner;
	m->bias = m->turned = true;
	for (int i = 0; i < spec->layers; i++)
		if (i % step == 1) {
			spec->layer[i].mixture = true;
			spec->layer[i].inner = 0;
		}
}

static const char *const stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "embeddings.word_embeddings",
	[STEM_TYPES] = "embeddings.token_type_embeddings",
	[STEM_NORM] = "emb_ln",
	[STEM_MLM_DENSE] = "cls.predictions.transform.dense",
	[STEM_MLM_NORM] = "cls.predictions.transform.layer_norm",
	[STEM_OUTPUT] = "cls.predictions.decoder",
};

static const char *const block[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "attn.Wqkv",
	[BLOCK_K] = "attn.Wqkv",
	[BLOCK_V] = "attn.Wqkv",
	[BLOCK_OUT] = "attn.out_proj",
	[BLOCK_ROUTER] = "mlp.router.layer",
	[BLOCK_NORM1] = "norm1",
	[BLOCK_UP] = "mlp.fc11",
	[BLOCK_GATE] = "mlp.fc12",
	[BLOCK_DOWN] = "mlp.fc2",
	[BLOCK_NORM2] = "norm2",
};

static const char *const stacked[MLP_PARAMETERS] = {
	[MLP_UP] = "mlp.experts.mlp.v1",
	[MLP_GATE] = "mlp.experts.mlp.w1",
	[MLP_DOWN] = "mlp.experts.mlp.w2",
};

static const struct names names = {
	.prefixes = (const char *const[]){ "", "bert.", NULL },
	.stem = stem,
	.layers = "encoder.layers.",
	.block = block,
	.plain = "mlp.fc1",
	.stacked = stacked,
	.mixture_bias = "mlp.experts.bias",
	.heads = (const char *const[]){ "cls.", "pooler.", "classifier.", NULL },
	.otherwise = &transformers_nomic_bert,
};

static void
configure(struct spec *spec, const struct tree *config)
{
	spec->vocabulary = (int)tree_integer_in(config, "vocab_size", 1, 1 << 24);
	spec->width = spec_number(config, "n_embd", "hidden_size", 1 << 16);
	spec->layers = spec_number(config, "n_layer", "num_hidden_layers", SPEC_LAYERS);
	spec->heads = spec_number(config, "n_head", "num_attention_heads", 1024);
	spec->kv_heads = spec->heads;
	int inner = spec_number(config, "n_inner", "intermediate_size", 1 << 20);
	spec->positions =
	    spec_number(config, "n_positions", "max_position_embeddings", 1 << 24);
	spec->types = (int)tree_integer_or(config, "type_vocab_size", 2, 0, 1 << 16);
	spec_divide_heads(spec, config, either(config, "n_head", "num_attention_heads"));
	spec->head_size =
	    (int)tree_integer_or(config, "head_dim", spec->head_size, 1, 1024);
	refuse(config);
	if (tree_get(config, "n_embd"))
		rotary(spec, config);
	else
		spec_rotary(spec, config, 1000);
	activation(spec, config);
	spec->embedding_norm = spec->norm_bias = true;
	spec->norm = NN_LAYERNORM;
	spec->norm_eps = (float)tree_real(
	    config, either(config, "layer_norm_epsilon", "layer_norm_eps"), 1e-12);
	bool biased =
	    tree_get(config, "n_embd"); /* so the Hub's code, where nothing is said */
	spec->qkv_bias = spec->out_bias = tree_boolean(config, "qkv_proj_bias", biased);
	spec->up_bias = tree_boolean(config, "mlp_fc1_bias", biased);
	spec->down_bias = tree_boolean(config, "mlp_fc2_bias", biased);
	spec->mlm_bias = spec->output_bias = !biased || spec->up_bias;
	spec->initializer_range = tree_real(config, "initializer_range", 0.02);
	spec->names = &names;
	spec_layers(spec, inner);
	mixture(spec, config, inner);
}

const struct family family_nomic_bert = { "nomic_bert", configure };
