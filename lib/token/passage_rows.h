/*
 * passage_rows - replaces each row of a record by one row for each passage of its text.
 *
 * A blank text has no passages.  The text column is the passage, the other columns are copied, and a new last column
 * `start`, i64, is the line on which the passage starts, from 1.
 *
 *	passage_rows_cut(cut, &record);
 *	while (passage_rows_next(cut, rows, bytes, &piece))
 *		... piece.columns[column_count] is start
 */
#ifndef TOKEN_PASSAGE_ROWS_H
#define TOKEN_PASSAGE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/stream.h"
#include "token/passages.h"

extern const struct column passage_start;

struct passage_rows;

/* columns [count]: of the records, borrowed.  text: index of the column to cut.  path: index of the column of file
 * names, where .rst means reStructuredText; -1: none.  Takes over `passages`. */
struct passage_rows *passage_rows_new(struct passages *passages,
    const struct column *columns, int count, int text, int path);

/* Starts a record, which is borrowed until the last passage_rows_next. */
void passage_rows_cut(struct passage_rows *cut, const struct record *from);

/* The next up to `rows` rows, fewer if they exceed `bytes` of text; borrowed until the next call.  False at the end. */
bool passage_rows_next(
    struct passage_rows *cut, int64_t rows, int64_t bytes, struct record *record);
void passage_rows_free(struct passage_rows *cut);

#endif
