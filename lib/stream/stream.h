/*
 * stream - read and write tensor streams, .mts; the bytes are defined in mts(5).
 *
 * A stream is a header (columns, fingerprints, history) and records.  A record is a
 * small table: `rows` rows of named columns, and attributes (task, dataset, prompt,
 * temperature, expert, ...).  A column is
 *	depth 0: one tensor of the given inner shape per row;
 *	depth 1: a list of such elements per row (token ids; text = depth 1 of bytes);
 *	depth 2: a list of lists per row (hard negatives as tokens or text).
 * A filter reads the columns it needs, appends the columns it makes and passes the
 * rest through:
 *
 *	struct reader *in = stream_open("-");
 *	int ids = stream_need(in, "text.ids", DTYPE_I32, 1);
 *	struct writer *out = stream_create("-", in);
 *	stream_drop(out, "text.ids");
 *	int emb = stream_add(out, &(struct column){ .name = "text.emb", .dtype = DTYPE_F32,
 *	    .rank = 1, .shape = { 384 } });
 *	struct record record;
 *	while (stream_next(in, &record)) {
 *		struct record *made = stream_make(out, &record);
 *		made->columns[emb].data = ...;
 *		stream_put(out, made);
 *	}
 *	stream_finish(out);
 *	stream_close(in);
 *
 * Errors: every call dies, naming the stream and the record, on an I/O error, a bad
 * header, a checksum that does not match, or a missing end mark.
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/input.h"
#include "base/progress.h"
#include "stream/tensor.h"
#include "text/tree.h"

enum { STREAM_COLUMNS = 4096, STREAM_DEPTH = 2, STREAM_RANK = 4 };
enum { STREAM_STORE = 0, STREAM_LEVEL = 3 };

/* A column's description in the header. */
struct column {
	const char *name;
	enum dtype dtype;
	bool text;	 /* the innermost lists of u8 are UTF-8 strings */
	int depth, rank; /* rank and shape of one element */
	int64_t shape[STREAM_RANK];
};

/*
 * A column's content in one record.  offsets[0] [rows + 1] are indices of elements (depth 1) or of
 * offsets[1] (depth 2), which are indices of elements; the first offset is 0, and offsets never decrease.
 * Pointers are 64-byte aligned and borrowed from the reader until its next record; in a made record,
 * from the caller until stream_put.
 */
struct array {
	const int64_t *offsets[STREAM_DEPTH];
	const void *data;
};

struct record {
	int64_t rows;
	struct tree *attributes; /* an object; of a made record yours to edit */
	struct array *columns;	 /* in the order of the stream's columns */
};

/* Number of elements (tokens, bytes, vectors) of a column in a record. */
int64_t column_elements(
    const struct column *column, const struct array *array, int64_t rows);

/* Bytes of one element: dtype size x inner shape. */
size_t column_element_size(const struct column *column);

/* Number of innermost lists: rows at depth 1, offsets[0][rows] at depth 2. */
int64_t column_lists(
    const struct column *column, const struct array *array, int64_t rows);

/* Offsets of the innermost lists; NULL at depth 0. */
const int64_t *column_list_offsets(
    const struct column *column, const struct array *array);

/* Reading. ------------------------------------------------------------------------- */

struct reader;

struct reader *stream_open(const char *path); /* "-": standard input */

/* A stream from an open input (perhaps peeked at); stream_close closes the input. */
struct reader *stream_open_input(struct input *input);

/* Whether the input is a tensor stream; consumes nothing. */
bool stream_is(struct input *input);

const char *stream_name(const struct reader *reader);
int stream_columns(const struct reader *reader);
/* Columns lie one after the other: that of index 0 begins an array [stream_columns]. */
const struct column *stream_column(const struct reader *reader, int index);

/* Index of a column, or -1. */
int stream_find(const struct reader *reader, const char *name);

/* The same, but dies, listing the columns, if it is absent or has another type. */
int stream_need(
    const struct reader *reader, const char *name, enum dtype dtype, int depth);

