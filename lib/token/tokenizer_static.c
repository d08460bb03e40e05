/* What the packages of static embeddings do with a text beside tokenising it: sentence-transformers 6.2, model2vec 0.10. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/json.h"
#include "token/tokenizer_parts.h"

enum { MODEL2VEC_MOST = 512 };

const struct tokenizer_static *
tokenizer_static(const struct tokenizer *tokenizer)
{
	return tokenizer->kind ? &tokenizer->table : NULL;
}

static size_t
characters(const char *text, size_t length)
{
	size_t count = 0;
	int32_t code;

	for (size_t at = 0; at < length; count++)
		at += utf8_decode(text + at, length - at, &code);
	return count;
}

static int
compare(const void *one, const void *two)
{
	size_t a = *(const size_t *)one, b = *(const size_t *)two;

	return (a > b) - (a < b);
}

/* The median length of the tokens, rounded down. */
static size_t
median_length(const struct tokenizer *tokenizer)
{
	size_t size = (size_t)tokenizer_size(tokenizer), count = 0;
	size_t *lengths = mem_new(size, sizeof *lengths);

	for (size_t id = 0; id < size; id++) {
		const char *token = tokenizer_token(tokenizer, (int)id);
		if (token)
			lengths[count++] = characters(token, strlen(token));
	}
	qsort(lengths, count, sizeof *lengths, compare);
	size_t median = count ? (lengths[(count - 1) / 2] + lengths[count / 2]) / 2 : 0;
	free(lengths);
	return median;
}

/* "max_length" of config.json: null is no limit, which a getter takes for absent. */
static size_t
model2vec_most(const char *home)
{
	char *path = mem_format("%s/config.json", home);
	struct tree *config = json_read_optional(path);
	size_t most = MODEL2VEC_MOST;

	for (size_t i = 0; config && i < config->count; i++)
		if (!strcmp(config->items[i]->key, "max_length"))
			most = (size_t)tree_integer_or(
			    config, "max_length", 0, 1, INT32_MAX);
	tree_free(config);
	free(path);
	return most;
}

/* The token for what is in no vocabulary, by its text or, in a Unigram model, its id; -1: none. */
static int32_t
unknown_of(const struct tokenizer *tokenizer, const struct tree *root)
{
	const struct tree *model = tree_need(root, "model");
	const char *otherwise = tokenizer->wordpiece ? "[UNK]" : NULL;
	const char *text = tree_string(model, "unk_token", otherwise);

	if (text)
		return tokenizer_id(tokenizer, text);
	return (int32_t)tree_integer_or(model, "unk_id", -1, 0, VOCABULARY_MAX - 1);
}

void
tokenizer_read_static(
    struct tokenizer *tokenizer, const struct tree *root, const char *home)
{
	const struct tree *truncation = tree_get(root, "truncation");
	struct tokenizer_static *table = &tokenizer->table;

	tokenizer->before.count = tokenizer->after.count = 0;
	*table = (struct tokenizer_static){ .unknown = -1 };
	if (tokenizer->kind == STATIC_MODEL2VEC) {
		tokenizer->cut_left = false;
		table->most = model2vec_most(home);
		table->characters = median_length(tokenizer);
		table->unknown = unknown_of(tokenizer, root);
		return;
	}
	if (!truncation)
		return;
	table->most = (size_t)tree_integer_in(truncation, "max_length", 1, INT32_MAX);
}
