/* BERT and its kind: learned positions, norms after the residual sums, biases everywhere, a plain MLP. */
#include <string.h>

#include "folder/positions.h"
#include "model/family/family.h"

#define SELF_ATTENTION                                                                   \
	QKV("attention.self.query", "attention.self.key", "attention.self.value",        \
	    "attention.output.dense")
#define BERT_BLOCK                                                                       \
	SELF_ATTENTION, MLP("intermediate.dense", NULL, "output.dense"),                 \
	    NORMS("attention.output.LayerNorm", "output.LayerNorm")
#define LM_HEAD PREDICTION("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder")

static const struct tensor_names bert = {
	.prefixes = { "", "bert." },
	.stem = { EMBEDDINGS("embeddings.LayerNorm"), CLS_PREDICTIONS },
	.layers = "encoder.layer.",
	.block = { BERT_BLOCK },
	POOLED_CLASSIFIER,
	.heads = { "cls.", "pooler.", "classifier.", "qa_outputs." },
};

static const struct tensor_names jina_bert = {
	.prefixes = { "", "bert." },
	.stem = { EMBEDDINGS("embeddings.LayerNorm"), CLS_PREDICTIONS },
	.layers = "encoder.layer.",
	.block = { SELF_ATTENTION, MLP("mlp.gated_layers", "mlp.gated_layers", "mlp.wo"),
	    NORMS("attention.output.LayerNorm", "mlp.layernorm") },
	.gate_first = true,
	POOLED_CLASSIFIER,
	.heads = { "cls.", "pooler.", "classifier." },
};

static const struct tensor_names jina_bert_code = {
	.prefixes = { "", "bert." },
	.stem = { EMBEDDINGS("embeddings.LayerNorm"), CLS_PREDICTIONS },
	.layers = "encoder.layer.",
	.block = { SELF_ATTENTION,
	    MLP("mlp.up_gated_layer", "mlp.up_gated_layer", "mlp.down_layer"),
	    NORMS("layer_norm_1", "layer_norm_2"),
	    [BLOCK_Q_NORM] = "attention.self.layer_norm_q",
	    [BLOCK_K_NORM] = "attention.self.layer_norm_k",
	    [BLOCK_OUT_NORM] = "attention.output.LayerNorm" },
	.heads = { "cls.", "pooler.", "classifier." },
};

static const struct tensor_names ernie = {
	.prefixes = { "", "ernie." },
	.stem = { EMBEDDINGS("embeddings.LayerNorm"),
	    CLS_PREDICTIONS, [STEM_TASKS] = "embeddings.task_type_embeddings" },
	.layers = "encoder.layer.",
	.block = { BERT_BLOCK },
	POOLED_CLASSIFIER,
	.heads = { "cls.", "pooler.", "classifier.", "qa_outputs." },
};

static const struct tensor_names electra = {
	.prefixes = { "", "electra." },
	.stem = { EMBEDDINGS("embeddings.LayerNorm"),
	    PREDICTION("generator_predictions.dense", "generator_predictions.LayerNorm",
		"generator_lm_head"),
	    [STEM_PROJECT] = "embeddings_project" },
	.layers = "encoder.layer.",
	.block = { BERT_BLOCK },
	.classifier = { { "classifier.dense", ACTIVATED(NN_GELU) },
	    { .module = "classifier.out_proj" } },
	.heads = { "generator_predictions.", "generator_lm_head.",
	    "discriminator_predictions.", "classifier.", "qa_outputs.",
	    "sequence_summary." },
};

static const struct tensor_names roberta = {
	.prefixes = { "", "roberta." },
	.stem = { EMBEDDINGS("embeddings.LayerNorm"), LM_HEAD },
	.layers = "encoder.layer.",
	.block = { BERT_BLOCK },
	.classifier = { { "classifier.dense", ACTIVATED(NN_TANH) },
	    { .module = "classifier.out_proj" } },
	.heads = { "lm_head.", "pooler.", "classifier.", "qa_outputs." },
};

static const struct tensor_names mpnet = {
	.prefixes = { "", "mpnet." },
	.stem = { EMBEDDINGS("embeddings.LayerNorm"),
	    LM_HEAD, [STEM_DISTANCE] = "encoder.relative_attention_bias" },
	.layers = "encoder.layer.",
	.block = { QKV("attention.attn.q", "attention.attn.k", "attention.attn.v",
		       "attention.attn.o"),
	    MLP("intermediate.dense", NULL, "output.dense"),
	    NORMS("attention.LayerNorm", "output.LayerNorm") },
	.classifier = { { "classifier.dense", ACTIVATED(NN_TANH) },
	    { .module = "classifier.out_proj" } },
	.heads = { "lm_head.", "pooler.", "classifier.", "qa_outputs." },
};

