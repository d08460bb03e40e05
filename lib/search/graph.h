/*
 * graph - a graph of near vectors (Vamana: Subramanya et al., DiskANN, 2019), as HNSW's lowest layer: each row has links to rows
 * near it and to some farther away, and a search follows links towards the query.
 *
 * Similarities are those of codes (codes.h).  For dot products of vectors of different lengths a row has one more number,
 * sqrt(longest^2 - |x|^2), so that the nearest vectors are those with the greatest dot products (Bachrach et al., 2014);
 * a query has 0 there.
 *
 * Libraries (hnswlib, FAISS) read their graph and its floats whole into memory.  This one is mapped, compares codes, and its links do
 * not depend on the number of threads.
 *
 * Rows are numbered from 0.  Rows whose error is infinite (vectors with NaN) are not in the graph.
 */
#ifndef SEARCH_GRAPH_H
#define SEARCH_GRAPH_H

#include <stdint.h>

#include "search/codes.h"
#include "search/top_hits.h"

enum { GRAPH_LINKS_MOST = 256 };
#define GRAPH_END UINT32_MAX

struct graph {
	const char *name;      /* of the file of links, for messages */
	const uint8_t *codes;  /* [rows, codes_stride(width)] */
	const float *errors;   /* [rows] */
	const float *extra;    /* [rows], the number above; NULL: 0 */
	const uint32_t *links; /* [rows, room]: rows, then GRAPH_END */
	int64_t rows, room;
	int width;
	code_sums *code_sums;
};

/* Memory of searches that keep the `beam` best rows seen; the results of the last one. */
struct graph_walk {
	struct graph_place *places; /* [beam] */
	struct hit *found;	    /* [count], best first, scores by codes */
	int64_t beam, count;
	struct number_set *seen;
	uint32_t *fresh; /* [GRAPH_LINKS_MOST x 2] */
};
struct graph_walk graph_walk_new(int64_t beam);
void graph_walk_free(struct graph_walk *walk);

/* The similarity of a query and a row by codes; `extra` is the query's. */
float graph_score(
    const struct graph *graph, const struct code_query *query, float extra, uint32_t row);

/* Follows links from the rows starts [count] to about the `beam` rows most similar to the query.  Dies if a link is damaged. */
void graph_search(struct graph_walk *walk, const struct graph *graph,
    const struct code_query *query, float extra, const uint32_t *starts, int64_t count);

/* Rows at which a search starts: the first of a fixed random order.  Writes starts [GRAPH_STARTS]; returns their number. */
enum { GRAPH_STARTS = 16 };
int64_t graph_starts(const struct graph *graph, uint32_t *starts);

/* The i-th row of that order. */
uint32_t graph_order(const struct graph *graph, int64_t i);

/*
 * Writes the links [rows, degree] of a new graph of vectors [rows, width]; `longest` is the greatest length of one.  The same
 * vectors give the same links, with any number of threads.
 */
void graph_build(uint32_t *links, int degree, const struct graph *graph,
    const float *vectors, const struct code_columns *columns, double longest);

#endif
