/*
 * detokenise - decodes a stream of token ids: each column "X.ids" becomes the texts "X", and weights of terms, "X.sparse" and
 * "X.sparse.weights" (encode --emit sparse), the text "X.terms", "search 1.83, engine 1.21", the heaviest first.
 */
#ifndef TOKEN_DETOKENISE_H
#define TOKEN_DETOKENISE_H

#include <stdbool.h>

struct detokenise_options {
	const char *model;  /* folder */
	bool specials;	    /* with the special tokens */
	bool keep;	    /* keep the ids */
	int level;	    /* of compression; -1: the stream's default */
	const char *output; /* "-": standard output */
};

/* path: a stream; "-": standard input.  Dies if the ids are another tokenizer's, or there are none. */
void detokenise(const struct detokenise_options *options, const char *path);

#endif
