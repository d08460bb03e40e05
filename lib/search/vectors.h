/*
 * vectors - a column of embeddings, record by record: one vector per row, or one list of vectors per row.  Codes (coded.h)
 * become the floats that they stand for.
 *
 *	struct vectors *positive = vectors_open(reader, "positive", VECTORS_LISTS | VECTORS_UNITS);
 *	while (stream_next(reader, &record)) {
 *		vectors_load(positive, &record);
 *		for (row...) { struct vector_range range = vectors_row(positive, row); ... }
 *	}
 */
#ifndef SEARCH_VECTORS_H
#define SEARCH_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "search/similarity.h"
#include "search/term_lists.h"
#include "stream/coded.h"
#include "stream/stream.h"
#include "stream/values.h"

enum {
	VECTORS_LISTS = 1, /* accept lists of vectors */
	VECTORS_UNITS = 2, /* compute unit vectors, too */
	VECTORS_NAN = 4,   /* accept NaN and infinity */
	VECTORS_TERMS =
	    8, /* accept weights of terms if there are no vectors, or FIELD names them */
	VECTORS_TOKENS = 16 /* rows have lists, of the vectors of tokens: FIELD.tokens */
};

struct vectors {
	struct reader *reader;	  /* borrowed */
	int column, width;	  /* of terms: the column of ids; their number */
	struct term_lists *terms; /* NULL: vectors; else nothing below is set */
	bool lists;
	int64_t zero; /* number of zero vectors so far, counted with VECTORS_UNITS */

	/* of the loaded record */
	int64_t count;
	const float *raw, *units; /* [count, width] */

	/* private */
	const struct array *array;
	struct coded *coded; /* NULL: the column has numbers */
	int wanted;
	struct floats room, unit_room;
};

/* A row's vectors: raw[first * width ...]. */
struct vector_range {
	int64_t first, count;
};

/* Opens the column FIELD.emb or FIELD; field NULL: the only column of embeddings.  Dies if absent. */
struct vectors *vectors_open(struct reader *reader, const char *field, int wanted);

/* The kind of vectors that the header names (values_kind), such as "hs:layers=3"; by default "hs" of X.hs, "rw" of X.rw, else "embeddings"; "weights of terms". */
const char *vectors_kind(const struct vectors *vectors);

/* Dies unless both have the same width and, as far as headers say, the same model and kind.
 * `any_model`: checks the width only, for two models that were trained together. */
void vectors_agree(
    const struct vectors *vectors, const struct vectors *other, bool any_model);

/* The same checks against vectors that are not open. */
struct vectors_origin {
	const char *stream, *model, *kind; /* borrowed; model NULL: unknown */
	int width;
};
void vectors_agree_with(
    const struct vectors *vectors, const struct vectors_origin *origin, bool any_model);

/* The model named in the header, or NULL. */
const char *vectors_model(const struct vectors *vectors);

/* Dies if the vectors' model differs from `model`, that of the stream named `stream`.  NULL agrees with any model. */
void vectors_agree_model(
    const struct vectors *vectors, const char *model, const char *stream);

/* Loads the record's vectors.  Dies on NaN and infinity without VECTORS_NAN. */
void vectors_load(struct vectors *vectors, const struct record *record);
struct vector_range vectors_row(const struct vectors *vectors, int64_t row);

/* Offsets [rows + 1] of the rows' lists; NULL if rows have one vector each. */
const int64_t *vectors_lists(const struct vectors *vectors);

/* Resolves SIMILARITY_OF_MODEL to the similarity that a property of the stream's header names, `usual` without one; returns others
 * as given.  Dies if the name is unknown. */
enum similarity vectors_said_similarity(const struct reader *reader, const char *property,
    enum similarity usual, enum similarity wanted);

/* The same by the property "similarity", usually cosine. */
enum similarity vectors_any_similarity(
    const struct reader *reader, enum similarity wanted);

/* The same, but dies if it compares lists of vectors (MaxSim). */
enum similarity vectors_own_similarity(
    const struct reader *reader, enum similarity wanted);

/* The similarity of vector i of `one` and vector j of `other`.  Dies if it exceeds float32.  Cosine needs VECTORS_UNITS
 * of both. */
float vectors_similarity(enum similarity kind, const struct vectors *one, int64_t i,
    const struct vectors *other, int64_t j);

void vectors_warn_zero(const struct vectors *vectors, const char *consequence);
void vectors_close(struct vectors *vectors);

#endif
