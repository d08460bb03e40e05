#include "model/family/family.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Static embeddings (folder/static_folder.h): a table, and no block. */
static const struct tensor_names model2vec = {
	.prefixes = { "" },
	.stem = { [STEM_TOKENS] = "embedding" },
	.layers = "blocks.",
	.heads = { "mapping", "weights" }, /* read by table_rows.h */
};

static void
configure_model2vec(
    struct spec *spec, const struct tree *config, const struct family *family)
{
	(void)family;
	spec->vocabulary = (int)tree_integer_in(config, "vocab_size", 1, 1 << 24);
	spec->width = (int)tree_integer_in(config, "hidden_size", 1, 1 << 16);
	spec->token_weights = tree_boolean(config, "token_weights", false);
	spec->positions = INT_MAX;
}

static const struct family static_families[] = {
	{ .model_type = "model2vec",
	    .names = &model2vec,
	    .configure = configure_model2vec },
	{ 0 },
};

static const struct family *const tables[] = { bert_families, deberta_families,
	decoder_families, embedding_gemma2_families, gte_families, jina_v3_families,
	lfm2_families, static_families, modernbert_families, nomic_bert_families,
	t5_families, NULL };

static const struct family *
find(const char *type)
{
	for (const struct family *const *table = tables; *table; table++)
		for (const struct family *family = *table; family->model_type; family++)
			if (!strcmp(type, family->model_type))
				return family;
	return NULL;
}

_Noreturn static void
die_unknown(const struct tree *config, const char *type)
{
	char *known = mem_string("");

	for (const struct family *const *table = tables; *table; table++)
		for (const struct family *family = *table; family->model_type; family++)
			known = mem_list(known, family->model_type);
	if (!type)
		tree_die(config, "'model_type' is missing; supported are %s", known);
	tree_die(tree_get(config, "model_type"), "'model_type' is '%s'; supported are %s",
	    type, known);
}

static void
configure_dropout(
    struct spec *spec, const struct tree *config, const struct family_dropout *dropout)
{
	for (int i = 0; i < SPEC_DROPS; i++) {
		const char *key = dropout ? dropout->keys[i] : NULL;
		if (key && !tree_get(config, key) && dropout->others[i])
			key = dropout->others[i];
		spec->dropout[i] = key ? tree_real(config, key, dropout->usual) : -1;
	}
}

void
family_configure(struct spec *spec, const struct tree *config)
{
	const char *type = tree_string(config, "model_type", NULL);
	const char *positions = tree_string(config, "position_embedding_type", "");
	char *both = mem_format("%s/%s", type ? type : "", positions);
	const struct family *family = find(both);

	free(both);
	if (!family && type)
		family = find(type);
	if (!family)
		die_unknown(config, type);
	spec->names = family->names;
	family->configure(spec, config, family);
	if (family->adjust)
		family->adjust(spec, config);
	configure_dropout(spec, config, family->dropout);
	spec->untied = !tree_boolean(config, "tie_word_embeddings", !spec->untied);
}

static const char *
key_of(const char *own, const char *common)
{
	return own ? own : common;
}

int
family_sizes(struct spec *spec, const struct tree *config, const struct family *family)
{
	const char *common = "max_position_embeddings";

	spec->vocabulary = (int)tree_integer_in(config, "vocab_size", 1, 1 << 24);
	spec->width = family_number(
	    config, key_of(family->width_key, "hidden_size"), "hidden_size", 1 << 16);
	spec->layers =
	    family_number(config, key_of(family->layers_key, "num_hidden_layers"),
		"num_hidden_layers", SPEC_LAYERS);
	spec->heads = spec->kv_heads =
	    family_number(config, key_of(family->heads_key, "num_attention_heads"),
		"num_attention_heads", 1024);
	int inner = family_number(config, key_of(family->inner_key, "intermediate_size"),
	    "intermediate_size", 1 << 20);
	spec->positions = family->unlimited ? 1 << 24
					    : family_number(config,
						  key_of(family->positions_key, common),
						  common, 1 << 24);
	spec->initializer_range = tree_real(config, "initializer_range", 0.02);
	for (int i = 0; i < spec->layers; i++)
		spec->layer[i] =
		    (struct spec_layer){ .stored = i, .norm1 = true, .inner = inner };
	return inner;
}

