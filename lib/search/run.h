/*
 * run - what a search found: for each query documents, best first.
 *
 * Files are TREC's six columns, query, Q0, document, rank, score and a tag, between tabs or
 * blanks; the rank is not read, the tag as said below.  Scores are float32, written so that they read back equal; equal
 * ones rank by id, descending as bytes: trec_eval's order.
 */
#ifndef SEARCH_RUN_H
#define SEARCH_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/input.h"
#include "base/output.h"
#include "base/strings.h"
#include "search/rows.h"
#include "search/search.h"
#include "search/similarity.h"
#include "search/texts.h"

/*
 * What a run was made with, and those who judge it may say.  It travels in the tag:
 *
 *	motes:cosine:1000/5183		the best 1000 of 5183 documents by their cosine
 *	motes:dot:10/5183:others:0.5	none called as its query, none below 0.5
 */
struct run_origin {
	bool known; /* false: some other program's */
	enum similarity similarity;
	int64_t depth, documents;
	float threshold; /* -INFINITY: none */
	bool candidates; /* each query was compared with its own */
	bool others;	 /* documents that are called as the query were left out */
};

struct run {
	struct strings *queries, *documents;
	struct hits *hits;  /* [queries]; documents by their number above */
	struct hit *memory; /* that the hits are in */
	struct run_origin origin;

	/* of a search: */
	enum row_ids query_ids, document_ids;
	struct texts query_texts, document_texts; /* by number, where they were wanted */
	char *field; /* of which the documents' vectors are: what is before ".emb" */
};

/* Both lists of names empty. */
struct run *run_new(void);

/* The order of equal scores, its context the documents. */
search_order *run_order(const struct run *run);

/* Hits in any order: what a run can be made of. */
struct findings {
	struct found *at;
	int64_t count;
	size_t room;
};
void run_put(struct findings *findings, int64_t query, int64_t document, float score);

/* Make the findings the run's hits, the best `depth` of each query (0: all), and free them.  Of
 * those of one query and one document the first counts; returns how many did not, and the document
 * of one of them in `repeated` unless NULL. */
int64_t run_settle(
    struct run *run, struct findings *findings, int64_t depth, int64_t *repeated);

/* Of lines with one query and one document the first counts; warns of the others. */
struct run *run_read(const char *path);
struct run *run_read_input(struct input *input);

/* What near --json writes, with texts; its ids are ROW_NAMES or ROW_NUMBERS. */
struct run *run_read_json(struct input *input);

/* What is to be compared: a run, or MTEB's lines of JSON with a "query-id" and "corpus-ids". */
struct run *run_read_candidates(const char *path);

/* Drop documents that are called as the query. */
void run_ignore_identical(struct run *run);

/* Which documents are hits [documents], to be freed. */
bool *run_mark_hits(const struct run *run);

/* Take the hits' texts from a file of texts: by ids, or of a corpus without ids row by row; from the
 * member called as the field, else "text".  Warns of hits without one. */
void run_read_texts(struct run *run, const char *path);

/* At most `top` documents a query.  Dies on an id with a tab or an end of line; warns of blanks in
 * ids, which only run_read can tell from the ends of columns. */
void run_write(const struct run *run, struct output *output, int64_t top);
void run_free(struct run *run);

#endif
