/*
 * ERNIE (Sun et al. 2019, 2021): BERT; with "use_task_id" a second table of types, of the task that a text is for, is
 * added, of which texts to embed have the first.
 */
#include "model/family/bert.h"

static const char *const stem[STEM_PARAMETERS] = {
	BERT_STEM,
	[STEM_TASKS] = "embeddings.task_type_embeddings",
	[STEM_MLM_DENSE] = "cls.predictions.transform.dense",
	[STEM_MLM_NORM] = "cls.predictions.transform.LayerNorm",
	[STEM_OUTPUT] = "cls.predictions.decoder",
};

static const struct names names = {
	.prefixes = (const char *const[]){ "", "ernie.", NULL },
	.stem = stem,
	.layers = "encoder.layer.",
	.block = bert_block,
	.heads = (const char *const[]){ "cls.", "pooler.", "classifier.", "qa_outputs.",
	    NULL },
};

static void
configure(struct spec *spec, const struct tree *config)
{
	bert_configure(spec, config, "absolute");
	int tasks = (int)tree_integer_or(config, "task_type_vocab_size", 3, 1, 1 << 16);
	spec->tasks_of_text = tree_boolean(config, "use_task_id", false) ? tasks : 0;
	spec->names = &names;
}

const struct family family_ernie = { "ernie", configure };
