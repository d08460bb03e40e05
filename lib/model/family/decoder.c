/* Decoders of Llama's kind: rotary positions, RMS norms before attention and MLP, gated MLPs; causal, unless config.json
 * says otherwise. */
#include <math.h>
#include <string.h>

#include "model/family/family.h"

/* What is not in a block. */
#define AROUND_BLOCKS                                                                    \
	.prefixes = { "", "model." },                                                    \
	.init_prefix = "model.", /* transformers looks for lm_head beside it */          \
	    .stem = { [STEM_TOKENS] = "embed_tokens",                                    \
		    [STEM_FINAL_NORM] = "norm",                                          \
		    [STEM_OUTPUT] = "lm_head" },                                         \
	.layers = "layers.", .classifier = { { "score", .bare = true } },                \
	.heads = { "lm_head.", "score." }

static const struct tensor_names decoder = {
	AROUND_BLOCKS,
	.block = { SELF_ATTN, GATED_MLP,
	    NORMS("input_layernorm", "post_attention_layernorm"),
	    [BLOCK_Q_NORM] = "self_attn.q_norm", [BLOCK_K_NORM] = "self_attn.k_norm",
	    [BLOCK_ROUTER] = "mlp.gate", [BLOCK_SHARED_GATE] = "mlp.shared_expert_gate" },
	.expert = "mlp.experts.",
	.mixture = { [MLP_UP] = "up_proj",
	    [MLP_GATE] = "gate_proj",
	    [MLP_DOWN] = "down_proj" },
	.projection = "linear",
};

/* of Gemma 2 too, which has no norms of q and k */
static const struct tensor_names gemma3 = {
	AROUND_BLOCKS,
	.block = { SELF_ATTN, GATED_MLP,
	    NORMS("input_layernorm", "pre_feedforward_layernorm"),
	    [BLOCK_Q_NORM] = "self_attn.q_norm", [BLOCK_K_NORM] = "self_attn.k_norm",
	    [BLOCK_OUT_NORM] = "post_attention_layernorm",
	    [BLOCK_DOWN_NORM] = "post_feedforward_layernorm" },
};

/* Qwen's models with images: their text models have Qwen2's and Qwen3's names under a prefix, and images are not encoded */
static const struct tensor_names qwen_vl = {
	.prefixes = { "model.language_model.", "language_model.", "model.", "" },
	.init_prefix = "model.language_model.",
	.stem = { [STEM_TOKENS] = "embed_tokens",
	    [STEM_FINAL_NORM] = "norm",
	    [STEM_OUTPUT] = "lm_head" },
	.layers = "layers.",
	.block = { SELF_ATTN, GATED_MLP,
	    NORMS("input_layernorm", "post_attention_layernorm"),
	    [BLOCK_Q_NORM] = "self_attn.q_norm", [BLOCK_K_NORM] = "self_attn.k_norm" },
	.heads = { "lm_head.", "visual.", "model.visual." },
};

/* UltraBERT has another head that predicts tokens: it is not read */
static const struct tensor_names ultrabert = {
	.prefixes = { "", "model." },
	.stem = { [STEM_TOKENS] = "embed_tokens", [STEM_FINAL_NORM] = "norm" },
	.layers = "layers.",
	.block = { SELF_ATTN, GATED_MLP,
	    NORMS("input_layernorm", "post_attention_layernorm") },
	.heads = { "head.", "classifier." },
};

#define LATENT(part) "latent_attention_model.cross_attend_blocks." part

