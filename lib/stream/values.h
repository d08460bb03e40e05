/*
 * values - a column's content in the form that a computation wants, whatever dtype and
 * depth the stream has it in.
 *
 * `index` counts the values of a record: rows at depth 0 (text: 1), entries of all lists
 * one after another at depth 1 (text: 2).
 */
#ifndef STREAM_VALUES_H
#define STREAM_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/number.h"
#include "stream/stream.h"

/* Index of the column "FIELD.emb" of vectors, one a row (depth 0) or a list a row (depth 1), or of
 * the one that is called FIELD itself ("text.hs"); field NULL: the only FIELD.emb.  Dies listing
 * what there is. */
int values_embedding(const struct reader *reader, const char *field, int depth);

/* The same, but -1 when there is none. */
int values_find_embedding(const struct reader *reader, const char *field, int depth);
int values_width(const struct reader *reader, int column);

/* What the header's properties (mts(5): "emb", for X.hs and X.rw "hs" and "rw") say that its vectors are, "hs:layers=3";
 * NULL: what it is called. */
const char *values_kind(const struct reader *reader, int column);

/* The vectors of a record as float32 [values, width]; `room` grows and belongs to the caller. */
struct floats {
	float *data;
	size_t capacity;
};
const float *values_floats(const struct column *column, const struct array *array,
    int64_t elements, struct floats *room);

/* Index of the first of the NULL-terminated names that is there, or -1. */
int values_find(const struct reader *reader, const char *const *names);

/* Dies when the column's values are not single ones (text or a number) in lists of that depth. */
void values_single(const struct reader *reader, int column, int depth);

/* Whether they are text; numbers otherwise. */
bool values_are_text(const struct column *column);

/* Number of values in a record, and where row r's begin (the entry r + 1 ends them). */
int64_t values_start(const struct column *column, const struct array *array, int64_t row);

/* A value as text: text as it is, a whole number in decimal, written to `room`. */
enum { VALUES_ROOM = NUMBER_ROOM };
const char *values_text(const struct column *column, const struct array *array,
    int64_t index, char room[VALUES_ROOM], size_t *length);

/* Whether there is none: empty text, as JSON's null and an empty cell are kept, or NaN. */
bool values_missing(
    const struct column *column, const struct array *array, int64_t index);

/* A value as a number; dies, naming the record and the value, when text is none. */
double values_number(
    const struct reader *reader, int column, const struct array *array, int64_t index);

/* Dies, naming record and row, when a component is not finite: for the task types where a NaN
 * leaves no score. */
void values_refuse_nan(
    const struct reader *reader, int column, int64_t row, const float *vector, int width);

#endif
