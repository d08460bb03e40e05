/*
 * run - the result of a search: for each query documents, best first.
 *
 * A file has TREC's six columns, query, Q0, document, rank, score and a tag, separated by tabs or blanks.  The rank is
 * ignored.  Scores are float32, written so that they read back equal; equal scores rank by id, descending as
 * bytes, as in trec_eval.
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
#include "search/row_texts.h"

/*
 * The settings of the search that made a run, encoded in the tag:
 *
 *	motes:cosine:1000/5183		the best 1000 of 5183 documents by cosine
 *	motes:dot:10/5183:others:0.5	without the document of the query's id, and only scores >= 0.5
 */
struct run_origin {
	bool known; /* false: the tag of another program */
	enum similarity similarity;
	int64_t depth, documents;
	float threshold; /* -INFINITY: none */
	bool candidates; /* each query searched its own candidates only */
	bool others;	 /* the document with the query's id was left out */
};

struct run {
	struct strings *queries, *documents;
	struct hits *hits;  /* [queries]; a hit's document is a number in `documents` */
	struct hit *memory; /* holds the hits */
	struct run_origin origin;

	/* of a search: */
	enum row_ids query_ids, document_ids;
	int64_t places; /* rows of the corpus, also those that --where left out */
	struct row_texts query_texts,
	    document_texts; /* by number; empty unless requested */
	char *field;	    /* of the documents' vectors: FIELD of FIELD.emb */
};

/* An empty run. */
struct run *run_new(void);

/* The order of equal scores; its context is run->documents.  NULL: rows have no ids, the earlier ranks first. */
search_order *run_order(const struct run *run);

/* Hits in any order, from which run_commit makes a run. */
struct findings {
	struct finding *at;
	int64_t count;
	size_t room;
};
void run_put(struct findings *findings, int64_t query, int64_t document, float score);

/* Makes the findings the run's hits, the best `depth` of each query (0: all), and frees them.  Keeps the
 * first of duplicate (query, document) pairs; returns the number dropped, and the document of one of them in
 * `repeated` unless NULL. */
int64_t run_commit(
    struct run *run, struct findings *findings, int64_t depth, int64_t *repeated);

/* Reads a run.  Keeps the first of duplicate (query, document) lines, and warns of the others. */
struct run *run_read(const char *path);
struct run *run_read_input(struct input *input);

/* Dies if a score became infinite as float32, in which such scores cannot be told apart or written. */
void run_check_finite(const struct run *run, const char *path);

/* Reads the output of near --json, with texts; ids are ROW_NAMES or ROW_NUMBERS. */
struct run *run_read_json(struct input *input);

/* Reads candidates: a run, or mteb's JSON Lines with "query-id" and "corpus-ids". */
struct run *run_read_candidates(const char *path);

/* Keeps the first `depth` hits of each query; returns the number of all that are kept. */
int64_t run_cut(struct run *run, int64_t depth);

/* Drops hits whose id equals the query's. */
void run_ignore_identical(struct run *run);

/* Returns [documents]: true for each hit of a query; the caller frees it. */
bool *run_mark_hits(const struct run *run);

/* Reads the hits' texts from a file of texts: by id, or by row if the corpus has no ids; from the member
 * run->field, else "text".  Warns of hits without a text. */
void run_read_texts(struct run *run, const char *path);

/* Writes at most `top` documents per query.  Dies on an id with a tab or a line end; warns of ids with blanks,
 * which run_read accepts and trec_eval does not. */
void run_write(const struct run *run, struct output *output, int64_t top);
void run_free(struct run *run);

#endif
