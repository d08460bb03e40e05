/*
 * batch_columns - finds and reads columns of a stream of training batches, and checks that the stream fits this rank and this model.
 */
#ifndef TRAIN_BATCH_COLUMNS_H
#define TRAIN_BATCH_COLUMNS_H

#include <stdint.h>

#include "model/model.h"
#include "stream/stream.h"

/* The column "X.ids", if the stream has a single one; -1: it has none; -2: it has several. */
int batch_only_ids(const struct reader *reader);

/* The column of relation targets (relation_loss.h), of twice the model's width.  Dies if it is missing or of another width. */
int batch_target_column(const struct reader *reader, const struct model *model);

/* Warns if another model made the targets. */
void batch_check_targets(const struct reader *reader, const struct model *model);

/* Dies if the stream is not this rank's. */
void batch_check_rank(const struct reader *reader);

/* Warns of columns of token ids that are none of read[count], for example negatives under another name. */
void batch_tell_unread(const struct reader *reader, const int *read, int count);

/*
 * The keys by which a loss knows equal texts (loss.h).  tokens[count]: hashes of the sequences' token ids.  keys[count]: the values of
 * column `index` (i64), or the same hashes if it is -1.  Dies, naming the record, if the column has not one value for each sequence.
 */
void batch_keys(int64_t *keys, int64_t *tokens, const struct reader *reader,
    const struct record *record, int index, const struct sequence *sequences,
    int64_t count);

/* Adds a row of a column to a hash: the lengths of its lists, and its elements.  Column -1 adds nothing. */
uint64_t batch_hash_row(uint64_t hash, const struct reader *reader,
    const struct record *record, int column, int64_t row);

#endif
