/*
 * values - the values of a column as vectors, numbers or text, whatever its dtype and depth.
 *
 * `index` counts the values of a record: rows at depth 0 (text: 1); at depth 1 (text: 2) the entries of
 * all lists, concatenated.
 */
#ifndef STREAM_VALUES_H
#define STREAM_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/number.h"
#include "stream/stream.h"

/* Index of the column of vectors FIELD.emb, or FIELD itself ("text.hs"); field NULL: the only FIELD.emb.  depth 0:
 * one vector per row; 1: a list of vectors per row.  Dies, listing the columns, if absent. */
int values_embedding(const struct reader *reader, const char *field, int depth);

/* Whether it is "emb" or "X.emb" of vectors, at any depth. */
bool values_is_embedding(const struct column *column);

/* Index of the column of vectors of tokens FIELD.tokens, or FIELD itself, a list of vectors per row; field NULL: the only
 * FIELD.tokens.  Dies, listing the columns, if absent. */
int values_tokens(const struct reader *reader, const char *field);

/* The same as values_embedding, but returns -1 if absent. */
int values_find_embedding(const struct reader *reader, const char *field, int depth);

/* The width of a column of vectors of numbers; dies if they are codes (coded.h). */
int values_width(const struct reader *reader, int column);

/* The kind of a column's vectors, as the header's properties "emb", "hs" (for X.hs), "rw" (for X.rw) and "tokens" name it (mts(5)):
 * "hs:layers=3"; NULL if they do not. */
const char *values_kind(const struct reader *reader, int column);

/* The vectors of a record as float32 [elements, width]: array->data itself if f32, else converted into `room`, which the
 * caller frees. */
struct floats {
	float *data;
	size_t capacity;
};
const float *values_floats(const struct column *column, const struct array *array,
    int64_t elements, struct floats *room);

/* Index of the first column among the NULL-terminated names, or -1. */
int values_find(const struct reader *reader, const char *const *names);

/* Dies unless the column has one text or number per row (depth 0) or a list of them per row (depth 1). */
void values_single(const struct reader *reader, int column, int depth);

/* Whether the values are text, not numbers. */
bool values_are_text(const struct column *column);

/* Dies unless two columns of lists (text: of lists of texts) have equally many values in each row of the record. */
void values_same_lengths(
    const struct reader *reader, const struct record *record, int column, int other);

/* The index of the first value of a row; that of row r + 1 ends row r. */
int64_t values_start(const struct column *column, const struct array *array, int64_t row);

/* A value as text: text itself, borrowed; a number in decimal, written to `room`. */
enum { VALUES_ROOM = NUMBER_ROOM };
const char *values_text(const struct column *column, const struct array *array,
    int64_t index, char room[VALUES_ROOM], size_t *length);

/* The same, as people read it: a boolean is "true" or "false", not a label's 1 or 0. */
const char *values_shown(const struct column *column, const struct array *array,
    int64_t index, char room[VALUES_ROOM], size_t *length);

/* Whether a value is missing: empty text (JSON's null, an empty cell) or NaN. */
bool values_missing(
    const struct column *column, const struct array *array, int64_t index);

/* A value as a number; dies, naming record and value, if text is not a number. */
double values_number(
    const struct reader *reader, int column, const struct array *array, int64_t index);

/* Dies, naming record and row, and of a list the place in it, if a vector has NaN or infinity.  at: of the vector among all of
 * the array. */
void values_refuse_nan(const struct reader *reader, int column, const struct array *array,
    int64_t at, const float *vector, int width);

#endif
