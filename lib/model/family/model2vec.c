/* Static embeddings (folder/static_folder.h): a table, and no block. */
#include <limits.h>

#include "model/spec.h"

static const char *const stem[STEM_PARAMETERS] = { [STEM_TOKENS] = "embedding" };
static const char *const block[BLOCK_PARAMETERS] = { 0 };

static const struct names names = {
	.prefixes = (const char *const[]){ "", NULL },
	.stem = stem,
	.layers = "blocks.",
	.block = block,
	/* read by table_rows.h */
	.heads = (const char *const[]){ "mapping", "weights", NULL },
};

static void
configure(struct spec *spec, const struct tree *config)
{
	spec->vocabulary = (int)tree_integer_in(config, "vocab_size", 1, 1 << 24);
	spec->width = (int)tree_integer_in(config, "hidden_size", 1, 1 << 16);
	spec->positions = INT_MAX;
	spec->names = &names;
}

const struct family family_model2vec = { "model2vec", configure };