static const struct tensor_names albert = {
	.prefixes = { "", "albert." },
	.stem = { EMBEDDINGS("embeddings.LayerNorm"),
	    PREDICTION(
		"predictions.dense", "predictions.LayerNorm", "predictions.decoder"),
	    [STEM_PROJECT] = "encoder.embedding_hidden_mapping_in" },
	.layers = "encoder.albert_layer_groups.",
	.inner = "albert_layers.0.",
	.block = { QKV("attention.query", "attention.key", "attention.value",
		       "attention.dense"),
	    MLP("ffn", NULL, "ffn_output"),
	    NORMS("attention.LayerNorm", "full_layer_layer_norm") },
	.classifier = { { "pooler", .inside = true, ACTIVATED(NN_TANH) },
	    { .module = "classifier" } },
	.heads = { "predictions.", "sop_classifier.", "pooler.", "classifier.",
	    "qa_outputs." },
};

static const struct tensor_names distilbert = {
	.prefixes = { "", "distilbert." },
	.stem = { EMBEDDINGS("embeddings.LayerNorm"),
	    PREDICTION("vocab_transform", "vocab_layer_norm", "vocab_projector") },
	.layers = "transformer.layer.",
	.block = { QKV("attention.q_lin", "attention.k_lin", "attention.v_lin",
		       "attention.out_lin"),
	    MLP("ffn.lin1", NULL, "ffn.lin2"),
	    NORMS("sa_layer_norm", "output_layer_norm") },
	.classifier = { { "pre_classifier", ACTIVATED(NN_RELU) },
	    { .module = "classifier" } },
	.heads = { "vocab_transform.", "vocab_layer_norm.", "vocab_projector.",
	    "pre_classifier.", "classifier.", "qa_outputs." },
};

#define HIDDEN "hidden_dropout_prob"
#define WEIGHTS "attention_probs_dropout_prob"

static const struct family_dropout usual_dropout = {
	.keys = { HIDDEN, WEIGHTS, HIDDEN, NULL, HIDDEN },
	.usual = 0.1,
};
static const struct family_dropout albert_dropout = {
	.keys = { HIDDEN, WEIGHTS, HIDDEN, NULL, NULL },
};
static const struct family_dropout distilbert_dropout = {
	.keys = { "dropout", "attention_dropout", NULL, NULL, "dropout" },
	.usual = 0.1,
};
static const struct family_dropout jina_bert_dropout = {
	.keys = { HIDDEN, WEIGHTS, HIDDEN, HIDDEN, NULL },
	.usual = 0.1,
};

static void
configure(struct spec *spec, const struct tree *config, const struct family *family)
{
	const char *key = "position_embedding_type";
	const char *type = tree_string(config, key, "absolute");
	const char *slash = strchr(family->model_type, '/');

	if (strcmp(type, slash ? slash + 1 : "absolute"))
		tree_die(tree_get(config, key),
		    "'%s' is '%s', which is not supported for such a model", key, type);
	family_expect(config, "is_decoder", false);
	family_sizes(spec, config, family);
	spec->types = (int)tree_integer_or(config, "type_vocab_size", 2, 0, 1 << 16);
	family_divide_heads(spec, config, family);
	spec->norm_eps = (float)tree_real(config, "layer_norm_eps", 1e-12);
	spec->act = spec->head_act = family_activation(config, "hidden_act", family->act);
	spec->position_table = spec->embedding_norm = spec->norm_bias = true;
	spec->norm = NN_LAYERNORM;
	spec->qkv_bias = spec->out_bias = spec->up_bias = spec->down_bias = true;
	spec->mlm_bias = spec->output_bias = true;
}

/* ALBERT (Lan et al. 2020): narrow embeddings, and blocks that share their weights: all of them, or those of a group. */
static void
adjust_albert(struct spec *spec, const struct tree *config)
{
	int groups =
	    (int)tree_integer_or(config, "num_hidden_groups", 1, 1, spec->layers);

	tree_integer_or(config, "inner_group_num", 1, 1, 1);
	spec->embedding_width =
	    (int)tree_integer_or(config, "embedding_size", 128, 1, 1 << 16);
	for (int i = 0; i < spec->layers; i++)
		spec->layer[i].stored =
		    (int)(i / ((double)spec->layers / groups)); /* as the reference */
}

/* Whether config.json names code of its folder, some of it by a name with `part`. */
static bool
runs_code(const struct tree *config, const char *part)
{
	const struct tree *code = tree_get(config, "auto_map");

	for (size_t i = 0; code && code->kind == TREE_OBJECT && i < code->count; i++)
		if (code->items[i]->kind == TREE_STRING &&
		    strstr(code->items[i]->string, part))
			return true;
	return false;
}

