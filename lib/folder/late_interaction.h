/*
 * late_interaction - what the folder of a late-interaction model (ColBERT) says of its queries and documents.
 *
 * Such a model embeds each token, and a query is compared with a document by MaxSim.  Three layouts are read:
 *	PyLate			config_sentence_transformers.json of model_type "ColBERT", or of no such type and with
 *				"query_prefix", "skiplist_words" or another key of PyLate
 *	sentence-transformers	model_type "MultiVectorEncoder"; the Transformer's configuration has the lengths, the
 *				module MultiVectorMask the skip list
 *	colbert-ir		"HF_ColBERT" in "architectures" of config.json; artifact.metadata has the rest
 */
#ifndef FOLDER_LATE_INTERACTION_H
#define FOLDER_LATE_INTERACTION_H

#include <stdbool.h>
#include <stddef.h>

enum late_role { LATE_QUERY, LATE_DOCUMENT, LATE_ROLES };

struct late_interaction {
	bool
	    inside; /* colbert-ir: the projection is "linear.weight" in the file of the model's weights */
	int width;	 /* of a projection inside; 0: the folder does not say */
	bool strips;	 /* white space around a text is left out */
	bool normalizes; /* vectors get length 1 after the modules, which do not say so */
	struct late_side {
		char *
		    marker; /* the token that goes after the first one; NULL: none, prompts have it */
		size_t
		    most;   /* ids with marker and special tokens; 0: the model's limit */
		bool skips; /* vectors of tokens of the skip list are left out */
	} side[LATE_ROLES];
	size_t expanded; /* a query gets expansion tokens up to so many ids; 0: none */
	bool fixed;	 /* and is cut to as many */
	bool attends;	 /* attention sees the expansion tokens */
	char *
	    expansion; /* the expansion token; NULL: the mask token, else the last special one */
	/* [count], the skip list: tokens; `unknown`: a token that the tokenizer lacks is the unknown token */
	char **words;
	size_t count;
	bool unknown;
	bool
	    texts; /* colbert-ir: `words` are texts; the first token of each is left out */
	bool mean; /* the sum of MaxSim is divided by the number of a query's vectors */
};

/* NULL: the folder is not of such a model.  Dies, naming file and key, where a setting is not known. */
struct late_interaction *late_interaction_read(const char *dir);
void late_interaction_free(struct late_interaction *late);

/* "query" or "document". */
const char *late_role_name(enum late_role role);

/* The role of that name; LATE_ROLES: it is none. */
enum late_role late_role_of(const char *name);

#endif
