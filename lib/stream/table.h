/*
 * table - records of text (JSON Lines, TSV, CSV, lines) gathered into columns of a stream.
 *
 * strings			text, depth 1
 * integers, reals, booleans	i64, f64, bool, depth 0
 * lists of strings		text, depth 2
 * lists of numbers, booleans	i64, f64 or bool, depth 1
 * anything else, or mixed	text: strings as they are, other values as JSON
 *
 * The first TABLE_SAMPLE records decide, read ahead: integers and reals together are f64.
 * What is missing - null, NaN or an absent member - is the empty text, the empty list or NaN (integers become
 * f64, booleans text); a field of which all values are missing is text, lists that are all empty are of
 * strings.  Integers that would be f64 but have more than 15 digits, and those beyond 64 bits, make the field
 * text, so that all of them are exact.  Fields come in the order of their first appearance.  A later value that does not
 * fit, and a field that appears later, die naming file, line and field: nothing is dropped or
 * rounded in silence.
 *
 * Who writes into a pipe may pause.  A record that has been waited for rests with others for
 * TABLE_PATIENCE seconds at most, then they are handed over, and where they are the first they
 * decide on the columns; each row is what it would be in a file, or is refused.
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

/* Takes the file over. */
struct table *table_open(struct datafile *file);

/* Before the first table_next: the strings of this field are numbers, the empty one is null.
 * TSV and CSV are read as text, because an identifier may look like a number.  Dies on a string
 * that is no number and where there is no such field.  The name is borrowed. */
void table_number(struct table *table, const char *name);

/* Before the first table_next: every record is shown to `look` as it is read, which may refuse
 * it; datafile_line(file) is its line. */
typedef void table_look(
    void *context, const struct datafile *file, const struct tree *record);
void table_watch(struct table *table, table_look *look, void *context);

/* Before the first table_next, of a part of a file (datafile_open_part): its first records still decide on the
 * columns, but the rows are those from offset `from` to `to`, as of datafile_seek. */
void table_seek(struct table *table, int64_t from, int64_t to);

/*
 * Gather up to `rows` records, fewer where they exceed `bytes` of text or where the input pauses
 * (TABLE_PATIENCE), into record->columns
 * (borrowed until the next call; attributes NULL).  False at the end; an empty file has no
 * columns.  The columns are known after the first call and stay.
 */
bool table_next(struct table *table, int64_t rows, int64_t bytes, struct record *record);

int table_columns(const struct table *table);
const struct column *table_column(const struct table *table, int index);

/* Line of a row of the record just read. */
int64_t table_line(const struct table *table, int64_t row);
const struct datafile *table_file(const struct table *table);
void table_close(struct table *table);

#endif
