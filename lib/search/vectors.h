/*
 * vectors - a column of embeddings, record by record: each row's vector, or its list of them.
 *
 *	struct vectors *positive = vectors_open(reader, "positive", VECTORS_LISTS | VECTORS_UNITS);
 *	while (stream_next(reader, &record)) {
 *		vectors_load(positive, &record);
 *		for (row...) { struct span span = vectors_row(positive, row); ... }
 *	}
 */
#ifndef SEARCH_VECTORS_H
#define SEARCH_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "search/similarity.h"
#include "stream/stream.h"
#include "stream/values.h"

enum {
	VECTORS_LISTS = 1, /* rows may have lists of vectors */
	VECTORS_UNITS = 2, /* unit vectors are wanted as well */
	VECTORS_NAN = 4	   /* components need not be finite */
};

struct vectors {
	struct reader *reader; /* borrowed */
	int column, width;
	bool lists;
	int64_t zero; /* unit vectors so far that are none, all zeros */

	/* of the record that was loaded */
	int64_t count;
	const float *raw, *units; /* [count, width] */

	/* its own affairs */
	const struct array *array;
	int wanted;
	struct floats room, unit_room;
};

/* A row's vectors. */
struct span {
	int64_t first, count;
};

/* The column FIELD.emb or FIELD, or the only one; dies when there is none. */
struct vectors *vectors_open(struct reader *reader, const char *field, int wanted);

/* What the header says that they are (values.h): "hs:layers=3"; "embeddings" where it says nothing. */
const char *vectors_kind(const struct vectors *vectors);

/* Dies, naming both, unless they have one width and, in two streams, are of one model and of one kind, as far as the headers tell; `any_model`: they may be of two that were trained together. */
void vectors_agree(
    const struct vectors *vectors, const struct vectors *other, bool any_model);

/* The model that the header names; NULL: none. */
const char *vectors_model(const struct vectors *vectors);

/* Dies where the vectors are of another model than `model`, which the stream of that name has; NULL: none. */
void vectors_agree_model(
    const struct vectors *vectors, const char *model, const char *stream);

/* Dies on a component that is not finite, unless they were wanted. */
void vectors_load(struct vectors *vectors, const struct record *record);
struct span vectors_row(const struct vectors *vectors, int64_t row);

/* Where the lists of the rows begin and, after the last, end; NULL where rows have no lists. */
const int64_t *vectors_lists(const struct vectors *vectors);

/* The similarity that is wanted; of SIMILARITY_OF_MODEL that of the model, as the stream's header says, else the cosine. */
enum similarity vectors_own_similarity(
    const struct reader *reader, enum similarity wanted);

/* How alike vector i of the one and vector j of the other record are.  Dies, naming both, where that exceeds
 * float32, in which similarities are compared.  A cosine needs VECTORS_UNITS of both. */
float vectors_similarity(enum similarity kind, const struct vectors *one, int64_t i,
    const struct vectors *other, int64_t j);

void vectors_warn_zero(const struct vectors *vectors, const char *consequence);
void vectors_close(struct vectors *vectors);

#endif
