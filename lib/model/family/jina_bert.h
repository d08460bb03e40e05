/*
 * jina_bert - JinaBERT (Günther et al. 2023, jina-embeddings-v2), which calls itself "bert": slopes for positions
 * (ALiBi), and gated MLPs.
 */
#ifndef MODEL_FAMILY_JINA_BERT_H
#define MODEL_FAMILY_JINA_BERT_H

#include "model/spec.h"

/* Of a config whose position_embedding_type is "alibi"; the rest of the spec is as BERT has it. */
void jina_bert_configure(struct spec *spec, const struct tree *config);

#endif
