#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "token/tokenizer_parts.h"

void
tokenizer_add_piece(void *context, const char *text, size_t length, double score)
{
	struct tokenizer *tokenizer = context;
	int32_t id = vocabulary_size(tokenizer->vocabulary);

	if (id == VOCABULARY_MAX)
		die("%s: model: more than %d pieces", tokenizer->path, VOCABULARY_MAX);
	if (length > UNIGRAM_LONGEST)
		die("%s: model: piece %d has %zu bytes; at most %d are supported",
		    tokenizer->path, (int)id, length, UNIGRAM_LONGEST);
	vocabulary_put(tokenizer->vocabulary, text, length, id);
	if (!tokenizer->score)
		tokenizer->score =
		    mem_large(tokenizer->score_room, sizeof *tokenizer->score);
	tokenizer->score[id] = score;
}

void
tokenizer_read_unigram(struct tokenizer *tokenizer, const struct tree *root)
{
	const struct tree *model = tree_need(root, "model");
	int32_t count = vocabulary_size(tokenizer->vocabulary);

	if (!tokenizer->score)
		tree_die(root,
		    "model: the 'vocab' of a Unigram must be a list of pairs of a piece and its score");
	struct unigram_rules rules = { .byte_fallback =
					   tree_boolean(model, "byte_fallback", false) };
	rules.unknown = (int32_t)tree_integer_or(model, "unk_id", -1, 0, count - 1);
	tokenizer->unigram =
	    unigram_new(tokenizer->vocabulary, tokenizer->score, &rules, tokenizer->path);
	tokenizer->score = NULL;
	tokenizer->normalizer = normalizer_new(tree_get(root, "normalizer"));
	tokenizer->pretokenizer = pretokenizer_new(tree_get(root, "pre_tokenizer"));
}