/* JinaBERT (Günther et al. 2023, jina-embeddings-v2), which calls itself "bert": ALiBi and gated MLPs. */
static void
adjust_jina_bert(struct spec *spec, const struct tree *config)
{
	const char *key = "feed_forward_type";
	const char *type = tree_string(config, key, "original");

	/* jina-embeddings-v2-base-code: norms of queries and keys, and the residual twice */
	if (runs_code(config, "qk-post-norm")) {
		spec->names = &jina_bert_code;
		spec->qk_norm = SPEC_QK_ALL;
		spec->residual_twice = true;
	}
	if (strcmp(type, "geglu") && strcmp(type, "reglu"))
		tree_die(
		    config, "'%s' is '%s'; supported are geglu and reglu", key, type);
	spec->position_table = false;
	spec->distance.slopes = true;
	spec->gated = true;
	spec->act = strcmp(type, "geglu") ? NN_RELU : NN_GELU;
	spec->up_bias = false;
}

/* DistilBERT (Sanh et al. 2019): no token types; the epsilon of its norms is fixed. */
static void
adjust_distilbert(struct spec *spec, const struct tree *config)
{
	spec->types = 0;
	spec->norm_eps = 1e-12f;
	spec->act = spec->head_act = family_activation(config, "activation", "gelu");
}

/* ELECTRA (Clark et al. 2020), generator or discriminator: embeddings may be narrower than the blocks. */
static void
adjust_electra(struct spec *spec, const struct tree *config)
{
	int width = (int)tree_integer_or(config, "embedding_size", 128, 1, 1 << 16);

	spec->embedding_width = width == spec->width ? 0 : width;
	spec->head_act = NN_GELU; /* whatever hidden_act is */
}

/* ERNIE (Sun et al. 2019, 2021): with "use_task_id" a second table of types, one for each task of a text, is added;
 * texts to embed have its first row. */
static void
adjust_ernie(struct spec *spec, const struct tree *config)
{
	int tasks = (int)tree_integer_or(config, "task_type_vocab_size", 3, 1, 1 << 16);

	spec->tasks_of_text = tree_boolean(config, "use_task_id", false) ? tasks : 0;
}

/* MPNet (Song et al. 2020): no token types, and beside the table of positions one of distances for all blocks. */
static void
adjust_mpnet(struct spec *spec, const struct tree *config)
{
	spec->types = 0;
	family_positions_from(spec, config, positions_first(config));
	spec->head_act = NN_GELU; /* whatever hidden_act is */
	/* whatever config.json says, the reference counts with these */
	tree_integer_or(config, "relative_attention_num_buckets", 32, 32, 32);
	spec->distance = (struct spec_distance){ .buckets = 32, .farthest = 128 };
}

/* RoBERTa (Liu et al. 2019), and XLM-RoBERTa and CamemBERT, the same in other languages: positions begin after the padding
 * token's number. */
static void
adjust_roberta(struct spec *spec, const struct tree *config)
{
	const struct tree *code = tree_get(config, "auto_map");

	/* models of other arithmetic have this model_type too: jina-embeddings-v3 */
	if (tree_get(config, "lora_adaptations"))
		tree_die(tree_get(config, "lora_adaptations"),
		    "'lora_adaptations' is not supported for such a model");
	if (runs_code(config, "XLMRobertaFlashConfig"))
		spec->names = &family_jina_names; /* jina-reranker-v2 */
	else if (code && tree_get(code, "AutoModel"))
		tree_die(code,
		    "'auto_map' says that the model runs Python code of its folder, which is not supported");
	family_positions_from(spec, config, positions_first(config));
	spec->head_act = NN_GELU; /* whatever hidden_act is */
}

const struct family bert_families[] = {
	{ "albert", &albert, configure, adjust_albert, .act = "gelu_new",
	    .dropout = &albert_dropout },
	{ "bert", &bert, configure, NULL, .act = "gelu", .dropout = &usual_dropout },
	{ "bert/alibi", &jina_bert, configure, adjust_jina_bert, .act = "gelu",
	    .dropout = &jina_bert_dropout },
	{ "camembert", &roberta, configure, adjust_roberta, .act = "gelu",
	    .dropout = &usual_dropout },
	{ "distilbert", &distilbert, configure, adjust_distilbert, .act = "gelu",
	    .width_key = "dim", .layers_key = "n_layers", .heads_key = "n_heads",
	    .inner_key = "hidden_dim", .dropout = &distilbert_dropout },
	{ "electra", &electra, configure, adjust_electra, .act = "gelu",
	    .dropout = &usual_dropout },
	{ "ernie", &ernie, configure, adjust_ernie, .act = "gelu",
	    .dropout = &usual_dropout },
	{ "mpnet", &mpnet, configure, adjust_mpnet, .act = "gelu",
	    .dropout = &usual_dropout },
	{ "roberta", &roberta, configure, adjust_roberta, .act = "gelu",
	    .dropout = &usual_dropout },
	{ "xlm-roberta", &roberta, configure, adjust_roberta, .act = "gelu",
	    .dropout = &usual_dropout },
	{ 0 },
};
