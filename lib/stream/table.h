/*
 * table - records of text files (JSON Lines, TSV, CSV, lines) as columns of a stream.
 *
 * strings			text, depth 1
 * integers, reals, booleans	i64, f64, bool, depth 0
 * lists of strings		text, depth 2
 * lists of numbers, booleans	i64, f64 or bool, depth 1
 * anything else, or mixed	text: strings as they are, other values as JSON
 *
 * The types are inferred from the first TABLE_SAMPLE records, read ahead.  Integers and reals together are f64.
 * A missing value (null, NaN or an absent member) becomes empty text, an empty list or NaN; in a list of numbers null becomes NaN
 * (with missing values integers become f64, booleans text).  A field without any value is text; lists that are all empty are lists of
 * strings.  Integers that would be f64 but have more than 15 digits, or exceed 64 bits, make the field text, so that
 * they stay exact.  Fields are in order of first appearance.  A later value that does not fit, or a new field, dies
 * with file, line and field: nothing is dropped or rounded.
 *
 * If a pipe pauses, records wait for at most TABLE_PATIENCE seconds for others and are then returned; the first ones
 * then decide the types.  If none came, the next records wait a quarter as long, and soon no more.  Each row equals the row that a file would give, or is refused.
 *
 *	struct table *table = table_open(datafile_open(path, DATAFILE_GUESS));
 *	while (table_next(table, rows, bytes, &record)) {
 *		for (int i = 0; i < table_columns(table); i++) ... table_column(table, i)
 *	}
 *	table_close(table);
 */
#ifndef STREAM_TABLE_H
#define STREAM_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/stream.h"
#include "text/datafile.h"

enum { TABLE_SAMPLE = 1024 };
#define TABLE_PATIENCE 0.05

struct table;

/* table_close closes the file. */
struct table *table_open(struct datafile *file);

/* The functions up to table_next are called before it. */

/* Reads the strings of this field as numbers, the empty string as null.  (Values of TSV and CSV are text,
 * because an id may look like a number.)  Dies if a string is not a number or the field is absent.  The
 * name is borrowed. */
void table_number(struct table *table, const char *name);

/* Calls `look` for every record as it is read; it may die, at datafile_line(file). */
typedef void table_look(
    void *context, const struct datafile *file, const struct tree *record);
void table_watch(struct table *table, table_look *look, void *context);

/* For a part of a file (datafile_open_part): the first records still decide the types, but the rows are those from
 * offset `from` to `to` (datafile_seek). */
void table_seek(struct table *table, int64_t from, int64_t to);

/*
 * Reads up to `rows` records, fewer if they exceed `bytes` of text or the input pauses, into record->columns
 * (borrowed until the next call; attributes NULL).  False at the end.  The columns are known after the first call;
 * an empty file has none.
 */
bool table_next(struct table *table, int64_t rows, int64_t bytes, struct record *record);

int table_columns(const struct table *table);
const struct column *table_column(const struct table *table, int index);

/* The line of a row of the last record. */
int64_t table_line(const struct table *table, int64_t row);
const struct datafile *table_file(const struct table *table);
void table_close(struct table *table);

#endif
