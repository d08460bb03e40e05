/*
 * positions - the index of the first learned position embedding.
 */
#ifndef FOLDER_POSITIONS_H
#define FOLDER_POSITIONS_H

#include "text/tree.h"

/*
 * The position of a text's first token, from config.json: usually 0.  RoBERTa's family starts at pad_token_id + 1, so
 * its longest text has so many tokens fewer than max_position_embeddings; a padding token has the position
 * pad_token_id and is not counted.  MPNet does the same with a pad_token_id of 1.
 */
int positions_first(const struct tree *config);

#endif
