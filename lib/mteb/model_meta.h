/*
 * model_meta - how results name a model: a folder's name and a revision.
 *
 * The name is the last part of the path; of a Hugging Face cache, models--ORG--NAME/snapshots/REV,
 * ORG/NAME.  The revision is XXH3, 128 bits, over every byte of what decides embeddings: the names
 * and contents of all .json, .safetensors and .txt files of the folder and of its modules' folders.
 * So results of a model that was changed never mix with those before.  Where queries go through gates, the adapters' files
 * and the library are of it, too, and the name ends with "+gates"; so with another way of making embeddings, "+WAY".
 * Of a way that begins with the name of a template of share/templates.yaml, "prompteol+sum", the revision is of that
 * template's text, too, but where queries go through gates.
 */
#ifndef MTEB_MODEL_META_H
#define MTEB_MODEL_META_H

#include "text/tree.h"

/* What results are of. */
struct model_meta {
	const char *model;  /* as it was said (model_folder.h), or NULL */
	char *folder;	    /* that it means */
	const char *name;   /* as it was given, or NULL */
	const char *gates;  /* a folder of adapters that queries go through, or NULL */
	const char *pilots; /* the library that chooses among them */
	const char *
	    way; /* how embeddings are made, where not as the model's folder says, or NULL */
};

/* Sets the folder, to be freed; dies where there is none, and on gates without a library or the reverse. */
void model_meta_find(struct model_meta *of);

/* The template that the way begins with, to be freed; NULL: none, or its name must do: documents beside gates are kept by
 * it alone. */
char *model_meta_template(const struct model_meta *of);

/* To be freed. */
char *model_meta_name(const struct model_meta *of);
char *model_meta_revision(const struct model_meta *of);

/* model_meta.json as mteb reads it. */
struct tree *model_meta_json(const struct model_meta *of);

#endif
