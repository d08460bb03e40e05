/*
 * passage_rows - replaces each row of a record by one row for each passage of its text.
 *
 * A blank text has no passages.  The text column is the passage, the other columns are copied, and new columns follow them:
 * `start`, i64, the line on which the passage starts, from 1; for files also `_id`, "PATH:LINE", as compilers write it, and for a
 * further passage that starts on the same line "PATH:LINE:COLUMN", counted in characters from 1.
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
#include "token/text_field.h"

/* The new columns: start, and _id. */
extern const struct column passage_columns[2];

struct passage_rows;

/* columns [count]: of the records, borrowed.  field, borrowed: its last column is cut, and its other columns stand before each
 * passage (passages.h).  path: index of the column of file names, where .rst means reStructuredText; -1: none.  made: the number of
 * new columns; 2 needs a path.  Takes over `passages`. */
struct passage_rows *passage_rows_new(struct passages *passages,
    const struct column *columns, int count, const struct text_field *field, int path,
    int made);

/* From now on the paths of _id are in this folder, borrowed; "": they stand alone, as at first. */
void passage_rows_folder(struct passage_rows *cut, const char *folder);

/* Starts a record, which is borrowed until the last passage_rows_next. */
void passage_rows_cut(struct passage_rows *cut, const struct record *from);

/* The next up to `rows` rows, fewer if they exceed `bytes` of text; borrowed until the next call.  False at the end. */
bool passage_rows_next(
    struct passage_rows *cut, int64_t rows, int64_t bytes, struct record *record);
void passage_rows_free(struct passage_rows *cut);

#endif
