/*
 * RoBERTa (Liu et al. 2019), and XLM-RoBERTa and CamemBERT, which are it in other languages: BERT
 * whose positions begin after the padding token's number.
 */
#include "folder/positions.h"
#include "model/family/bert.h"

static const char *const stem[STEM_PARAMETERS] = {
	BERT_STEM,
	[STEM_MLM_DENSE] = "lm_head.dense",
	[STEM_MLM_NORM] = "lm_head.layer_norm",
	[STEM_OUTPUT] = "lm_head.decoder",
};

static const struct names names = {
	.prefixes = (const char *const[]){ "", "roberta.", NULL },
	.stem = stem,
	.layers = "encoder.layer.",
	.block = bert_block,
	.heads = (const char *const[]){ "lm_head.", "pooler.", "classifier.",
	    "qa_outputs.", NULL },
};

/* Models of other arithmetic that call themselves this, as jina-embeddings-v3 does. */
static void
refuse_others(const struct tree *config)
{
	const struct tree *code = tree_get(config, "auto_map");

	if (tree_get(config, "lora_adaptations"))
		tree_die(tree_get(config, "lora_adaptations"),
		    "'lora_adaptations' is not known of such a model");
	if (code && tree_get(code, "AutoModel"))
		tree_die(code,
		    "'auto_map' says that the model is code of its own, which is not known");
}

static void
configure(struct spec *spec, const struct tree *config)
{
	bert_configure(spec, config, "absolute");
	refuse_others(config);
	spec_positions_from(spec, config, positions_first(config));
	spec->head_act = NN_GELU; /* whatever hidden_act is */
	spec->names = &names;
}

const struct family family_roberta = { "roberta", configure };
const struct family family_xlm_roberta = { "xlm-roberta", configure };
const struct family family_camembert = { "camembert", configure };
