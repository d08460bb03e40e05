/*
 * qrels - relevance judgements: which documents answer a query, and how well.
 *
 * Files: BEIR's TSV (query-id, corpus-id, score; with or without a header line), TREC's four
 * columns (query, iteration, document, grade), JSON Lines with those members, or CSV (by the
 * file's name) with those columns; plain, gzip or zstd.  Ids are text or whole numbers.  A document
 * that is judged twice for a query keeps the last grade.
 */
#ifndef QRELS_H
#define QRELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "text/tree.h"
#include "text/tsv.h"

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

/* An id as JSON has it: text, or a whole number, which is written into the room; false: neither. */
enum { QRELS_ID_ROOM = 24 };
bool qrels_id(const struct tree *value, char room[QRELS_ID_ROOM], struct tsv_column *id);

#endif
