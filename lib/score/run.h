/*
 * run - what a search found: for each query documents, best first.  From embeddings or from a
 * file, to a file.
 *
 * Files are TREC's six columns, query, Q0, document, rank, score and a tag, between tabs or
 * blanks; the rank is not read.  Scores are float32, written so that they read back equal; equal
 * ones rank by id, descending as bytes: trec_eval's order.
 */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "score/search.h"
#include "score/similarity.h"

struct run {
	struct strings *queries,
	    *documents; /* hits name documents by their number here */
	bool from_file; /* then `documents` are no corpus */

	/* its own affairs */
	bool ignore_identical;
	int width;
	float *vectors;	       /* [queries, width] */
	struct search *search; /* or: */
	struct found *found;   /* [count]; settled: by query, best first */
	int64_t count;
	int64_t *starts;  /* [queries + 1] into found */
	struct hit *kept; /* what run_hits hands out */
	size_t found_room, kept_room;
};

struct run *run_new(void);

/* One hit, by numbers in the two lists of names; and, when all were put: sort them, keep the best
 * `depth` of each query (0: all).  Of hits that name the same pair the first counts; returns how
 * many did not, and the document of one of them in `repeated` unless NULL. */
void run_put(struct run *run, int64_t query, int64_t document, float score);
int64_t run_settle(struct run *run, int64_t depth, int64_t *repeated);

struct run_options {
	const char *queries, *corpus; /* streams; "-" may be one of them */
	const char *field;	      /* NULL: the only column of embeddings */
	enum similarity similarity;   /* SIMILARITY_COSINE or SIMILARITY_DOT */
	bool any_model;		      /* not both streams of one model */
	int64_t depth;		      /* documents a query */
	size_t memory; /* bytes that queries, hits and documents may take; 0: any */
	const struct strings *wanted; /* search for these queries only; NULL: for all */
	const char *candidates;	      /* path; NULL: every document is one */
};

/* Queries are in the order of the stream or file.  Vectors that are not finite have similarity
 * -1, as in the reference; of rows, or lines, with one id the first counts; both are warned of. */
struct run *run_search(const struct run_options *options);
struct run *run_read(const char *path);

/* What is to be compared: a run, or MTEB's lines of JSON with a "query-id" and "corpus-ids". */
struct run *run_read_candidates(const char *path);

/* A document that is called as the query is no hit from now on. */
void run_ignore_identical(struct run *run);

/* A query's hits, best first; borrowed until the next call. */
int64_t run_hits(struct run *run, int64_t query, const struct hit **hits);

/* At most `top` documents a query.  Dies on an id with a tab or an end of line; warns of blanks in
 * ids, which only run_read can tell from the ends of columns. */
void run_write(struct run *run, const char *path, int64_t top);
void run_free(struct run *run);

#endif
