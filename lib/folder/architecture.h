/*
 * architecture - what config.json says a checkpoint is: the class of transformers that it was saved from.
 */
#ifndef FOLDER_ARCHITECTURE_H
#define FOLDER_ARCHITECTURE_H

#include <stdbool.h>

#include "text/tree.h"

/* The first of "architectures"; "": there is none. */
const char *architecture_name(const struct tree *config);

/* Whether the name ends in `end`. */
bool architecture_ends(const struct tree *config, const char *end);

/* Whether the model also has images. */
bool architecture_sees(const struct tree *config);

/* Whether it is a language model, which predicts the next token. */
bool architecture_answers(const struct tree *config);

#endif
