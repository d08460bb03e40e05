/*
 * static_folder - folders of static embeddings: a text is the mean of the rows that its tokens have in one table.
 *
 * Two packages make them.  sentence-transformers: the first module of modules.json is StaticEmbedding, in whose folder
 * are model.safetensors with "embedding.weight" and tokenizer.json.  model2vec: config.json says so, and the tensor is
 * "embeddings", with which there may be (of vocabularies with fewer rows than tokens) "mapping", the row of each token,
 * and "weights", what each counts.
 */
#ifndef FOLDER_STATIC_FOLDER_H
#define FOLDER_STATIC_FOLDER_H

#include "text/tree.h"

/* The packages treat texts differently; a folder that both open counts as model2vec's. */
enum static_kind { STATIC_NONE, STATIC_SENTENCE, STATIC_MODEL2VEC };
enum static_kind static_folder_kind(const char *dir);

/* config.json of the folder that has the table, with "model_type", and "vocab_size" and "hidden_size" as the table has
 * them; dies, naming the tensor, where that is no table.  To be freed. */
struct tree *static_folder_config(const char *folder);

#endif
