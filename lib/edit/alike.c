#include "edit/alike.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "folder/prompt.h"
#include "folder/sentence_config.h"
#include "model/config.h"
#include "model/model_struct.h"
#include "text/json.h"
#include "token/tokenizer.h"

static bool
is_empty(const struct tree *value)
{
	return !value || ((value->kind == TREE_LIST || value->kind == TREE_OBJECT) &&
			     !value->count);
}

/* Adds to `found` the quoted keys of `a` that are not the same in b; once: those alone that b lacks. */
static char *
add_keys(char *found, const struct tree *a, const struct tree *b,
    const char *const *harmless, bool once)
{
	for (size_t i = 0; a && i < a->count; i++) {
		const char *key = a->items[i]->key;
		const struct tree *ours = tree_get(a, key), *theirs = tree_get(b, key);
		if (tree_listed(harmless, key) || (once && theirs) ||
		    (is_empty(ours) && is_empty(theirs)) ||
		    (ours && theirs && tree_equal(ours, theirs)))
			continue;
		char *quoted = mem_format("'%s'", key);
		found = mem_list(found, quoted);
		free(quoted);
	}
	return found;
}

/* The keys in which two configurations differ, "'a', 'b'", to be freed; "": in none.  An empty list or object is like
 * none. */
static char *
differing_keys(const struct tree *a, const struct tree *b, const char *const *harmless)
{
	return add_keys(
	    add_keys(mem_string(""), a, b, harmless, false), b, a, harmless, true);
}

static void
demand_same_config(const struct model *a, const struct model *b)
{
	static const char *const harmless[] = { "_name_or_path", "architectures",
		"attention_dropout", "attention_probs_dropout_prob", "attn_pdrop",
		"auto_map", "classifier_dropout", "dropout", "dropout_rate", "dtype",
		"embd_pdrop", "gradient_checkpointing", "hidden_dropout_prob", "id2label",
		"initializer_range", "label2id", "output_attentions",
		"output_hidden_states", "output_past", "resid_pdrop",
		"tie_word_embeddings", "torch_dtype", "transformers_version", "use_cache",
		NULL };

	/* groups of neurons change no embedding, but the order of the neurons */
	if (spec_same(&a->spec, &b->spec) &&
	    a->spec.neuron_experts == b->spec.neuron_experts)
		return;
	char *keys = differing_keys(a->config, b->config, harmless);
	die("%s/config.json: differs from that of %s in %s; only models of one configuration have a mean",
	    b->folder, a->dir, *keys ? keys : "what its family makes of it");
}

static void
demand_same_bytes(const struct model *a, const struct model *b, const char *name)
{
	char *paths[] = { mem_format("%s/%s", a->folder, name),
		mem_format("%s/%s", b->folder, name) };
	size_t lengths[2] = { 0 };
	char *files[] = { file_read(paths[0], &lengths[0]),
		file_read(paths[1], &lengths[1]) };

	if (!files[0] != !files[1] || lengths[0] != lengths[1] ||
	    (files[0] && memcmp(files[0], files[1], lengths[0])))
		die("%s: is not %s; models of one tokenizer have a mean", paths[1],
		    paths[0]);
	for (int i = 0; i < 2; i++) {
		free(paths[i]);
		free(files[i]);
	}
}

static struct tree *
read_beside(const char *folder, const char *name, char **path)
{
	*path = mem_format("%s/%s", folder, name);
	return json_read_optional(*path);
}

/* Whether both folders have the file, without a difference but in harmless keys; dies where there is one, or where one
 * alone has what counts. */
static bool
demand_same_json(const char *a, const char *b, const char *name,
    const char *const *harmless, const char *why)
{
	char *paths[2];
	struct tree *x = read_beside(a, name, &paths[0]),
		    *y = read_beside(b, name, &paths[1]);
	char *keys = differing_keys(x, y, harmless);
	bool both = x && y;

	if (!x != !y && !strcmp(name, "tokenizer.json")) /* it goes before the others */
		die("%s: is not %s; %s", paths[1], paths[0], why);
	if (*keys)
		die("%s: is not as %s: they differ in %s; %s", paths[1], paths[0], keys,
		    why);
	free(keys);
	free(paths[0]);
	free(paths[1]);
	tree_free(x);
	tree_free(y);
	return both;
}

/* Weights of models with other token ids cannot be combined. */
static void
demand_same_tokenizer(const struct model *a, const struct model *b)
{
	static const char why[] = "models of one tokenizer have a mean";
	static const char *const none[] = { NULL }, *const passing[] = { "version",
		"truncation", "padding", NULL };
	/* paths, versions, and what concerns batches, generation or the length, which is compared for itself */
	static const char *const harmless[] = { "name_or_path", "_name_or_path",
		"tokenizer_file", "special_tokens_map_file", "cache_dir", "auto_map",
		"backend", "chat_template", "clean_up_tokenization_spaces", "is_local",
		"local_files_only", "max_length", "model_max_length",
		"pad_to_multiple_of", "pad_token_type_id", "padding", "padding_side",
		"processor_class", "stride", "tokenizer_class", "truncation_strategy",
		"use_fast", NULL };

	if (!demand_same_json(a->folder, b->folder, "tokenizer.json", passing, why))
		for (const char *const *name = (const char *const[]){ "vocab.txt",
			 "vocab.json", "merges.txt", "sentencepiece.bpe.model",
			 "spiece.model", "tokenizer.model", "sentencepiece.model", NULL };
		     *name; name++)
			demand_same_bytes(a, b, *name);
	demand_same_json(a->folder, b->folder, "tokenizer_config.json", harmless, why);
	demand_same_json(a->folder, b->folder, "special_tokens_map.json", none, why);
	demand_same_json(a->folder, b->folder, "added_tokens.json", none, why);
	size_t ours = tokenizer_max_length(a->dir), theirs = tokenizer_max_length(b->dir);
	if (ours != theirs)
		die("%s: takes texts of %zu tokens, %s of %zu ('max_seq_length'); make these alike",
		    b->dir, theirs, a->dir, ours);
	bool lower[2];
	for (int i = 0; i < 2; i++) {
		struct tree *config = sentence_config_read(i ? b->folder : a->folder);
		lower[i] = tree_boolean(config, "do_lower_case", false);
		tree_free(config);
	}
	if (lower[0] != lower[1])
		die("%s: differs from %s in 'do_lower_case' of its %s; %s", b->dir,
		    a->dir, sentence_config_names[0], why);
}

/* Prompts of one name, and the one that is used unasked. */
static void
demand_same_prompts(const struct model *a, const struct model *b)
{
	struct tree *ours = prompt_list(a->dir), *theirs = prompt_list(b->dir);
	char *defaults[] = { prompt_default(a->dir), prompt_default(b->dir) };

	for (size_t i = 0; ours && i < ours->count; i++) {
		const struct tree *other = tree_get(theirs, ours->items[i]->key);
		if (other && !tree_equal(ours->items[i], other))
			die("%s: its prompt '%s' is not that of %s; make these alike",
			    b->dir, ours->items[i]->key, a->dir);
	}
	if (strcmp(defaults[0] ? defaults[0] : "", defaults[1] ? defaults[1] : ""))
		die("%s: differs from %s in 'default_prompt_name'; make these alike",
		    b->dir, a->dir);
	for (int i = 0; i < 2; i++)
		free(defaults[i]);
	tree_free(ours);
	tree_free(theirs);
}

void
demand_alike(const struct model *a, const struct model *b)
{
	demand_same_config(a, b);
	model_demand_head(a, b->dir, &b->head);
	demand_same_tokenizer(a, b);
	demand_same_prompts(a, b);
}
