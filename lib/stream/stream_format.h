/*
 * stream_format - the format of mts(5) beneath stream.h: headers, columns, sizes, and their faults.
 */
#ifndef STREAM_STREAM_FORMAT_H
#define STREAM_STREAM_FORMAT_H

#include <stdint.h>

#include "stream/stream.h"

enum {
	STREAM_ALIGNMENT = 64,
	STREAM_TAG = 8,	  /* bytes of a frame's kind */
	STREAM_HEAD = 32, /* bytes of a record before the counts of its columns */
	STREAM_END = 24,  /* bytes of an end mark */
	STREAM_HEADER = 16 << 20,
	STREAM_ATTRIBUTES = 1 << 20,
	STREAM_NAME = 255
};
static const int64_t STREAM_RECORD = (int64_t)1 << 34, STREAM_ELEMENT = (int64_t)1 << 31;

/* A record's counts of a column: lists (0 at depth 0 and 1) and elements. */
struct counts {
	uint64_t lists, elements;
};

/* Sizes in bytes of a column's arrays: offsets[0], offsets[1], data; 0 without offsets.
 * Returns false if they exceed the maximum of a record. */
bool stream_sizes(const struct column *column, uint64_t rows, struct counts counts,
    uint64_t sizes[STREAM_DEPTH + 1]);

/* Rounds up to a multiple of the alignment; bytes <= STREAM_RECORD. */
uint64_t stream_pad(uint64_t bytes);

/* NULL, or the fault in a column's offsets or values. */
const char *stream_fault(const struct column *column, const struct array *array,
    int64_t rows, struct counts counts);

/* NULL, or the fault in a column's description. */
const char *column_fault(const struct column *column);

/* NULL, or the property in which two columns differ: "names", "dtypes", ... */
const char *column_difference(const struct column *a, const struct column *b);

/* A parsed and checked header.  `name`: the stream's, for messages. */
struct header {
	struct tree *tree; /* owns names, properties and history */
	struct column *columns;
	int count;
};
struct header header_parse(const char *text, size_t size, const char *name);

/* Dies if the first bytes of an input show text or another known kind of file. */
void header_refuse_text(const char *bytes, size_t size, const char *name);

/* NULL, or why two streams cannot be concatenated; the caller frees it. */
char *header_difference(const struct header *one, const struct header *two);
void header_free(struct header *header);

/* A column as an object of the header; the caller frees it. */
struct tree *column_tree(const struct column *column);

/* "text.ids (i32, depth 1)", for messages; the caller frees it. */
char *column_text(const struct column *column);

#endif