/* NV-Embed: Mistral's names under a prefix, beside those of the latent attention. */
static const struct tensor_names nvembed = {
	.prefixes = { "embedding_model." },
	.stem = { [STEM_TOKENS] = "embed_tokens",
	    [STEM_FINAL_NORM] = "norm",
	    [STEM_LATENTS] = "latent_attention_model.latents",
	    [STEM_LATENTS_NORM] = LATENT("0.norm_context"),
	    [STEM_LATENTS_Q_NORM] = LATENT("0.norm"),
	    [STEM_LATENTS_Q] = LATENT("0.fn.to_q"),
	    [STEM_LATENTS_KV] = LATENT("0.fn.to_kv"),
	    [STEM_LATENTS_OUT] = LATENT("0.fn.to_out"),
	    [STEM_LATENTS_MLP_NORM] = LATENT("1.norm"),
	    [STEM_LATENTS_UP] = LATENT("1.fn.net.0"),
	    [STEM_LATENTS_DOWN] = LATENT("1.fn.net.2") },
	.layers = "layers.",
	.block = { SELF_ATTN, GATED_MLP,
	    NORMS("input_layernorm", "post_attention_layernorm") },
};

/* Die where config.json asks for local attention. */
static void
refuse_windows(const struct tree *config)
{
	const struct tree *types = tree_get(config, "layer_types");

	family_expect(config, "use_sliding_window", false);
	if (types && types->kind != TREE_LIST)
		tree_die(types, "'layer_types' must list the types of layers");
	for (size_t i = 0; types && i < types->count; i++)
		if (types->items[i]->kind != TREE_STRING ||
		    strcmp(types->items[i]->string, "full_attention"))
			tree_die(types, "'layer_types' may only hold 'full_attention'");
}

/* Whether the key is there with null, which is not the default. */
static bool
is_null(const struct tree *config, const char *key)
{
	for (size_t i = 0; i < config->count; i++)
		if (config->items[i]->kind == TREE_NULL &&
		    !strcmp(config->items[i]->key, key))
			return true;
	return false;
}

/* "sliding_window" as spec_layer counts it, 4096 where it is absent, 0 where it is null. */
static int
window_of(const struct spec *spec, const struct tree *config)
{
	const char *key = "sliding_window";

	if (is_null(config, key))
		return 0;
	int window = (int)tree_integer_or(config, key, 4096, 2, 1 << 24);
	/* transformers counts the token itself where it looks back, not where it looks both ways */
	return spec->causal ? window - 1 : window;
}

/* A window (0: none) for the layers that "layer_types" names; where it is absent, for those from `from` on. */
static void
set_windows(struct spec *spec, const struct tree *config, int window, int from)
{
	for (int i = 0; i < spec->layers; i++)
		if (family_slides(spec, config, i, window && i >= from)) {
			if (!window)
				tree_die(tree_get(config, "layer_types"),
				    "'layer_types' has windows, which 'sliding_window' and 'use_sliding_window' do not");
			spec->layer[i].window = window;
		}
}

static void
configure_windows(
    struct spec *spec, const struct tree *config, const struct family *family)
{
	if (family->windows == WINDOWS_ALL)
		set_windows(spec, config, window_of(spec, config), 0);
	if (family->windows != WINDOWS_QWEN)
		return;
	int from = (int)tree_integer_or(config, "max_window_layers", 28, 0, 1 << 20);
	bool used = tree_boolean(config, "use_sliding_window", false);
	set_windows(spec, config, used ? window_of(spec, config) : 0, from);
}

static void
configure(struct spec *spec, const struct tree *config, const struct family *family)
{
	if (family->windows == WINDOWS_REFUSED)
		refuse_windows(config);
	family_sizes(spec, config, family);
	spec->kv_heads = (int)tree_integer_or(
	    config, "num_key_value_heads", spec->heads, 1, spec->heads);
	spec->head_size =
	    (int)tree_integer_or(config, "head_dim", family->head_size, 1, 1024);
	if (!spec->head_size)
		family_divide_heads(spec, config, family);
	if (!family->own_rotary)
		family_rotary(
		    spec, config, family->rotary_base ? family->rotary_base : 10000);
	spec->prenorm = spec->gated = spec->untied = true;
	/* decoders that were trained on to embed may see both ways */
	spec->causal = tree_boolean(config, "is_causal", true) &&
		       !tree_boolean(config, "use_bidirectional_attention", false);
	spec->norm = NN_RMSNORM;
	spec->norm_eps = (float)tree_real(config, "rms_norm_eps", family->norm_eps);
	spec->act = family_activation(config, "hidden_act", "silu");
	if (family->bias == BIAS_AS_CONFIGURED)
		family_biases(spec, config);
	spec->qkv_bias |= family->bias == BIAS_QKV;
	spec->qk_norm = family->qk_norm;
	configure_windows(spec, config, family);
}