/* Dies because this column is absent, suggesting the nearest name. */
_Noreturn void stream_lacks(const struct reader *reader, const char *name);

/* The header's properties: "tokenizer", "model" (fingerprints, strings), ...  Read only. */
const struct tree *stream_properties(const struct reader *reader);

/* The header's history: a list of objects {program, version, command[, seed]}. */
const struct tree *stream_history(const struct reader *reader);

/* A new object of the stream's name, properties and history, which the caller frees. */
struct tree *stream_about(const struct reader *reader);

/* Dies, naming the difference, unless `other` has the same columns and properties, so that the streams can be
 * concatenated. */
void stream_agree(const struct reader *reader, const struct reader *other);

/* Steps to the next record.  Returns false after verifying the end mark. */
bool stream_next(struct reader *reader, struct record *record);

/* From now on a record stays valid until the second stream_next after it. */
void stream_keep(struct reader *reader);

/* Whether the stream is a pipe from which nothing arrives within so many seconds: its writer may be waiting for an
 * answer. */
bool stream_waits(struct reader *reader, double seconds);
int64_t stream_records(const struct reader *reader); /* read so far */
double stream_share(
    const struct reader *reader); /* share of the file read, as input_share */

/* Reports rows and share to `progress`: those of a record when the next is read.  Borrowed until the end of the stream,
 * which hides it. */
void stream_watch(struct reader *reader, struct progress *progress);

/* Makes a progress display that counts rows; free it after reading. */
struct progress *stream_progress(struct reader *reader);
void stream_close(struct reader *reader);

/* Writing. ------------------------------------------------------------------------- */

struct writer;

/* A new stream with the columns, properties and history of `from` (NULL: none).  "-" is
 * standard output, refused if it is a terminal; a file is written under a temporary name and
 * renamed by stream_finish.  Adds this program's command line to the history. */
struct writer *stream_create(const char *path, const struct reader *from);

/* The same for an unfinished file at `path`; messages have the name of its target. */
struct writer *stream_create_as(
    const char *path, const char *name, const struct reader *from);

/* The functions up to stream_add must be called before the first record. */

/* zstd level 1..19, or 0: store (fastest); -1: the default, STREAM_STORE into a pipe, else STREAM_LEVEL. */
void stream_level(struct writer *writer, int level);
void stream_seed(struct writer *writer, uint64_t seed); /* noted in the history */
/* Puts the entries of a history before those of the writer. */
void stream_earlier(struct writer *writer, const struct tree *history);

/* A NULL value removes the property. */
void stream_property(struct writer *writer, const char *key, const char *value);

/* A column that is dropped, or replaced by stream_add, loses its properties NAME.ranges and NAME.bits (coded.h); one that is
 * renamed keeps them. */
#define STREAM_RANGES ".ranges"
#define STREAM_BITS ".bits"
void stream_drop(struct writer *writer, const char *name);
void stream_rename(struct writer *writer, const char *name, const char *to);

/* Adds a column; returns its index in made records, in which the reader's columns keep their
 * index, dropped or not.  Replaces a reader's column of the same name; dies if the name was added
 * before.  The name is copied. */
int stream_add(struct writer *writer, const struct column *column);

/* The number of columns of made records, and a column; NULL if it was dropped. */
int stream_made_columns(const struct writer *writer);
const struct column *stream_made_column(const struct writer *writer, int index);

/* Gives the vectors of a column another dtype and width; it loses its properties NAME.ranges and NAME.bits. */
void stream_recast(struct writer *writer, int index, enum dtype dtype, int width);

/* A record to fill in, with the rows, attributes and passed-through columns of `from` (NULL: no
 * rows, empty attributes).  Owned by the writer, one at a time.  Set the added columns before
 * stream_put, and all columns if you change `rows`. */
struct record *stream_make(struct writer *writer, const struct record *from);
void stream_put(struct writer *writer, const struct record *record);

/* Writes the end mark, flushes, closes and renames the file, and frees the writer. */
void stream_finish(struct writer *writer);

#endif
