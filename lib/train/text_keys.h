/*
 * text_keys - the keys by which a loss knows equal texts (loss.h).
 */
#ifndef TRAIN_TEXT_KEYS_H
#define TRAIN_TEXT_KEYS_H

#include <stdint.h>

#include "model/model.h"
#include "stream/stream.h"

/*
 * tokens[count]: hashes of the sequences' token ids.  keys[count]: the values of column `index` (i64), or the same hashes if it is -1.
 * Dies, naming the record, if the column has not one value for each sequence.
 */
void text_keys(int64_t *keys, int64_t *tokens, const struct reader *reader,
    const struct record *record, int index, const struct sequence *sequences,
    int64_t count);

#endif
