/*
 * detokenise - a stream of token ids to a stream of texts: every column "X.ids" becomes "X".
 */
#ifndef TOKEN_DETOKENISE_H
#define TOKEN_DETOKENISE_H

#include <stdbool.h>

struct detokenise_options {
	const char *model;  /* folder */
	bool specials;	    /* with the special tokens */
	bool keep;	    /* the ids stay */
	int level;	    /* of compression; -1: the stream's default */
	const char *output; /* "-": standard output */
};

/* From a path ("-": standard input).  Dies when the ids are of another
 * tokenizer, or there are none. */
void detokenise(const struct detokenise_options *options, const char *path);

#endif
