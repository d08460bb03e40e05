/*
 * per_query - a table of the scores of each query, for comparing two systems.  The mean of a column is the report's
 * score before rounding.
 *
 * TSV: a header line, "id" first; then one line per query: its id, and for each column a number in the fewest digits
 * that read back equal, or nan.  Ids are compared as bytes.
 */
#ifndef SCORE_PER_QUERY_H
#define SCORE_PER_QUERY_H

#include <stdint.h>

#include "base/strings.h"
#include "score/measure/stats.h"
#include "stream/stream.h"
#include "stream/values.h"

struct per_query {
	struct strings *ids;
	struct per_query_column {
		char *name;
		struct series values; /* [ids] */
	} * columns;
	int count;
	struct output *output; /* private */
};

/* To add to a table that is NULL does nothing. */

/* Opens the file that per_query_finish writes, whole or not at all; dies if it cannot be created. */
struct per_query *per_query_create(const char *path);

/* Adds a query.  Dies on a repeated id and on an id with a tab or line end. */
void per_query_add(struct per_query *table, const char *id, size_t length);

/* A row's id: its "_id" or "id"; if the stream has neither, or `record` is NULL, `number`, which counts from 1. */
const char *per_query_id(struct reader *reader, const struct record *record, int64_t row,
    int64_t number, char room[VALUES_ROOM], size_t *length);

/* Adds this row as a query. */
void per_query_add_row(struct per_query *table, struct reader *reader,
    const struct record *record, int64_t row, int64_t number);

/* Adds a column after all queries: values [ids], copied. */
void per_query_column(struct per_query *table, const double *values, const char *format,
    ...) __attribute__((format(printf, 3, 4)));

/* Writes the table and frees it. */
void per_query_finish(struct per_query *table);

/* Dies, naming file and line, if the file is not such a table; the first column may have any name. */
struct per_query *per_query_read(const char *path);
struct per_query *per_query_read_input(struct input *input); /* closes the input */

/* The index of the column; -1: absent. */
int per_query_find(const struct per_query *table, const char *name);
void per_query_free(struct per_query *table);

#endif
