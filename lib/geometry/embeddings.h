/*
 * embeddings - all vectors of some columns of one or several streams, a column of a record at a time.
 *
 * Fields that are named are taken together: each stream must have one of their columns FIELD.emb at least,
 * each field must be in a stream.  Where none is named it is each stream's only such column.  Rows may have
 * lists of vectors.  Or a row's vectors in all of the named columns are one, one after the other: relations,
 * [anchor; positive].
 *
 * Dies, naming stream and row, on a component that is not finite, on widths that differ, and on streams of
 * several models.
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
	bool
	    single; /* a row has one vector: no lists, one column unless they are relations */
	bool silent; /* without progress */
	bool any_model;
};

struct embeddings;

/* What is counted, vectors, is shown as progress.  What the options point to is borrowed. */
struct embeddings *embeddings_open(
    const char *const *paths, int count, const struct embeddings_options *options);

/* The next vectors, [rows,width], borrowed until the next call; NULL at the end. */
const float *embeddings_next(struct embeddings *embeddings, size_t *rows);

/* Of a row of those vectors, where a row has one: its "_id" or "id", else its number in its stream, from 1; the data
 * set that its column or its record's attribute "dataset" names, or "".  To be freed. */
char *embeddings_id(struct embeddings *embeddings, size_t row);
char *embeddings_dataset(struct embeddings *embeddings, size_t row);

int embeddings_width(const struct embeddings *embeddings);
const char *embeddings_model(const struct embeddings *embeddings); /* "": nobody says */
const char *embeddings_name(
    const struct embeddings *embeddings); /* of the first stream */

/* All that are left, [*rows,width]; to be freed. */
float *embeddings_all(struct embeddings *embeddings, size_t *rows);

/* Mean and covariance of all that are left, finished.  Dies where there are fewer than two, or all are the same;
 * warns where they are too few for `what` to be known in all directions: "NAME: 3 vectors of 5 values: WHAT". */
struct covariance *embeddings_covariance(struct embeddings *embeddings, const char *what);

void embeddings_close(struct embeddings *embeddings);

#endif
