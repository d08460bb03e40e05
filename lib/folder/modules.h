/*
 * modules - reads modules.json of a sentence-transformers folder: the modules of its model, in order.
 */
#ifndef FOLDER_MODULES_H
#define FOLDER_MODULES_H

#include <stdbool.h>
#include <stddef.h>

#include "text/tree.h"

struct module {
	const char *type; /* class without its package: "Pooling" */
	const char *
	    name; /* its folder inside the model folder, "1_Pooling"; "": the model folder */
	char *folder;		 /* path of that folder */
	const struct tree *node; /* for messages */
};

struct modules {
	struct tree *tree, *router; /* router: of a Router; NULL: there is none */
	struct module *at;
	size_t count;
};

/* The modules of a Router are those of its default route ("document" where it names none).  Returns NULL if there is no modules.json.  Dies if a module's "path" is not a plain name: paths elsewhere must be
 * neither read nor written. */
struct modules *modules_read(const char *dir);
void modules_free(struct modules *modules);

/* Whether the module is Transformer, or MLMTransformer: the same with the head that predicts tokens. */
bool module_is_transformer(const struct module *module);

/* Whether the module is SparseStaticEmbedding: the same of a sparse encoder. */
bool module_is_terms(const struct module *module);

/* Whether the module is StaticEmbedding, which replaces the transformer (static_folder.h). */
bool module_is_table(const struct module *module);

/* The folder of the transformer and its tokenizer, to be freed: that of the first Transformer or table
 * ("0_Transformer" in older models), else `dir`. */
char *modules_transformer(const char *dir);

#endif
