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

#include "token/tokenised.h"
#include "token/tokenizer.h"

struct role;

/* NULL: the model in `dir` embeds texts, not tokens.  Dies unless `task` is "query" or "document", and where the tokenizer lacks
 * the marker or the expansion token.  most: the largest number of ids; 0: the folder's. */
struct role *role_open(
    const char *dir, const char *task, const struct tokenizer *tokenizer, size_t most);
void role_free(struct role *role);

/* The largest number of ids, and how many of them the marker takes. */
size_t role_most(const struct role *role);
size_t role_marker(const struct role *role);

/* Whether white space around a text is left out. */
bool role_strips(const struct role *role);

/* Whether attention does not see the expansion tokens: there is a column X.attended. */
bool role_hides(const struct role *role);

/* Puts the marker and the expansion tokens into lists of ids; `attended`, if role_hides, as that column. */
void role_apply(struct role *role, struct tokenised *made, int64_t lists);

#endif
