/*
 * mts - the commands of mts(1), one file each.  They print to standard output.
 */
#ifndef MTS_MTS_H
#define MTS_MTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/cli.h"
#include "search/vector_index.h"
#include "stream/cast.h"
#include "stream/stream.h"
#include "text/datafile.h"

/* head - a stream's header and first rows. */

/* Prints columns, properties and history, one per line. */
void head_header(const struct reader *reader);

/* Prints the header, and the first `rows` rows, numbered from the start of the stream, with the attributes of their records;
 * long values are shortened.  Reads no further. */
void head_print(struct reader *reader, int64_t rows);

/* The same as JSON Lines: {"columns", "properties", "history"}, then for each row, unshortened:
 * {"row", "record", "attributes", "values": {NAME: VALUE, ...}}. */
void head_json(struct reader *reader, int64_t rows);

/* Appends the members "properties" and "history". */
void head_members(struct buffer *to, const struct reader *reader);

/*
 * stat - statistics of a whole stream.
 *
 * For each column: uncompressed bytes; number of values (numbers, or strings of text); minimum, maximum and
 * mean of finite numbers; mean Euclidean length of vectors; number of NaN and infinite values; minimum, mean
 * and maximum length of lists (text: bytes); number of empty lists.  For each attribute: records and rows of
 * each value.
 */
struct stat;

/* Reads the stream to its end. */
struct stat *stat_new(struct reader *reader);

/* Print as tables; as one JSON object on a line. */
void stat_print(const struct stat *stat, const struct reader *reader);
void stat_json(const struct stat *stat, const struct reader *reader);
void stat_free(struct stat *stat);

/*
 * diff - compares two streams within a tolerance.
 *
 * Compares columns of equal names row by row and prints differences: for each column the first one with both
 * values, and the largest error.  Numbers x and y of any dtypes are equal if |x - y| <= absolute + relative |y|
 * or both are NaN; text and lists if length and content are equal.  Ignores properties, history, attributes and
 * record boundaries.  Returns true if nothing differs.
 */
bool diff_streams(
    struct reader *one, struct reader *two, double absolute, double relative);

/* Names from the command line, in order, copies; starts as zeros. */
struct name_list {
	const char **items;
	int count;
};

/* Adds the names of a comma-separated list. */
void names_add_list(struct name_list *names, const char *list);
void names_free(struct name_list *names);

/* Adds "OLD=NEW"; a usage error otherwise. */
void names_add_rename(struct name_list *renames, const char *rename);

/* cat - concatenates streams, and selects or renames columns. */

/* The columns to keep (none: all), and their new names: "OLD=NEW". */
struct selection {
	struct name_list kept, renames;
};

/* Writes all records of the first stream, then of the second, ...  Dies if columns or properties differ. */
void cat_streams(char **paths, int count, const struct selection *selection,
    const char *to, int level);

/*
 * rows - selects, samples and sorts the rows of a stream.
 *
 * Keeps a row if its number, from 1, is in one of the lists `numbers` ("1-10,200-"; none: all) and all
 * conditions hold (condition.h).  sample > 0: a uniform random sample of that many of them, or all if there are
 * fewer.  sorts: sort keys (order.h); the sort is stable.
 *
 * Without sample and sorts memory is bounded by a record, records keep their attributes, empty ones are dropped,
 * and reading stops after the last number.  Otherwise see reservoir.h.
 */
struct row_selection {
	struct cli_list numbers, conditions;
	struct name_list sorts;
	int64_t sample;
	uint64_t seed;
};
void rows_select(
    const char *path, const struct row_selection *rows, const char *to, int level);

/*
 * split - splits a stream into parts, which cat joins again.
 *
 * The parts have consecutive rows, equally many or one less, and all columns, attributes and properties; with fewer
 * rows than parts some are empty.  Their names are PREFIX.01.mts, PREFIX.02.mts, ... with as many digits as the last
 * one needs, and appear when all are written.  Reads the stream twice; a pipe is copied to a spool.  prefix NULL: the
 * path without ".mts".
 */
enum { SPLIT_MOST = 9999 };
void split_stream(const char *path, int parts, const char *prefix, int level);

/*
 * paste - joins streams side by side, row by row.
 *
 * The result has the columns of the first stream, then of the second, ...; the numbers of rows must be equal and the
 * names distinct.  A record ends where a record of any stream ends.  An attribute is that of the first stream that has
 * it; so is a property, unless its values differ: then it is dropped with a warning.
 */
void paste_streams(char **paths, int count, const char *to, int level);

/*
 * from - converts files of other programs to tensor streams.
 */

struct from_options {
	const struct name_list *kept;
	/* of text: fields whose strings are numbers, whose lists of numbers are vectors; each item "NAME,..." */
	const struct cli_list *numbers, *vectors;
	int64_t rows, max_line;
	int level;
	const char *output;
};

/* format: npy, safetensors, jsonl, tsv, csv or index.  Usage errors if it is another, or if options, columns or the file do not fit it. */
void from_file(const struct cli *cli, const char *format, const char *file,
    const struct from_options *options);

/* Writes the rows of the index that are not removed, in records of at most `most` rows: the columns that it keeps; ids, texts and
 * vectors, unless it keeps columns of their names.  Dies if it keeps columns of several types. */
void from_index(const char *path, int64_t most, struct writer *writer);

/*
 * cast - writes vectors as another kind of numbers (stream/cast.h): f32, f16, i8 or bit.  A usage error if it is none of
 * these, or if `ranges` does not apply to it.
 *
 * Casts the columns, or without any those called emb, X.emb or X.tokens, and passes all others on.
 */
struct cast_options {
	const char *ranges; /* NULL: none */
	int keep;	    /* numbers of a vector, the first ones; 0: all */
	int level;
	const char *output;
};
void cast_stream(const char *kind, const char *path, const struct name_list *columns,
    const struct cast_options *options);

/* index - makes, changes or checks an index (vector_index.h). */

struct index_request {
	struct vector_index_options options; /* index_command sets its streams */
	bool append, replace, sync, check;
	const char *remove; /* a file of ids; NULL: none */
};

/* files [count]: the streams, or the index to check.  Usage errors if the options exclude each other. */
void index_command(const struct cli *cli, const struct index_request *request,
    const char *folder, char **files, int count);

/*
 * to - converts tensor streams to files of other programs.
 *
 * Reads the stream to its end and writes `path` ("-": standard output) atomically.
 *
 * npy: a column without lists as a NumPy array; several columns: name one.  bf16 becomes f32; dies on lists and text.
 * safetensors: column X as tensor X of its elements; lists also as X.offsets, i64 [rows + 1], and lists of
 * lists as X.lists, i64 [lists + 1]: the offsets of stream.h.
 * jsonl: one object per row, without attributes.
 * tsv, csv: a header line, then one line per row.  NaN is an empty cell, lists and vectors are JSON.  In TSV tabs and
 * line ends within a text become blanks; CSV quotes such texts (RFC 4180) and ends lines with a line feed.
 */
enum to_format { TO_NPY, TO_SAFETENSORS, TO_JSONL, TO_TSV, TO_CSV };

/* A usage error if the word is not a format, or does not take `spread`. */
enum to_format to_parse(const char *word, bool spread);

/* kept: the columns to write, in this order; none: all.  spread (tsv, csv): a vector X becomes the columns X_0, X_1, ...,
 * one per number. */
void to_file(struct reader *reader, enum to_format format, const struct name_list *kept,
    bool spread, const char *path);

#endif