/* Token experts, by those keys of their number and size. */
static void
configure_mixture(struct spec *spec, const struct tree *config, const char *count_key,
    const char *inner_key)
{
	struct spec_mixture *mixture = &spec->mixture;

	mixture->count = (int)tree_integer_in(config, count_key, 1, SPEC_TOKEN_EXPERTS);
	mixture->inner = (int)tree_integer_in(config, inner_key, 1, 1 << 20);
	mixture->top =
	    (int)tree_integer_in(config, "num_experts_per_tok", 1, mixture->count);
	mixture->renormalize = tree_boolean(config, "norm_topk_prob", false);
}

/* DeepSeekMoE (Dai et al. 2024; deepseek-moe-16b): the first layers dense, then token experts, and beside them shared
 * ones, which every token goes through and which are stored as one MLP. */
static void
adjust_deepseek(struct spec *spec, const struct tree *config)
{
	int64_t first =
	    tree_integer_or(config, "first_k_dense_replace", 0, 0, SPEC_LAYERS);
	int64_t step = tree_integer_or(config, "moe_layer_freq", 1, 1, SPEC_LAYERS);
	int shared = (int)tree_integer_or(config, "n_shared_experts", 0, 0, 64);

	tree_expect(config, "scoring_func", "softmax");
	if (!tree_get(config, "n_routed_experts"))
		return;
	configure_mixture(spec, config, "n_routed_experts", "moe_intermediate_size");
	spec->mixture.shared = "mlp.shared_experts";
	spec->mixture.renormalize &= spec->mixture.top > 1;
	for (int i = (int)first; i < spec->layers; i++)
		if (i % step == 0) {
			spec->layer[i].mixture = true;
			spec->layer[i].inner = shared * spec->mixture.inner;
		}
}

/* EuroBERT (Boizard et al. 2025): Llama that sees both ways. */
static void
adjust_eurobert(struct spec *spec, const struct tree *config)
{
	(void)config;
	spec->causal = false;
	spec->output_bias = spec->up_bias;
}

/* Whether UltraBERT's layer has a window: published folders list its size for each layer, null or 0 for none. */
static bool
ultrabert_slides(const struct spec *spec, const struct tree *config, int layer)
{
	const struct tree *windows = tree_get(config, "attention_windows");

	if (!windows)
		return family_slides(spec, config, layer, (layer + 1) % 3);
	if (windows->kind != TREE_LIST || windows->count != (size_t)spec->layers)
		tree_die(windows,
		    "'attention_windows' must list the window of each of %d layers",
		    spec->layers);
	const struct tree *own = windows->items[layer];
	if (own->kind != TREE_NULL &&
	    (!tree_is_whole(own) || own->integer < 0 || own->integer > 1 << 24))
		tree_die(own, "'attention_windows' must hold whole numbers and null");
	return tree_is_whole(own) && own->integer;
}

/* The size of UltraBERT's window, in its first layer that has one. */
static int
ultrabert_window(const struct spec *spec, const struct tree *config)
{
	const struct tree *windows = tree_get(config, "attention_windows");
	int window = (int)tree_integer_or(config, "sliding_window", 128, 1, 1 << 24);

	for (int i = spec->layers - 1; windows && i >= 0; i--)
		if (ultrabert_slides(spec, config, i))
			window = (int)windows->items[i]->integer;
	return window;
}

