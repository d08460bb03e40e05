/*
 * qrels - relevance judgements: graded documents of each query.
 *
 * Files: BEIR's TSV (query-id, corpus-id, score), TREC's four columns (query, iteration, document, grade), and the
 * other formats of triples.h; also compressed.  Of repeated judgements of a (query, document) pair the last counts.
 */
#ifndef TEXT_QRELS_H
#define TEXT_QRELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"

struct judgement {
	int64_t query, document; /* numbers in `queries` and `documents` below */
	int64_t grade;		 /* 0 or less: not relevant */
	int64_t order;		 /* position in the file */
};

struct qrels {
	struct strings *queries, *documents;
	struct judgement *judgements; /* [count], sorted by query, then document */
	int64_t count;
	int64_t *starts;  /* [queries + 1] into judgements */
	int64_t repeated; /* pairs judged more than once */
	size_t capacity;  /* of judgements, while they are read */
};

/* Dies with FILE:LINE on a line that is not a judgement, and if there are no judgements. */
struct qrels *qrels_read(const char *path);

/* The grade of a document for a query; INT64_MIN: not judged. */
int64_t qrels_grade(const struct qrels *qrels, int64_t query, int64_t document);
void qrels_free(struct qrels *qrels);

#endif
