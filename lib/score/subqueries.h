/*
 * subqueries - one query from several, as the articles that a person has read (mteb's max_over_subqueries).
 *
 * The subqueries of a query are called as the query, then "_" and something without "_".
 */
#ifndef SCORE_SUBQUERIES_H
#define SCORE_SUBQUERIES_H

#include "search/run.h"
#include "text/qrels.h"

/*
 * Merges the hits of each query's judged subqueries: a document's score is its greatest.  A query is called as its last
 * subquery in `qrels`, by whose judgements mteb scores it.  Queries without hits are left out.  The caller frees the run.
 */
struct run *subqueries_merge(const struct run *run, const struct qrels *qrels);

#endif
