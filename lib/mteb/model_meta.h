/*
 * model_meta - the name and revision of a model in results, and model_meta.json.
 *
 * The name is the last part of the folder's path; in a Hugging Face cache, models--ORG--NAME/snapshots/REV, it is
 * ORG/NAME.  The revision is XXH3, 128 bits, over everything that determines embeddings: the names and contents of
 * all .json, .safetensors and .txt files of the folder and of its modules' folders.  So results of different
 * versions of a model never mix.  With gates the hash includes the adapters' files and the library, and the name ends
 * with "+gates".  A method of embedding appends "+METHOD" and is hashed; if it begins with the name of a template of
 * share/templates.yaml ("prompteol+sum") and there are no gates, the template's text is hashed, too.
 */
#ifndef MTEB_MODEL_META_H
#define MTEB_MODEL_META_H

#include "text/tree.h"

struct model_meta {
	const char *model; /* --model (model_folder.h), or NULL */
	char *folder;	   /* its folder */
	const char *name;  /* --name, or NULL */
	const char *
	    gates; /* RouterRetriever's gates: a folder of adapters for queries, or NULL */
	const char *pilots; /* the library by which pilot-route chooses among them */
	const char *
	    method; /* --way: how embeddings are made, unless by the model's default; or NULL */
};

/* Sets the folder, freed by the caller.  Dies if it is absent, and on gates without a library or the reverse. */
void model_meta_find(struct model_meta *of);

/* The template with which the method begins, freed by the caller; NULL: none, or there are gates, for which only the
 * name is hashed. */
char *model_meta_template(const struct model_meta *of);

/* The caller frees them. */
char *model_meta_name(const struct model_meta *of);
char *model_meta_revision(const struct model_meta *of);

/* The content of model_meta.json, in mteb's format. */
struct tree *model_meta_json(const struct model_meta *of);

#endif
