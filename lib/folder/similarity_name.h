/*
 * similarity_name - the similarity function of a model: "similarity_fn_name" of config_sentence_transformers.json.
 */
#ifndef FOLDER_SIMILARITY_NAME_H
#define FOLDER_SIMILARITY_NAME_H

#include "stream/stream.h"

/* "cosine" (the default), "dot", "euclidean" or "manhattan"; of a late-interaction model "maxsim" or "meanmaxsim".  To be freed;
 * dies on any other. */
char *similarity_name_read(const char *dir);

/* Writes the name into the header of a stream of embeddings, unless it is cosine. */
void similarity_name_tell(struct writer *out, const char *dir);

#endif
