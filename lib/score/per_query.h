/*
 * per_query - the scores of each query, for whoever compares two systems: a table of which the
 * means are what the report has, before it rounds.
 *
 * TSV: a line of names, the first of them "id"; then a line a query, its id and a number for each
 * name, in the fewest digits that read back equal, or nan.  Ids are told apart as bytes.
 */
#ifndef SCORE_PER_QUERY_H
#define SCORE_PER_QUERY_H

#include <stdint.h>

#include "base/strings.h"
#include "stream/stream.h"
#include "stream/values.h"

struct per_query {
	struct strings *ids;
	struct per_query_column {
		char *name;
		double *values; /* [ids] */
	} * columns;
	int count;

	/* its own affairs */
	struct output *output;
	size_t room; /* of each column */
};

/* To be written there by per_query_finish, whole or not at all; dies at once when it cannot be. */
struct per_query *per_query_create(const char *path);

/* The next query.  Dies on an id that was there before, and on one that a line cannot hold. */
void per_query_add(struct per_query *table, const char *id, size_t length);

/* What a row is called: by its "_id" or "id", or, where the stream has none or `record` is NULL, by its number,
 * from 1. */
const char *per_query_id(struct reader *reader, const struct record *record, int64_t row,
    int64_t number, char room[VALUES_ROOM], size_t *length);

/* The next query is this row. */
void per_query_add_row(struct per_query *table, struct reader *reader,
    const struct record *record, int64_t row, int64_t number);

/* When all queries are there: a number of each [ids], which are copied. */
void per_query_column(struct per_query *table, const double *values, const char *format,
    ...) __attribute__((format(printf, 3, 4)));

/* Writes it, and frees. */
void per_query_finish(struct per_query *table);

/* Dies, naming file and line, on what is no such table; the first column may have any name. */
struct per_query *per_query_read(const char *path);
struct per_query *per_query_read_input(struct input *input); /* takes it over */

/* The column of that name; -1: there is none. */
int per_query_find(const struct per_query *table, const char *name);
void per_query_free(struct per_query *table);

#endif
