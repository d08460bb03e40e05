/*
 * query_pairs - the queries that two tables of scores (per_query.h) have in common, matched by id.
 */
#ifndef MTEB_QUERY_PAIRS_H
#define MTEB_QUERY_PAIRS_H

#include "score/per_query.h"

struct query_pairs {
	const char *files[2]; /* names, for messages */
	const struct per_query *tables[2];
	int64_t (*rows)[2]; /* [count]: a query's row in each table */
	int64_t count;
};

/* Sets rows and count, in the first table's order.  Dies if there is no common query, warns of those that only one table has. */
void query_pairs_match(struct query_pairs *pairs);

/* A column's values [count] of the common queries, freed by the caller; NULL if the table lacks it. */
double *query_pairs_column(const struct query_pairs *pairs, int which, const char *name);

/* Text pairs: the column of their targets in both tables, "gold" or "label"; NULL: neither. */
const char *query_pairs_target(const struct query_pairs *pairs);

/* Its values [count], freed by the caller.  Dies if the tables differ in one. */
double *query_pairs_targets(const struct query_pairs *pairs);

#endif
