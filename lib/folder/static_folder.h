/*
 * static_folder - folders of static embeddings: the embedding of a text is the mean of its tokens' rows in one table.
 *
 * Two packages make them.  sentence-transformers: the first module of modules.json is StaticEmbedding; its folder has
 * tokenizer.json and model.safetensors with "embedding.weight".  model2vec: "model_type" of config.json is model2vec,
 * and the tensor is "embeddings"; optional tensors are "mapping", the row of each token, and "weights", a factor of
 * each token.
 *
 * A sparse encoder's table, "weight", has one number for each token (SparseStaticEmbedding).  modules.json names that module; in a
 * folder of a Router's route, config.json has "frozen" and no "model_type".
 */
#ifndef FOLDER_STATIC_FOLDER_H
#define FOLDER_STATIC_FOLDER_H

#include "text/tree.h"

/* The packages treat texts differently.  A folder that both can open counts as model2vec's. */
enum static_kind { STATIC_NONE, STATIC_SENTENCE, STATIC_MODEL2VEC, STATIC_TERMS };
enum static_kind static_folder_kind(const char *dir);

/* config.json of the table's folder, to be freed, with "model_type", and with "vocab_size" and "hidden_size" from the
 * table's shape.  Dies if the tensor is not a matrix. */
struct tree *static_folder_config(const char *folder);

#endif
