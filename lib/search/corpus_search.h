/*
 * corpus_search - search a stream of documents for each query of another stream.
 *
 * Vectors that are not finite have similarity -1, as in the reference; of rows with one id the
 * first counts; both are warned of.  Documents pass by in blocks that keep every core busy.
 */
#ifndef CORPUS_SEARCH_H
#define CORPUS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "search/run.h"
#include "search/similarity.h"

struct search_options {
	const char *queries,
	    *corpus;		    /* streams; "-", standard input, may be one of them */
	const char *field;	    /* NULL: the only embeddings */
	enum similarity similarity; /* cosine or dot */
	bool any_model;		    /* the streams need not be of one model */
	const char *candidates; /* path: what each query is compared with; NULL: all */
	const struct strings *wanted; /* search for these queries only; NULL: for all */
	int64_t depth;		      /* documents a query */
	size_t memory; /* that queries, hits and documents may take; 0: any */
};

/* The best documents of each query, queries in the order of their stream. */
struct run *corpus_search(const struct search_options *options);

#endif
