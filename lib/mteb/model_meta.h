/*
 * model_meta - how results name a model: a folder's name and a revision.
 *
 * The name is the last part of the path; of a Hugging Face cache, models--ORG--NAME/snapshots/REV,
 * ORG/NAME.  The revision is XXH3, 128 bits, over every byte of what decides embeddings: the names
 * and contents of all .json, .safetensors and .txt files of the folder and of its modules' folders.
 * So results of a model that was changed never mix with those before.
 */
#ifndef MODEL_META_H
#define MODEL_META_H

#include "text/tree.h"

/* To be freed. */
char *model_meta_name(const char *dir);
char *model_meta_revision(const char *dir);

/* model_meta.json as mteb reads it; `name` NULL: model_meta_name. */
struct tree *model_meta_json(const char *dir, const char *name);

#endif
