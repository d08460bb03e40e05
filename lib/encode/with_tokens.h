/*
 * with_tokens - leaves out rows that have a text without tokens: an empty list of ids in a column "X.ids".
 */
#ifndef ENCODE_WITH_TOKENS_H
#define ENCODE_WITH_TOKENS_H

#include <stdint.h>

#include "stream/stream.h"

struct with_tokens;

struct with_tokens *with_tokens_new(const struct reader *in);

/* Takes such rows out of the record, whose columns are valid until the call after the next. */
void with_tokens_take(struct with_tokens *with, struct record *record);

/* Rows left out so far. */
int64_t with_tokens_dropped(const struct with_tokens *with);
void with_tokens_free(struct with_tokens *with);

#endif
