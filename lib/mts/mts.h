/*
 * mts - the commands of mts(1), a file each; what they print goes to standard output.
 */
#ifndef MTS_MTS_H
#define MTS_MTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "stream/stream.h"
#include "text/datafile.h"

/* head - a stream's header and first rows. */

/* Columns, properties and history, a line each, on standard output. */
void head_header(const struct reader *reader);

/* The first `rows` rows, numbered over the whole stream, with the attributes of their records; long
 * values are shortened.  Reads no further than that. */
void head_rows(struct reader *reader, int64_t rows);

/* For programs: {"columns", "properties", "history"} on a line, and on one each the first rows, whole:
 * {"row", "record", "attributes", "values": {NAME: VALUE, ...}}. */
void head_json(struct reader *reader, int64_t rows);

/* The members "properties" and "history". */
void head_members(struct buffer *to, const struct reader *reader);

/*
 * stat - what a whole stream holds.
 *
 * Of each column: bytes, uncompressed; values (numbers, or strings of text); smallest, largest and
 * mean of what is finite; mean Euclidean length of vectors; how many NaN and infinite; length of
 * the lists (text: bytes) smallest, mean, largest; how many are empty.  Of each attribute: records
 * and rows of each value.
 */
struct stat;

/* Read the stream to its end. */
struct stat *stat_new(struct reader *reader);

/* For people, tables; for programs, one object on a line. */
void stat_print(const struct stat *stat, const struct reader *reader);
void stat_json(const struct stat *stat, const struct reader *reader);
void stat_free(struct stat *stat);

/*
 * diff - whether two streams hold the same, within a tolerance.
 *
 * Compare the columns of two streams by name, row by row, and print on standard output what
 * differs: for each column the first place with both values, and the largest error.  Numbers
 * x and y agree when |x - y| <= absolute + relative |y|, NaN with NaN, whatever their dtypes;
 * text and lists agree when they are equal in length and content.  Properties, history, attributes and
 * the borders of records are not looked at.  True when nothing differs.
 */
bool diff_streams(
    struct reader *one, struct reader *two, double absolute, double relative);

/* Names that a user gave, in their order; zeroed: none.  They are borrowed. */
struct names {
	const char **items;
	int count;
};
void names_add(struct names *names, const char *name);

/* Those of a list with commas between, which is cut to pieces. */
void names_add_list(struct names *names, char *list);

/* "OLD=NEW"; dies with usage on anything else. */
void names_add_rename(struct names *renames, const char *rename);

/* cat - several streams end to end, and which of their columns go on. */

/* Which columns go on (none named: all), and how they are called there: "OLD=NEW". */
struct selection {
	struct names kept, renames;
};

/* All records of the first stream, then of the second, ... as `cat a.mts b.mts` would be read;
 * streams that do not agree are refused. */
void cat_streams(char **paths, int count, const struct selection *selection,
    const char *to, int level);

/*
 * rows - some rows of a stream, perhaps in another order.
 *
 * A row goes on where its number, from 1, is in one of the lists `numbers` ("1-10,200-"; none: all)
 * and all conditions hold (condition.h).  sample > 0: so many of those, each set as likely; all where
 * there are fewer.  sorts: the order (order.h), rows of equal keys as they came.
 *
 * Without sample and sorts memory is bounded by a record, and each goes on with the rows that are left
 * of it and its attributes; a record of which none is left does not.  Reads no further than the last number.
 * Else see held.h.
 */
struct rows {
	struct names numbers, conditions, sorts;
	int64_t sample;
	uint64_t seed;
};
void rows_choose(const char *path, const struct rows *rows, const char *to, int level);

/*
 * split - a stream as several, which cat makes one again.
 *
 * Each has as many rows as any other or one less, in their order, and all columns, attributes and properties;
 * where there are fewer rows than parts, some are empty.  They are called PREFIX.01.mts and on, the last one says with how
 * many digits, and get their names when all of them are written.  The stream is read twice; of a pipe a spool keeps it.  prefix NULL:
 * the path without ".mts".
 */
enum { SPLIT_MOST = 9999 };
void split_stream(const char *path, int parts, const char *prefix, int level);

/*
 * paste - several streams side by side.
 *
 * Rows of all streams side by side: the columns of the first, then of the second, ...; their
 * numbers of rows must be equal, their names distinct.  Records end where one of any stream does.
 * Attributes and properties: what the first has, then what the others add; a property that
 * they have otherwise does not hold for the whole and is left out.
 */
void paste_streams(char **paths, int count, const char *to, int level);

/*
 * from - files of other programs as tensor streams.
 *
 * Each adds its columns to the writer and puts records of at most `rows` rows.
 */

/* The first dimension becomes the rows of column `name`. */
void from_npy(const char *path, const char *name, int64_t rows, struct writer *writer);

/* The reverse of to_safetensors.  u8 with offsets is text.  Tensors that are not part of
 * lists must agree in their first dimension; names: those to take, count 0: all. */
void from_safetensors(const char *path, const char *const *names, int count, int64_t rows,
    struct writer *writer);

/* By the rules of table.h; numbers: the fields whose strings are numbers.  Takes the file over. */
void from_text(struct datafile *file, const char *const *numbers, int count, int64_t rows,
    struct writer *writer);

/*
 * to - tensor streams as files of other programs.
 *
 * Reads the stream to its end and writes `path` ("-": standard output) whole.
 *
 * npy: one column of one element a row as an array of NumPy; of several, name one.  bf16 becomes f32; lists and text are refused.
 * safetensors: column X as tensor X of its elements; lists also as X.offsets, i64 [rows + 1], and lists of
 * lists as X.lists, i64 [lists + 1]: the offsets of stream.h.
 * jsonl: one object a row.  Attributes are left out.
 * tsv, csv: a line of names, one line a row.  NaN is an empty cell, lists and vectors are JSON.  Of TSV tabs and line ends within a
 * text become blanks; of CSV such texts stand in quotes, RFC 4180, lines ending in a line feed.
 */
enum to_format { TO_NPY, TO_SAFETENSORS, TO_JSONL, TO_TSV, TO_CSV };

/* Dies with usage on no name of a format. */
enum to_format to_parse(const char *word);

/* kept: the columns to write, in this order; none: all of them.  spread, of tables: a vector is a column for each of its
 * numbers, X_0, X_1, ... */
void to_file(struct reader *reader, enum to_format format, const struct names *kept,
    bool spread, const char *path);

#endif