/* UltraBERT (Park et al. 2026): EuroBERT with local attention in most layers, which have a rotary base of their own; published
 * folders list the base of each layer. */
static void
adjust_ultrabert(struct spec *spec, const struct tree *config)
{
	const struct tree *thetas = tree_get(config, "rope_theta");
	double bases[] = { 2560000, 10000 };
	bool listed = thetas && !tree_get(config, "rope_parameters");

	if (listed &&
	    (thetas->kind != TREE_LIST || thetas->count != (size_t)spec->layers))
		tree_die(thetas, "'rope_theta' must list the base of each of %d layers",
		    spec->layers);
	for (int i = 0; i < spec->layers; i++)
		if (ultrabert_slides(spec, config, i)) {
			spec->layer[i].window = ultrabert_window(spec, config);
			spec->layer[i].rotary = FAMILY_SLIDING;
		}
	for (int i = 0; listed && i < spec->layers; i++) {
		const struct tree *own = thetas->items[i];
		if (own->kind != TREE_INTEGER && own->kind != TREE_REAL)
			tree_die(own, "'rope_theta' must hold numbers");
		bases[spec->layer[i].rotary] = own->real;
	}
	family_rotary_kinds(spec, config, bases);
	spec->causal = spec->untied = false;
}

/* NVIDIA's embedders (llama-embed-nemotron): Llama that sees both ways. */
static void
adjust_bidirectional(struct spec *spec, const struct tree *config)
{
	tree_expect(config, "pooling", "avg");
	spec->causal = false;
}

/* pplx-embed-v1: Qwen3 with bidirectional attention.  The contextual models, which embed each chunk of a text, are refused. */
static void
adjust_pplx(struct spec *spec, const struct tree *config)
{
	const struct tree *classes = tree_get(config, "architectures");
	const char *class = classes && classes->count ? classes->items[0]->string : NULL;

	if (class && strcmp(class, "PPLXQwen3Model"))
		tree_die(classes,
		    "'architectures' has '%s'; only 'PPLXQwen3Model' is supported",
		    class);
	family_expect(config, "use_bidirectional_attention", true);
	spec->causal = false;
}

/* Ministral 3, of which Nemotron-3-Embed is made: Mistral whose queries grow beyond the trained length; so long texts are not
 * supported. */
static void
adjust_ministral3(struct spec *spec, const struct tree *config)
{
	const struct tree *rope = tree_get(config, "rope_parameters");
	int trained = (int)tree_integer_or(
	    rope, "original_max_position_embeddings", spec->positions, 1, 1 << 24);
	int window = tree_get(config, "sliding_window") ? window_of(spec, config) : 0;

	if (!rope)
		tree_die(config, "'rope_parameters' is missing");
	for (int i = 0; i < spec->layers; i++)
		spec->layer[i].window = window;
	if (tree_real(rope, "llama_4_scaling_beta", 0) != 0 && trained < spec->positions)
		spec->positions = trained;
}

/* jina-embeddings-v5-text-small is Qwen3, -nano EuroBERT, whose settings have "mlp_bias"; LoRA adapters are beside them. */
static void
adjust_jina_v5(struct spec *spec, const struct tree *config)
{
	if (!tree_get(config, "mlp_bias") || tree_get(config, "max_window_layers"))
		return;
	family_biases(spec, config);
	spec->qk_norm = SPEC_QK_PLAIN;
	spec->norm_eps = (float)tree_real(config, "rms_norm_eps", 1e-5);
	adjust_eurobert(spec, config);
}

/* The rotary tables of Gemma 3, for global and for local attention: transformers 5 has both in "rope_parameters", others
 * scale the first only. */
static void
configure_gemma3_rotary(struct spec *spec, const struct tree *config)
{
	const struct tree *both = tree_get(config, "rope_parameters");
	const struct tree *full = tree_get(both, "full_attention");
	const struct tree *scaling = tree_get(config, "rope_scaling");
	double base = tree_real(full, "rope_theta", tree_real(config, "rope_theta", 1e6));

	family_rotary_table(spec, 0, config, scaling ? scaling : full, base);
	family_rotary_table(spec, 1, config, tree_get(both, "sliding_attention"),
	    tree_real(config, "rope_local_base_freq", 1e4));
	spec->rotaries = 2;
}

