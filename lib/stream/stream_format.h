/*
 * stream_format - what the stream's reader and writer share of mts(5).  Not for others.
 */
#ifndef STREAM_STREAM_FORMAT_H
#define STREAM_STREAM_FORMAT_H

#include <stdint.h>

#include "stream/stream.h"

enum {
	STREAM_ALIGNMENT = 64,
	STREAM_TAG = 8,	  /* bytes that name the kind of a frame */
	STREAM_HEAD = 32, /* of a record, before the counts of its columns */
	STREAM_END = 24,  /* bytes of an end mark */
	STREAM_COLUMNS = 4096,
	STREAM_HEADER = 16 << 20,
	STREAM_ATTRIBUTES = 1 << 20,
	STREAM_NAME = 255
};
static const int64_t STREAM_RECORD = (int64_t)1 << 34, STREAM_ELEMENT = (int64_t)1 << 31;

/* What a record says of a column: lists (0 at depth 0 and 1) and elements. */
struct counts {
	uint64_t lists, elements;
};

/* The arrays of a column, in order: offsets[0], offsets[1], data; 0: it has no such array.
 * False when they are larger than a record may be. */
bool stream_sizes(const struct column *column, uint64_t rows, struct counts counts,
    uint64_t sizes[STREAM_DEPTH + 1]);

/* Up to a multiple of the alignment; of a number that is not larger than a record. */
uint64_t stream_pad(uint64_t bytes);

/* NULL, or what is wrong with the offsets or values of a column. */
const char *stream_fault(const struct column *column, const struct array *array,
    int64_t rows, struct counts counts);

/* NULL, or what is wrong with the description of a column. */
const char *column_fault(const struct column *column);

/* NULL, or in what respect two columns differ: "names", "dtypes", ... */
const char *column_difference(const struct column *a, const struct column *b);

/* A header's content, parsed and checked.  `name` is the stream's, for messages. */
struct header {
	struct tree *tree; /* owns names, properties and history */
	struct column *columns;
	int count;
};
struct header header_parse(const char *text, size_t size, const char *name);

/* Dies, saying what it is, where the bytes of an input are text or another known kind of file, not a stream. */
void header_refuse_text(const char *bytes, size_t size, const char *name);

/* NULL, or in what respect two streams cannot be one: a sentence, to be freed. */
char *header_difference(const struct header *one, const struct header *two);
void header_free(struct header *header);

/* A column as a header has it, an object; to be freed. */
struct tree *column_tree(const struct column *column);

/* "text.ids (i32, depth 1)", for messages; to be freed. */
char *column_text(const struct column *column);

#endif