void
family_divide_heads(
    struct spec *spec, const struct tree *config, const struct family *family)
{
	const char *key = key_of(family->heads_key, "num_attention_heads");

	if (!tree_get(config, key))
		key = "num_attention_heads";
	if (spec->width % spec->heads)
		tree_die(tree_get(config, key),
		    "'%s' is %d; it must divide the width of the model, %d", key,
		    spec->heads, spec->width);
	spec->head_size = spec->width / spec->heads;
}

int
family_number(const struct tree *config, const char *first, const char *second, int most)
{
	const struct tree *other = tree_get(config, second);
	const char *key = other && !tree_get(config, first) ? second : first;
	int number = (int)tree_integer_in(config, key, 1, most);

	if (other && tree_integer(config, second, 0) != number)
		tree_die(other, "'%s' is %lld, and '%s' is %d", second,
		    (long long)tree_integer(config, second, 0), first, number);
	return number;
}

void
family_expect(const struct tree *config, const char *key, bool expected)
{
	if (tree_boolean(config, key, expected) != expected)
		tree_die(tree_get(config, key), "'%s' is %s; only %s is supported", key,
		    expected ? "false" : "true", expected ? "true" : "false");
}

void
family_refuse(const struct tree *config, const char *key)
{
	if (tree_get(config, key))
		tree_die(
		    tree_get(config, key), "'%s' is not supported; it must be null", key);
}

enum nn_act
family_activation(const struct tree *config, const char *key, const char *otherwise)
{
	static const struct {
		const char *name;
		enum nn_act act;
	} names[] = { { "gelu", NN_GELU }, { "gelu_new", NN_GELU_TANH },
		{ "gelu_pytorch_tanh", NN_GELU_TANH }, { "gelu_fast", NN_GELU_TANH },
		{ "gelu_python", NN_GELU }, { "silu", NN_SILU }, { "swish", NN_SILU },
		{ "relu", NN_RELU }, { "tanh", NN_TANH }, { "sigmoid", NN_SIGMOID } };
	const char *name = tree_string(config, key, otherwise);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i].name))
			return names[i].act;
	tree_die(config,
	    "'%s' is '%s'; supported are gelu, gelu_new, silu, relu, tanh and sigmoid",
	    key, name);
}

void
family_biases(struct spec *spec, const struct tree *config)
{
	spec->qkv_bias = spec->out_bias = tree_boolean(config, "attention_bias", false);
	spec->up_bias = spec->down_bias = tree_boolean(config, "mlp_bias", false);
}

void
family_positions_from(struct spec *spec, const struct tree *config, int first)
{
	if (first >= spec->positions)
		tree_die(tree_get(config, "max_position_embeddings"),
		    "'max_position_embeddings' is %d, and positions begin at %d",
		    spec->positions, first);
	spec->position_first = first;
	spec->positions -= first;
}

int
family_layer_type(const struct spec *spec, const struct tree *config, int layer,
    const char *const types[2], int otherwise)
{
	const struct tree *list = tree_get(config, "layer_types");

	if (!list)
		return otherwise;
	if (list->kind != TREE_LIST || list->count != (size_t)spec->layers)
		tree_die(list, "'layer_types' must name the type of each of %d layers",
		    spec->layers);
	const struct tree *type = list->items[layer];
	for (int i = 0; i < 2; i++)
		if (type->kind == TREE_STRING && !strcmp(type->string, types[i]))
			return i;
	tree_die(type, "'layer_types' may hold '%s' and '%s'", types[0], types[1]);
}

bool
family_slides(
    const struct spec *spec, const struct tree *config, int layer, bool otherwise)
{
	static const char *const types[] = { "full_attention", "sliding_attention" };

	return family_layer_type(spec, config, layer, types, otherwise);
}
