/*
 * modules - modules.json of a sentence-transformers folder: what its model is made of, in order.
 */
#ifndef FOLDER_MODULES_H
#define FOLDER_MODULES_H

#include <stdbool.h>
#include <stddef.h>

#include "text/tree.h"

struct module {
	const char *type; /* "Pooling": the last part of the class's dotted name */
	const char *
	    name; /* of its folder in the model's: "1_Pooling"; "" (or ".") is the model's own */
	char *folder;		 /* where its files are */
	const struct tree *node; /* for messages */
};

struct modules {
	struct tree *tree;
	struct module *at;
	size_t count;
};

/* NULL when there is no modules.json.  Dies where a module's folder is not the plain name of
 * one: it is read, and written when the model is saved. */
struct modules *modules_read(const char *dir);
void modules_free(struct modules *modules);

/* Whether it is StaticEmbedding, which stands in the place of a transformer (static_folder.h). */
bool module_is_table(const struct module *module);

/* The folder of the transformer itself, with its tokenizer: `dir`, or the one in it that the
 * first Transformer or StaticEmbedding names ("0_Transformer" of older models).  The caller frees it. */
char *modules_transformer(const char *dir);

#endif
