/*
 * qrels - relevance judgements: which documents answer a query, and how well.
 *
 * Files: BEIR's TSV (query-id, corpus-id, score), TREC's four columns (query, iteration, document, grade), and what
 * else triples.h reads; compressed or not.  A document that is judged twice for a query keeps the last grade.
 */
#ifndef TEXT_QRELS_H
#define TEXT_QRELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"

struct judgement {
	int64_t query, document; /* numbers in the two lists of names */
	int64_t grade;		 /* 0 and below: not relevant */
	int64_t order;		 /* in the file */
};

struct qrels {
	struct strings *queries, *documents;
	struct judgement *judgements; /* by query, then document */
	int64_t count;
	int64_t *starts;  /* [queries + 1] into judgements */
	int64_t repeated; /* pairs judged more than once */
};

/* Dies with FILE:LINE on a line that is no judgement, and when there is none. */
struct qrels *qrels_read(const char *path);

/* The grade of a document for a query; 0 when it was not judged. */
int64_t qrels_grade(const struct qrels *qrels, int64_t query, int64_t document);
void qrels_free(struct qrels *qrels);

#endif