/* Every layer has a window but each `every`th; a second rotary table is the windows'. */
static void
configure_gemma_windows(struct spec *spec, const struct tree *config, int every)
{
	bool both = tree_boolean(config, "use_bidirectional_attention", false);
	bool causal = tree_boolean(config, "is_causal", true);
	int window = window_of(spec, config);

	/* half of it on either side, but one more in transformers where it is not causal twice */
	if (both)
		window = window / 2 + !causal;
	for (int i = 0; i < spec->layers; i++)
		if (family_slides(spec, config, i, (i + 1) % every)) {
			if (!window)
				tree_die(config, "'sliding_window' must not be null");
			spec->layer[i].window = window;
			spec->layer[i].rotary = spec->rotaries > 1;
		}
}

/* A real number above 0. */
static double
above_zero(const struct tree *config, const char *key, double otherwise)
{
	double value = tree_real(config, key, otherwise);

	if (!(value > 0 && value < 1e9))
		tree_die(
		    tree_get(config, key), "'%s' is %g; it must be above 0", key, value);
	return value;
}

/* What Gemma 2 and 3 have alike: norms before and after attention and MLP, whose weights are added to one. */
static void
configure_gemma_blocks(struct spec *spec, const struct tree *config)
{
	spec->untied = spec->up_bias = spec->down_bias = false;
	spec->act = family_activation(config, "hidden_activation", "gelu_pytorch_tanh");
	spec->norm = NN_RMSNORM_PLUS;
	spec->branch_norms = true;
	spec->embedding_scale = (float)sqrt(spec->width);
	spec->attention_scale =
	    (float)(1 / sqrt(above_zero(config, "query_pre_attn_scalar", 256)));
}

/* Gemma 3's text model (Gemma Team 2025), of which EmbeddingGemma is made: local attention in most layers, with a rotary base
 * of its own. */
static void
adjust_gemma3(struct spec *spec, const struct tree *config)
{
	family_refuse(config, "attn_logit_softcapping");
	family_refuse(config, "final_logit_softcapping");
	configure_gemma_blocks(spec, config);
	configure_gemma3_rotary(spec, config);
	configure_gemma_windows(spec, config,
	    (int)tree_integer_or(config, "sliding_window_pattern", 6, 1, SPEC_LAYERS));
}

/* Gemma 2 (Gemma Team 2024), of which bge-multilingual-gemma2 is made: local attention in every second layer, and scores that
 * are capped.  final_logit_softcapping is of the tokens that a language model predicts, not of embeddings. */
static void
adjust_gemma2(struct spec *spec, const struct tree *config)
{
	const char *key = "attn_logit_softcapping";

	configure_gemma_blocks(spec, config);
	spec->softcap = is_null(config, key) ? 0 : (float)above_zero(config, key, 50);
	spec->output_capped = !is_null(config, "final_logit_softcapping");
	configure_gemma_windows(spec, config, 2);
}

/* Gemma (Gemma Team 2024), of which bge-reranker-v2-gemma is made: norms whose weights are added to one. */
static void
adjust_gemma(struct spec *spec, const struct tree *config)
{
	const char *act = tree_string(config, "hidden_act", "gelu");

	spec->untied = spec->up_bias = spec->down_bias = false;
	if (!strcmp(act, "gelu")) /* the releases' name of the approximation */
		spec->act = NN_GELU_TANH;
	spec->norm = NN_RMSNORM_PLUS;
	spec->embedding_scale = (float)sqrt(spec->width);
}

