/*
 * positions - which rows of its table of learned positions a model gives to the tokens of a text.
 */
#ifndef FOLDER_POSITIONS_H
#define FOLDER_POSITIONS_H

#include "text/tree.h"

/*
 * The row of a text's first token, by config.json.  0: they count from the first row.  Models of
 * RoBERTa's kind count from pad_token_id + 1, so that a text may have as many tokens less than
 * max_position_embeddings; a token that is pad_token_id itself has the row pad_token_id, and does
 * not count.  In MPNet that number is 1, whatever pad_token_id is.
 */
int positions_first(const struct tree *config);

#endif
