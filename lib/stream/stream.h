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

enum { STREAM_DEPTH = 2, STREAM_RANK = 4, STREAM_STORE = 0, STREAM_LEVEL = 3 };

/* What the header says of a column.  Open on purpose. */
struct column {
	const char *name;
	enum dtype dtype;
	bool text;	 /* the innermost lists of u8 are UTF-8 strings */
	int depth, rank; /* rank and shape of one element */
	int64_t shape[STREAM_RANK];
};

/*
 * A column's content in one record.  offsets[0] has rows + 1 entries into the elements
 * (depth 1) or into offsets[1] (depth 2), whose entries point to elements; the first
 * entry is 0, they never fall.  Pointers are 64-byte aligned and borrowed from the
 * reader until its next record; in a made record, from the caller until stream_put.
 */
struct array {
	const int64_t *offsets[STREAM_DEPTH];
	const void *data;
};

struct record {
	int64_t rows;
	struct tree
	    *attributes;       /* an object; a made record's are its own, to be edited */
	struct array *columns; /* in the order of the stream's columns */
};

/* Elements of a column (tokens, bytes, vectors) in a record; 0 rows have 0. */
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

/* A stream on an input that was opened (and perhaps peeked at) already; takes it over. */
struct reader *stream_open_input(struct input *input);

/* True when the input holds a tensor stream; consumes nothing. */
bool stream_is(struct input *input);

const char *stream_name(const struct reader *reader);
int stream_columns(const struct reader *reader);
const struct column *stream_column(const struct reader *reader, int index);

/* Index of a column, or -1. */
int stream_find(const struct reader *reader, const char *name);

/* The same, but dies naming what is there when the column is absent or differs. */
int stream_need(
    const struct reader *reader, const char *name, enum dtype dtype, int depth);

/* Die for want of a column of that name, telling the one that is nearest. */
_Noreturn void stream_lacks(const struct reader *reader, const char *name);

/* The header's properties: "tokenizer", "model" (fingerprints, strings), ...  Read only. */
const struct tree *stream_properties(const struct reader *reader);

/* The header's history: a list of objects {program, version, command[, seed]}. */
const struct tree *stream_history(const struct reader *reader);

/* Die, naming what differs, unless the columns and the properties of `other` are the same, so
 * that it may follow: what cat(1) needs. */
void stream_agree(const struct reader *reader, const struct reader *other);

/* Step to the next record.  False after the end mark has been verified. */
bool stream_next(struct reader *reader, struct record *record);

/* From here on a record, its columns and attributes stay until the one after the next is asked for. */
void stream_keep(struct reader *reader);

/* Whether nothing after the record at hand has come within so many seconds, where the stream is a pipe:
 * its writer may be waiting for somebody. */
bool stream_waits(struct reader *reader, double seconds);
int64_t stream_records(const struct reader *reader); /* read so far */
double stream_share(const struct reader *reader);    /* used up, as of input_share */

/* Count its rows, and say how much of it is used up: a record's when the next is asked for.  Borrowed until
 * the end of the stream, which hides it. */
void stream_watch(struct reader *reader, struct progress *progress);

/* A progress of its own, in rows; to be freed when the stream is read. */
struct progress *stream_progress(struct reader *reader);
void stream_close(struct reader *reader);

/* Writing. ------------------------------------------------------------------------- */

struct writer;

/* A new stream with the reader's columns, properties and history (`from` may be NULL:
 * none).  "-" is standard output, refused when it is a terminal; a path is written
 * beside its target and renamed into place by stream_finish.  The history gains
 * this program's command line. */
struct writer *stream_create(const char *path, const struct reader *from);

/* zstd level 1..19, or 0: store (fastest).  The default is STREAM_STORE into a pipe, else
 * STREAM_LEVEL.  This, what follows and stream_add: before the first record. */
void stream_level(struct writer *writer, int level);
void stream_seed(struct writer *writer, uint64_t seed); /* goes to the history */
/* A NULL value takes the property away. */
void stream_property(struct writer *writer, const char *key, const char *value);
void stream_drop(struct writer *writer, const char *name);
void stream_rename(struct writer *writer, const char *name, const char *to);

/* Returns the column's index in made records, where columns that pass through keep the
 * reader's index, dropped or not.  A column of that name that came from the reader is
 * replaced; two of one name cannot be added.  The name is copied. */
int stream_add(struct writer *writer, const struct column *column);

/* A record to fill in: columns that pass through and attributes are those of `from`
 * (NULL: empty attributes, no rows: set them).  Owned by the writer, one at a time.
 * Columns that were added must be set before stream_put; who changes `rows` sets them all. */
struct record *stream_make(struct writer *writer, const struct record *from);
void stream_put(struct writer *writer, const struct record *record);

/* Write the end mark, flush, close; rename into place.  Also frees. */
void stream_finish(struct writer *writer);

#endif
