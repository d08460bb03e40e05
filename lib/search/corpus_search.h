/*
 * corpus_search - the documents of one or several streams that are nearest to each query of another.
 *
 * Vectors that are not finite have similarity -1, as in the reference; of rows with one id the
 * first counts; both are warned of.  Documents pass by in two blocks: while one is searched, a
 * further thread reads the next.
 */
#ifndef SEARCH_CORPUS_SEARCH_H
#define SEARCH_CORPUS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "search/run.h"
#include "search/similarity.h"

struct search_options {
	const char *queries;	   /* a stream; "-", standard input, may be one of all */
	const char *const *corpus; /* streams */
	int streams;
	const char *field; /* NULL: the only embeddings */
	enum similarity
	    similarity;		/* cosine, dot, or the model's if that is one of them */
	bool any_model;		/* the streams need not be of one model */
	const char *reason;	/* for which there must be ids, as in rows_open */
	const char *candidates; /* path: what each query is compared with; NULL: all */
	const struct strings *wanted; /* search for these queries only; NULL: for all */
	int64_t depth;		      /* documents a query */
	float threshold; /* none below it; -INFINITY: any.  This and what follows: without
			      candidates */
	bool exclude_self; /* no document with the query's id; without ids, its own row */
	bool self;	   /* the queries are the corpus */
	const char
	    *show;     /* column taken for the documents' texts; NULL: as in rows_show */
	bool texts;    /* those of queries and hits, as far as streams have them */
	size_t memory; /* that queries, hits and documents may take; 0: any */
	bool
	    live; /* where queries pause, answer those that are there; with a corpus of files */
};

/* The streams are opened and compared. */
struct corpus_search *corpus_search_open(const struct search_options *options);

/* The best documents of each query, queries in the order of their stream: at first of one at least,
 * then NULL after the last.  All of them are answered at once unless `live`; pauses then change the cuts
 * between runs, not what is in them. */
struct run *corpus_search_next(struct corpus_search *searching);
void corpus_search_close(struct corpus_search *searching);

#endif
