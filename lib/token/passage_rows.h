/*
 * passage_rows - the rows of a record as rows of their passages.
 *
 * A row becomes as many rows as its text has passages, none where the text is blank: the text is the passage's, the other
 * columns are the row's, and the further column start, i64, is the line of the text that the passage begins on, from 1.
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

/* Cuts the column number `text` of records that have `columns` [count], which are borrowed.  The column number `path` names
 * each row's file, whose suffix .rst says that it is reStructuredText; -1: no such column.  Takes over `passages`. */
struct passage_rows *passage_rows_new(struct passages *passages,
    const struct column *columns, int count, int text, int path);

/* Begin with a record, which is borrowed until the last passage_rows_next. */
void passage_rows_cut(struct passage_rows *cut, const struct record *from);

/* Up to `rows` rows, fewer where they exceed `bytes` of text; borrowed until the next call.  False at the end. */
bool passage_rows_next(
    struct passage_rows *cut, int64_t rows, int64_t bytes, struct record *record);
void passage_rows_free(struct passage_rows *cut);

#endif