/* OLMoE (Muennighoff et al. 2024): token experts in every layer and no other MLP. */
static void
adjust_olmoe(struct spec *spec, const struct tree *config)
{
	family_refuse(config, "clip_qkv");
	configure_mixture(spec, config, "num_experts", "intermediate_size");
	for (int i = 0; i < spec->layers; i++) {
		spec->layer[i].mixture = true;
		spec->layer[i].inner = 0;
	}
}

/* Whether "mlp_only_layers" has the layer. */
static bool
is_dense(const struct tree *layers, int layer)
{
	if (layers && layers->kind != TREE_LIST)
		tree_die(layers, "'mlp_only_layers' must list layers");
	for (size_t i = 0; layers && i < layers->count; i++) {
		if (!tree_is_whole(layers->items[i]))
			tree_die(layers->items[i], "'mlp_only_layers' must list layers");
		if (layers->items[i]->integer == layer)
			return true;
	}
	return false;
}

/* Qwen2-MoE (Qwen1.5-MoE-A2.7B): token experts in all layers, or in every few, and beside them one MLP for every token,
 * weighed by a gate. */
static void
adjust_qwen2_moe(struct spec *spec, const struct tree *config)
{
	const struct tree *dense = tree_get(config, "mlp_only_layers");
	int shared =
	    (int)tree_integer_in(config, "shared_expert_intermediate_size", 1, 1 << 20);
	int step = (int)tree_integer_or(config, "decoder_sparse_step", 1, 1, SPEC_LAYERS);

	spec->qkv_bias = tree_boolean(config, "qkv_bias", true);
	spec->out_bias = false;
	configure_mixture(spec, config, "num_experts", "moe_intermediate_size");
	spec->mixture.shared = "mlp.shared_expert";
	spec->mixture.shared_gate = true;
	for (int i = 0; i < spec->layers; i++)
		if ((i + 1) % step == 0 && !is_dense(dense, i)) {
			spec->layer[i].mixture = true;
			spec->layer[i].inner = shared;
		}
}

/* A member that must be an object. */
static const struct tree *
object_of(const struct tree *config, const char *key)
{
	const struct tree *object = tree_need(config, key);

	if (object->kind != TREE_OBJECT)
		tree_die(object, "'%s' must be an object", key);
	return object;
}

/* The text model of one with images.  A text's positions are the same in time, height and width, and so are its rotations. */
static void
configure_vl(struct spec *spec, const struct tree *config, const struct family *family)
{
	const struct tree *text = object_of(config, "text_config");
	const char *type = tree_string(text, "model_type", "");
	size_t length = strlen(family->model_type);

	if (strncmp(type, family->model_type, length) || strcmp(type + length, "_text"))
		tree_die(text,
		    "'model_type' of text_config is '%s'; it must be '%s_text'", type,
		    family->model_type);
	configure(spec, text, family);
}

/* NV-Embed (Lee et al. 2024): Mistral that sees both ways, whatever its window, and latent attention. */
static void
configure_nvembed(
    struct spec *spec, const struct tree *config, const struct family *family)
{
	const struct tree *text = object_of(config, "text_config");
	const struct tree *latents = object_of(config, "latent_attention_config");
	const char *type = tree_string(text, "model_type", "");

	if (strcmp(type, "bidir_mistral"))
		tree_die(tree_get(text, "model_type"),
		    "'model_type' of text_config is '%s'; it must be 'bidir_mistral'",
		    type);
	configure(spec, text, family);
	spec->causal = false;
	spec->latents = (struct spec_latents){ .count = (int)tree_integer_or(latents,
						   "num_latents_value", 512, 1, 1 << 16),
		.heads = (int)tree_integer_or(latents, "num_cross_heads", 8, 1, 1024),
		.head_size =
		    (int)tree_integer_or(latents, "cross_dim_head", 4096, 1, 1 << 16) };
	static const char *const widths[] = { "latent_dim", "hidden_dim" };
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
		if (tree_integer_or(latents, widths[i], 4096, 1, 1 << 16) != spec->width)
			tree_die(latents, "'%s' must be 'hidden_size' of text_config, %d",
			    widths[i], spec->width);
}

