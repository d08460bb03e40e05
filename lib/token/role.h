/*
 * role - the ids of a query or a document of a late-interaction model (folder/late_interaction.h).
 *
 *	document = the text's ids, with the marker after the first of them
 *	query    = the same, and expansion tokens up to the folder's length
 *
 * Unless attention sees the expansion tokens, the column X.attended, i32, has the number of ids before them.
 */
#ifndef TOKEN_ROLE_H
#define TOKEN_ROLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token/ids.h"
#include "token/tokenised.h"
#include "token/tokenizer.h"

struct role {
	size_t most;	   /* the largest number of ids, */
	size_t markers;	   /* and how many of them the marker takes: 0 or 1 */
	bool strips;	   /* white space around a text is left out */
	bool hides;	   /* attention does not see expansion tokens (X.attended) */
	size_t expanded;   /* the length with expansion tokens; 0: none */
	int32_t marker;	   /* where markers > 0 */
	int32_t expansion; /* where expanded > 0 */
	struct ids made;   /* role_apply's */
};

/* NULL: the model in `dir` embeds texts, not tokens.  Dies unless `task` is "query" or "document", and where the tokenizer lacks
 * the marker or the expansion token.  most: the largest number of ids; 0: the folder's. */
struct role *role_open(
    const char *dir, const char *task, const struct tokenizer *tokenizer, size_t most);
void role_free(struct role *role);

/* Puts the marker and the expansion tokens into lists of ids; `attended` as the column X.attended. */
void role_apply(struct role *role, struct tokenised *made, int64_t lists);

#endif
