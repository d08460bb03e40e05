/*
 * identity - how results name a model: a folder's name and a revision.
 *
 * The name is the last part of the path; of a Hugging Face cache, models--ORG--NAME/snapshots/REV,
 * ORG/NAME.  The revision is a hash of what decides embeddings: weights, tokenizer, pooling and
 * prompts; so results of a model that was changed never mix with those before.
 */
#ifndef IDENTITY_H
#define IDENTITY_H

#include "text/tree.h"

/* To be freed. */
char *identity_name(const char *dir);
char *identity_revision(const char *dir);

/* model_meta.json as mteb reads it; `name` NULL: identity_name. */
struct tree *identity_meta(const char *dir, const char *name);

#endif