const struct family decoder_families[] = {
	{ "bidirectional_pplx_qwen3", &decoder, configure, adjust_pplx, .norm_eps = 1e-6,
	    .head_size = 128, .windows = WINDOWS_QWEN, .qk_norm = SPEC_QK_HEAD },
	{ "deepseek", &decoder, configure, adjust_deepseek, .norm_eps = 1e-6 },
	{ "eurobert", &decoder, configure, adjust_eurobert, .norm_eps = 1e-5 },
	{ "gemma", &decoder, configure, adjust_gemma, .norm_eps = 1e-6,
	    .head_size = 256 },
	{ "gemma2", &gemma3, configure, adjust_gemma2, .norm_eps = 1e-6, .head_size = 256,
	    .windows = WINDOWS_ADJUSTED },
	{ "gemma3_text", &gemma3, configure, adjust_gemma3, .norm_eps = 1e-6,
	    .head_size = 256, .windows = WINDOWS_ADJUSTED, .qk_norm = SPEC_QK_HEAD },
	{ "jina_embeddings_v5", &decoder, configure, adjust_jina_v5, .norm_eps = 1e-6,
	    .head_size = 128, .windows = WINDOWS_QWEN, .qk_norm = SPEC_QK_HEAD },
	/* Touvron et al. 2023 */
	{ "llama", &decoder, configure, NULL, .norm_eps = 1e-6 },
	{ "llama_bidirec", &decoder, configure, adjust_bidirectional, .norm_eps = 1e-6 },
	/* Mistral where "layer_types" names the layers with local attention */
	{ "ministral", &decoder, configure, NULL, .norm_eps = 1e-6, .bias = BIAS_NONE,
	    .windows = WINDOWS_ALL },
	{ "ministral3", &decoder, configure, adjust_ministral3, .norm_eps = 1e-5,
	    .head_size = 128, .bias = BIAS_NONE, .windows = WINDOWS_ADJUSTED },
	/* Jiang et al. 2023; E5-Mistral: local attention in every layer */
	{ "mistral", &decoder, configure, NULL, .norm_eps = 1e-6, .bias = BIAS_NONE,
	    .windows = WINDOWS_ALL },
	{ "nvembed", &nvembed, configure_nvembed, NULL, .norm_eps = 1e-6,
	    .bias = BIAS_NONE, .windows = WINDOWS_ADJUSTED },
	{ "olmoe", &decoder, configure, adjust_olmoe, .norm_eps = 1e-5,
	    .qk_norm = SPEC_QK_ALL },
	/* Yang et al. 2024; gte-Qwen2 */
	{ "qwen2", &decoder, configure, NULL, .norm_eps = 1e-6, .bias = BIAS_QKV,
	    .windows = WINDOWS_QWEN },
	{ "qwen2_moe", &decoder, configure, adjust_qwen2_moe, .norm_eps = 1e-6 },
	/* Yang et al. 2025; Qwen3-Embedding: heads x head size need not be the width */
	{ "qwen3", &decoder, configure, NULL, .norm_eps = 1e-6, .head_size = 128,
	    .windows = WINDOWS_QWEN, .qk_norm = SPEC_QK_HEAD },
	{ "qwen3_vl", &qwen_vl, configure_vl, NULL, .norm_eps = 1e-6,
	    .rotary_base = 500000, .head_size = 128, .qk_norm = SPEC_QK_HEAD },
	{ "qwen3_vl_text", &qwen_vl, configure, NULL, .norm_eps = 1e-6,
	    .rotary_base = 500000, .head_size = 128, .qk_norm = SPEC_QK_HEAD },
	{ "ultrabert", &ultrabert, configure, adjust_ultrabert, .norm_eps = 1e-6,
	    .windows = WINDOWS_ADJUSTED, .own_rotary = true },
	{ 0 },
};
