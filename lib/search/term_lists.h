/*
 * term_lists - weights of terms (encode --emit sparse), record by record: a column of lists of ids, "X.sparse", ascending, i32 or
 * i64, and one of weights, "X.sparse.weights", of floats.
 */
#ifndef SEARCH_TERM_LISTS_H
#define SEARCH_TERM_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"
#include "stream/values.h"

struct term_lists {
	struct reader *reader; /* borrowed */
	int ids_column, weights_column;
	int vocabulary; /* the number of terms that there are; 0: the header does not say */
	/* of the loaded record: the terms of row r are offsets[r] .. offsets[r+1]-1 */
	const int64_t *offsets;
	const int32_t *ids;
	const float *weights;
	/* private */
	struct floats room;
	int32_t *narrow; /* ids of i64 */
	size_t narrow_room;
};

/* The column of ids of FIELD, FIELD.sparse or, field NULL, the only X.sparse; -1: there is none. */
int term_lists_find(const struct reader *reader, const char *field);

/* Dies if there are no weights beside the column of ids. */
struct term_lists *term_lists_open(struct reader *reader, int column);

/* Loads the terms of a record.  Dies, naming record and row, unless ids ascend, below `vocabulary`, and weights are finite. */
void term_lists_load(struct term_lists *lists, const struct record *record);

void term_lists_close(struct term_lists *lists);

/* The terms of several texts, in memory: those of text i are ids and weights starts[i] .. starts[i+1]-1. */
struct term_rows {
	int64_t count;
	int64_t *starts; /* [count + 1] */
	int32_t *ids;
	float *weights;
	size_t starts_room, ids_room, weights_room; /* private */
};

/* Adds a text without weights, whose ids are copied; returns its weights, to be filled in. */
float *term_rows_add(struct term_rows *rows, const int32_t *ids, int64_t count);

/* The dot product of text i of `one` and text j of `other`: products in the order of the ids. */
double term_rows_dot(
    const struct term_rows *one, int64_t i, const struct term_rows *other, int64_t j);
void term_rows_clear(struct term_rows *rows);
void term_rows_free(struct term_rows *rows);

#endif
