/*
 * relations - reads the pairs of a stream as relations (REZE, section 3.1): the concatenated embeddings of anchor and positive, and
 * the source (data set) of each.
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

#include "search/vectors.h"
#include "stream/stream.h"
#include "stream/values.h"

/* The columns ANCHOR.emb and POSITIVE.emb, and SOURCE: a column of texts or numbers, or else an attribute of the records. */
struct relation_names {
	const char *anchor, *positive, *source;
};

struct relations {
	int width; /* of a relation: twice an embedding's */
	struct vectors *anchor, *positive;
	int64_t count; /* rows of the loaded record */

	/* private */
	struct reader *reader;
	const struct record *record;
	const char *source;
	int source_column; /* -1: an attribute */
	float *room;
	size_t capacity;
	char text[VALUES_ROOM];
};

/* Dies if there are no such columns, or their widths differ.  Names and reader are borrowed. */
struct relations *relations_open(
    struct reader *reader, const struct relation_names *names);

/* Dies, naming record and row, on a component that is not finite. */
void relations_load(struct relations *relations, const struct record *record);

/* to[width] = a row's relation. */
void relations_row(const struct relations *relations, int64_t row, float *to);

/* All of them, [count, width]; borrowed until the next call. */
const float *relations_all(struct relations *relations);

/* A row's source, borrowed until the next call; dies if it has none. */
const char *relations_source(struct relations *relations, int64_t row, size_t *length);

void relations_close(struct relations *relations);

#endif
