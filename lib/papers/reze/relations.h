/*
 * relations - the pairs of a stream as relations (REZE, section 3.1): the embedding of an anchor and
 * that of its positive, one after the other; and of which source, a data set, each is.
 *
 *	struct relations *relations = relations_open(reader, &names);
 *	while (stream_next(reader, &record)) {
 *		relations_load(relations, &record);
 *		for (row...) {
 *			relations_source(relations, row, &length);
 *			relations_row(relations, row, relation);
 *		}
 *	}
 */
#ifndef PAPERS_REZE_RELATIONS_H
#define PAPERS_REZE_RELATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"
#include "stream/values.h"

/* What is looked for: the columns ANCHOR.emb and POSITIVE.emb; SOURCE, a column of texts or numbers, else an
 * attribute of the records. */
struct relation_names {
	const char *anchor, *positive, *source;
};

struct relations {
	int width; /* of a relation: twice an embedding's */

	/* of the record that was loaded */
	int64_t count;

	/* its own affairs */
	struct reader *reader;
	const struct record *record;
	struct vectors *anchor, *positive;
	const char *source;
	int source_column; /* -1: the records say it */
	float *room;
	size_t capacity;
	char text[VALUES_ROOM];
};

/* Dies when there are no such columns, or when they are of two widths.  Names and reader are borrowed. */
struct relations *relations_open(
    struct reader *reader, const struct relation_names *names);

/* Dies, naming record and row, on a component that is not finite. */
void relations_load(struct relations *relations, const struct record *record);

/* A row's relation, to [width]. */
void relations_row(const struct relations *relations, int64_t row, float *to);

/* All of them, [count, width]; borrowed until the next call. */
const float *relations_all(struct relations *relations);

/* Borrowed until the next call; dies on a row that does not say it. */
const char *relations_source(struct relations *relations, int64_t row, size_t *length);

/* The columns of embeddings in the stream. */
int relations_anchor_column(const struct relations *relations);
int relations_positive_column(const struct relations *relations);
void relations_close(struct relations *relations);

#endif
