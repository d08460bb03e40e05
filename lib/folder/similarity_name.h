/*
 * similarity_name - how a model compares its embeddings: "similarity_fn_name" of config_sentence_transformers.json.
 */
#ifndef FOLDER_SIMILARITY_NAME_H
#define FOLDER_SIMILARITY_NAME_H

#include "stream/stream.h"

/* "cosine", "dot", "euclidean" or "manhattan", as similarity(.h) names them, to be freed; "cosine" where the folder
 * does not say.  Dies on any other. */
char *similarity_name_read(const char *dir);

/* Note it in a stream of embeddings, which are compared by their cosine where nothing is noted. */
void similarity_name_tell(struct writer *out, const char *dir);

#endif
