/*
 * NomicBERT (Nussbaum et al. 2024): BERT with rotary positions, gated MLPs, and no biases but those of the norms.
 * config.json comes in two spellings: GPT-2's (n_embd, ...) as the Hub has it, and the one of transformers 5
 * (hidden_size, ...).
 */
#include <string.h>

#include "model/family/family.h"

/* As transformers 5 has it in memory, which some programs write. */
static const struct tensor_names transformers = {
	.prefixes = { "", "nomic_bert.", "model.", "bert." },
	.stem = { EMBEDDINGS("embeddings.LayerNorm"),
	    PREDICTION("cls.predictions.transform.dense",
		"cls.predictions.transform.layer_norm", "cls.predictions.decoder") },
	.layers = "layers.",
	.block = { SELF_ATTN, GATED_MLP,
	    NORMS("post_attention_layernorm", "post_mlp_layernorm") },
	POOLED_CLASSIFIER,
	.heads = { "cls.", "pooler.", "classifier." },
};

static const struct tensor_names nomic_bert = {
	.prefixes = { "", "nomic_bert.",
	    "bert." }, /* transformers reads a classifier by the first of these */
	.stem = { EMBEDDINGS("emb_ln"),
	    PREDICTION("cls.predictions.transform.dense",
		"cls.predictions.transform.layer_norm", "cls.predictions.decoder") },
	.layers = "encoder.layers.",
	.block = { QKV("attn.Wqkv", "attn.Wqkv", "attn.Wqkv", "attn.out_proj"),
	    MLP("mlp.fc11", "mlp.fc12", "mlp.fc2"),
	    NORMS("norm1", "norm2"), [BLOCK_ROUTER] = "mlp.router.layer" },
	.plain = "mlp.fc1",
	.stacked = { [MLP_UP] = "mlp.experts.mlp.v1",
	    [MLP_GATE] = "mlp.experts.mlp.w1",
	    [MLP_DOWN] = "mlp.experts.mlp.w2" },
	.mixture_bias = "mlp.experts.bias",
	POOLED_CLASSIFIER,
	.heads = { "cls.", "pooler.", "classifier." },
	.otherwise = &transformers,
};

/* The Hub's spelling.  The reference's own defaults differ from every published model, and
 * are therefore not taken over: what decides must be said. */
static void
configure_rotary(struct spec *spec, const struct tree *config)
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
	family_refuse(config, "rotary_emb_scale_base");
	if (rotary->factor != 0 && !(rotary->factor >= 1 && rotary->factor <= 1024))
		tree_die(tree_get(config, "rotary_scaling_factor"),
		    "'rotary_scaling_factor' is %g; it must be in 1..1024",
		    rotary->factor);
	family_expect(config, "rotary_emb_interleaved", false);
}

static void
configure_activation(struct spec *spec, const struct tree *config)
{
	const char *name = tree_string(config, "activation_function", NULL);

	spec->gated = true;
	if (!name)
		spec->act = family_activation(config, "hidden_act", "silu");
	else if (!strcmp(name, "swiglu"))
		spec->act = NN_SILU;
	else if (!strcmp(name, "geglu"))
		spec->act = NN_GELU;
	else if (!strcmp(name, "glu"))
		spec->act = NN_SIGMOID;
	else {
		spec->act = family_activation(config, "activation_function", NULL);
		spec->gated = false;
	}
	/* of the Hub's code, GELU where it is not SiLU */
	bool silu = !name || spec->act == NN_GELU_TANH || spec->act == NN_SILU;
	spec->head_act = silu ? spec->act : NN_GELU;
}

static void
refuse_others(const struct tree *config)
{
	family_expect(config, "prenorm", false);
	family_expect(config, "parallel_block", false);
	family_expect(config, "causal", false);
	family_expect(config, "use_rms_norm", false);
	family_expect(config, "scale_attn_weights", true);
	family_expect(config, "scale_attn_by_inverse_layer_idx", false);
}

/* nomic-embed-text-v2-moe: token experts in blocks 1, 1 + n, 1 + 2 n, ..., without biases but one
 * for their sum. */
static void
configure_mixture(struct spec *spec, const struct tree *config, int inner)
{
	struct spec_mixture *m = &spec->mixture;
	int step;

	if (tree_integer(config, "moe_every_n_layers", 0) <= 0)
		return;
	/* with 1 the reference would have none */
	step = (int)tree_integer_in(config, "moe_every_n_layers", 2, SPEC_LAYERS);
	family_expect(config, "expert_choice_router", false);
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

static void
configure(struct spec *spec, const struct tree *config, const struct family *family)
{
	bool hub = tree_get(config, "n_embd");
	int inner = family_sizes(spec, config, family);

	spec->types = (int)tree_integer_or(config, "type_vocab_size", 2, 0, 1 << 16);
	family_divide_heads(spec, config, family);
	spec->head_size =
	    (int)tree_integer_or(config, "head_dim", spec->head_size, 1, 1024);
	refuse_others(config);
	if (hub)
		configure_rotary(spec, config);
	else
		family_rotary(spec, config, 1000);
	configure_activation(spec, config);
	spec->embedding_norm = spec->norm_bias = true;
	spec->norm = NN_LAYERNORM;
	spec->norm_eps = (float)tree_real(
	    config, "layer_norm_epsilon", tree_real(config, "layer_norm_eps", 1e-12));
	/* where config.json lacks these, the Hub's code has biases */
	spec->qkv_bias = spec->out_bias = tree_boolean(config, "qkv_proj_bias", hub);
	spec->up_bias = tree_boolean(config, "mlp_fc1_bias", hub);
	spec->down_bias = tree_boolean(config, "mlp_fc2_bias", hub);
	spec->mlm_bias = spec->output_bias = !hub || spec->up_bias;
	configure_mixture(spec, config, inner);
}

#define HIDDEN "hidden_dropout_prob"

static const struct family_dropout dropout = {
	.keys = { "embd_pdrop", "attn_pdrop", "resid_pdrop", NULL, "resid_pdrop" },
	.others = { HIDDEN, "attention_probs_dropout_prob", HIDDEN, NULL, HIDDEN },
};

const struct family nomic_bert_families[] = {
	{ "nomic_bert", &nomic_bert, configure, .width_key = "n_embd",
	    .layers_key = "n_layer", .heads_key = "n_head", .inner_key = "n_inner",
	    .positions_key = "n_positions", .dropout = &dropout },
	{ 0 },
};
