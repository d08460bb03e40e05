/* Reads what a model folder says about its tokenizer beside the tokens: fingerprint, lengths, an adapter's base model.
 * */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/adapter_folder.h"
#include "folder/folder.h"
#include "folder/modules.h"
#include "folder/positions.h"
#include "folder/prompt.h"
#include "folder/sentence_config.h"
#include "text/json.h"
#include "token/tokenizer.h"
#include "token/tokenizer_source.h"

char *
tokenizer_fingerprint(const char *dir)
{
	struct tokenizer_source source = { 0 };

	tokenizer_source_find(&source, dir);
	/* static embeddings of the same file have other ids around a text */
	XXH128_hash_t hash =
	    XXH3_128bits_withSeed(source.bytes.text, source.bytes.length, source.kind);
	tokenizer_source_close(&source);
	return mem_format("%016llx%016llx", (unsigned long long)hash.high64,
	    (unsigned long long)hash.low64);
}

void
tokenizer_check(const struct reader *in, const char *dir)
{
	const char *theirs = tree_string(stream_properties(in), "tokenizer", NULL);

	if (!theirs)
		return;
	char *ours = tokenizer_fingerprint(dir);
	if (strcmp(ours, theirs))
		die("%s: its tokens were made by another tokenizer (%.12s) than that of %s (%.12s); give tok the same model",
		    stream_name(in), theirs, dir, ours);
	free(ours);
}

static size_t
least(size_t a, const struct tree *node, const char *key)
{
	const struct tree *value = node ? tree_get(node, key) : NULL;

	/* 10^30 stands for no limit */
	if (!value || (value->kind != TREE_INTEGER && value->kind != TREE_REAL) ||
	    value->real < 1 || value->real > 1e9)
		return a;
	return a == 0 || value->real < (double)a ? (size_t)value->real : a;
}

size_t
tokenizer_max_length(const char *dir)
{
	char *home = tokenizer_source_home(dir);
	struct tree *tree = sentence_config_read(home);
	size_t most = least(0, tree_get(tree, "tokenizer_args"), "model_max_length");

	most = least(most, tree_get(tree, "processor_kwargs"), "model_max_length");
	most = most ? most : least(0, tree, "max_seq_length");
	tree_free(tree);
	if (!most) {
		tree = json_find(home, "config.json");
		most =
		    least(least(0, tree, "max_position_embeddings"), tree, "n_positions");
		size_t first = (size_t)positions_first(tree);
		most -= first < most ? first : 0;
		tree_free(tree);
		tree = json_find(home, "tokenizer_config.json");
		most = least(most, tree, "model_max_length");
		tree_free(tree);
	}
	free(home);
	return most;
}

/* Whether the folder has a tokenizer. */
static bool
has_tokenizer(const char *folder)
{
	static const char *const names[] = { "tokenizer.json", "vocab.txt", "vocab.json",
		"sentencepiece.bpe.model", "spiece.model" };
	bool is = false;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		is |= folder_has(folder, names[i]);
	return is;
}

/* tokenizer.json without truncation, padding and version, to be freed; NULL: there is none. */
static struct tree *
read_rules(const char *folder)
{
	struct tree *rules = json_find(folder, "tokenizer.json");

	for (const char *const *key =
		 (const char *const[]){ "truncation", "padding", "version", NULL };
	     rules && *key; key++)
		tree_remove(rules, *key);
	return rules;
}

/* Whether the tokenizer.json of two models are equal but for truncation, padding and version. */
static bool
same_rules(const char *a, const char *b)
{
	char *folders[] = { modules_transformer(a), modules_transformer(b) };
	struct tree *x = read_rules(folders[0]), *y = read_rules(folders[1]);
	bool same = x && y && tree_equal(x, y);

	tree_free(x);
	tree_free(y);
	free(folders[0]);
	free(folders[1]);
	return same;
}

static void
compare_tokenizers(const char *adapter, const char *base)
{
	char *folder = modules_transformer(adapter);

	if (has_tokenizer(folder)) {
		char *theirs = tokenizer_fingerprint(adapter),
		     *ours = tokenizer_fingerprint(base);
		if (strcmp(theirs, ours) && !same_rules(adapter, base))
			warn("%s: has a tokenizer that is not that of %s, whose is used",
			    adapter, base);
		free(theirs);
		free(ours);
	}
	free(folder);
}

char *
tokenizer_model(char *dir)
{
	char *base = adapter_folder_base(dir);

	if (!base)
		return dir;
	compare_tokenizers(dir, base);
	size_t most = tokenizer_max_length(dir), own = tokenizer_max_length(base);
	if (most && own && most < own)
		warn(
		    "%s: takes texts of %zu tokens, %s of %zu, which counts; give --max-length",
		    dir, most, base, own);
	char *theirs = prompt_default(dir), *ours = prompt_default(base);
	if (theirs && (!ours || strcmp(theirs, ours)))
		die("%s: its default prompt is '%s', that of %s is '%s'; give the model with -m, and the prompt with --prompt",
		    dir, theirs, base, ours ? ours : "");
	free(theirs);
	free(ours);
	free(dir);
	return base;
}

void
tokenizer_check_end(const struct tokenizer *tokenizer, const char *model)
{
	struct modules *modules = modules_read(model);
	size_t before, after;

	tokenizer_template(tokenizer, &before, &after);
	for (size_t i = 0; modules && i < modules->count && !after; i++) {
		if (strcmp(modules->at[i].type, "Pooling"))
			continue;
		struct tree *pooling = json_find(modules->at[i].folder, "config.json");
		if (tree_boolean(pooling, "pooling_mode_lasttoken", false) ||
		    !strcmp(tree_string(pooling, "pooling_mode", ""), "lasttoken"))
			warn(
			    "%s: the model pools the last token, but its tokenizer puts none behind a text; let the post_processor of its tokenizer.json be a TemplateProcessing that does",
			    model);
		tree_free(pooling);
	}
	modules_free(modules);
}
