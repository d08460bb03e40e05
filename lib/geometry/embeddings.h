/*
 * embeddings - reads all vectors of some columns of one or several streams, a column of a record at a time.
 *
 * Each stream must have at least one column FIELD.emb of the named fields, and each field must be in a stream; without fields it is
 * each stream's only embedding column.  Rows may have lists of vectors.  With `relations`, a row's vectors of all named columns are
 * concatenated: [anchor; positive].
 *
 * Dies, naming stream and row, on a component that is not finite, on different widths, and on streams of several models.
 */
#ifndef GEOMETRY_EMBEDDINGS_H
#define GEOMETRY_EMBEDDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geometry/covariance.h"
#include "stream/stream.h"

struct embeddings_options {
	const char *const *fields; /* NULL: each stream's only one */
	int count;
	bool relations; /* needs fields */
	bool single;	/* a row has one vector: no lists, one column unless relations */
	bool silent;	/* no progress bar */
	bool any_model;
};

struct embeddings;

/* Everything the options point to is borrowed. */
struct embeddings *embeddings_open(
    const char *const *paths, int count, const struct embeddings_options *options);

/* The next vectors, [rows,width], borrowed until the next call; NULL at the end. */
const float *embeddings_next(struct embeddings *embeddings, size_t *rows);

/* With `single`, of a row of the last vectors: its "_id" or "id", or else its number in the stream from 1; its data set, from the
 * column or the attribute "dataset", or "".  The caller frees them. */
char *embeddings_id(struct embeddings *embeddings, size_t row);
char *embeddings_dataset(struct embeddings *embeddings, size_t row);

int embeddings_width(const struct embeddings *embeddings);
const char *embeddings_model(const struct embeddings *embeddings); /* "": not known */
/* The property "gates" of a stream: its vectors may be of adapters; NULL: none has it. */
const char *embeddings_gates(const struct embeddings *embeddings);
const char *embeddings_kind(const struct embeddings *embeddings); /* vectors_kind */
const char *embeddings_name(
    const struct embeddings *embeddings); /* of the first stream */

/* All remaining vectors, [*rows,width]; the caller frees them. */
float *embeddings_all(struct embeddings *embeddings, size_t *rows);

/* Mean and covariance of all remaining vectors, finished.  Dies if there are fewer than two, or all are equal; warns if there are no
 * more vectors than values: "NAME: 3 vectors of 5 values: WHAT". */
struct covariance *embeddings_covariance(struct embeddings *embeddings, const char *what);

void embeddings_close(struct embeddings *embeddings);

#endif
