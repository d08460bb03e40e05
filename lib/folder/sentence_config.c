#include "folder/sentence_config.h"

#include <string.h>

#include "text/json.h"

const char *const sentence_config_names[] = { "sentence_bert_config.json",
	"sentence_roberta_config.json", "sentence_distilbert_config.json",
	"sentence_camembert_config.json", "sentence_albert_config.json",
	"sentence_xlm-roberta_config.json", "sentence_xlnet_config.json", NULL };

static void
expect(const struct tree *object, const char *key, const char *expected)
{
	const char *value = tree_string(object, key, "");

	if (strcmp(value, expected))
		tree_die(
		    object, "'%s' is '%s'; only '%s' is supported", key, value, expected);
}

bool
sentence_config_predicts(const struct tree *config)
{
	return !strcmp(tree_string(config, "transformer_task", ""), "fill-mask");
}

bool
sentence_config_asks(const struct tree *config)
{
	const char *task = tree_string(config, "transformer_task", "");

	return !strcmp(task, "text-generation") || !strcmp(task, "any-to-any");
}

const struct tree *
sentence_config_message(const struct tree *config)
{
	return tree_get(tree_get(config, "modality_config"), "message");
}

/* What becomes of a kind of input: its last hidden states. */
static void
check_modality(const struct tree *modality)
{
	const struct tree *output = tree_get(modality, "method_output_name");

	expect(modality, "method", "forward");
	if (output && output->kind == TREE_LIST)
		tree_die(output,
		    "'method_output_name' is a list; only 'last_hidden_state' is supported");
	expect(modality, "method_output_name", "last_hidden_state");
}

/* The model's output that is pooled must be the last hidden states. */
static void
check_output(const struct tree *config)
{
	const char *key = "modality_config";
	const struct tree *modalities = tree_get(config, key);
	const char *task = tree_string(config, "transformer_task", "");

	if (!strcmp(task, "sequence-classification") ||
	    sentence_config_predicts(config) || sentence_config_asks(config))
		return; /* model/classifier.h, model/terms.h */
	if (tree_get(config, "transformer_task"))
		expect(config, "transformer_task", "feature-extraction");
	if (!modalities)
		return;
	const struct tree *text = sentence_config_message(config);
	text = text ? text : tree_get(modalities, "text");
	if (!text || text->kind != TREE_OBJECT)
		tree_die(modalities, "'%s' does not say what becomes of 'text'", key);
	check_modality(text);
	expect(config, "module_output_name", "token_embeddings");
}

/* Arguments for the model and its configuration: only those that change no embedding. */
static void
check_arguments(const struct tree *config)
{
	/* token/tokenizer_settings.h reads those of the tokenizer */
	static const char *const keys[] = { "model_args", "model_kwargs", "config_args",
		"config_kwargs", "processing_kwargs", NULL };
	static const char *const harmless[] = { "attn_implementation", "audio",
		"chat_template", "device_map", "dtype", "image", "low_cpu_mem_usage",
		"padding_side", "revision", "torch_dtype", "trust_remote_code",
		"use_cache", "use_fast", "use_safetensors", "video", NULL };

	for (int i = 0; keys[i]; i++) {
		const struct tree *arguments = tree_get(config, keys[i]);
		if (arguments && arguments->kind != TREE_OBJECT)
			tree_die(arguments, "'%s' must be an object", keys[i]);
		for (size_t j = 0; arguments && j < arguments->count; j++)
			if (!tree_listed(harmless, arguments->items[j]->key))
				tree_die(arguments->items[j],
				    "'%s' in '%s' is not supported",
				    arguments->items[j]->key, keys[i]);
	}
}

bool
sentence_config_is(const char *dir, const char *kind)
{
	struct tree *config = json_find(dir, "config_sentence_transformers.json");
	bool is = !strcmp(tree_string(config, "model_type", ""), kind);

	tree_free(config);
	return is;
}

static void
check(const struct tree *config, const char *folder)
{
	static const char *const unknown[] = { "tokenizer_name_or_path", "query_length",
		"document_length", "query_expansion" };
	/* queries and documents may have settings of their own (late_interaction.h) */
	bool roles = sentence_config_is(folder, "MultiVectorEncoder");
	int count = roles ? 1 : 4;

	check_output(config);
	check_arguments(config);
	if (roles && sentence_config_message(config))
		tree_die(sentence_config_message(config),
		    "'message': late interaction of texts rendered as chat messages is not supported");
	for (int i = 0; i < count; i++)
		if (tree_get(config, unknown[i]))
			tree_die(tree_get(config, unknown[i]),
			    "'%s' is not supported; it must be null", unknown[i]);
}

struct tree *
sentence_config_read(const char *folder)
{
	struct tree *config = NULL;

	for (int i = 0; sentence_config_names[i] && !config; i++)
		config = json_find(folder, sentence_config_names[i]);
	if (config)
		check(config, folder);
	return config;
}
