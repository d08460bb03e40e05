/*
 * corpus_search - exact search: the nearest documents of one or several streams for each query of another stream.
 *
 * Vectors with NaN or infinity have similarity -1, as in mteb; of rows with equal ids the first counts, unless they are passages;
 * both with a warning.  Documents are read in two blocks: a second thread reads one while the other is searched.
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
	const char *queries; /* a stream; one of all streams may be "-", standard input */
	const char *const *corpus; /* streams, or one index (vector_index.h) */
	int streams;
	const char *field; /* NULL: the only embeddings */
	enum similarity
	    similarity;	    /* cosine, dot, or the model's if that is one of them */
	bool any_model;	    /* accept streams of different models */
	const char *reason; /* why ids are required, as in rows_open */
	const char
	    *candidates; /* path: the documents to score for each query; NULL: all */
	const struct strings *wanted; /* ids of the queries to search for; NULL: all */
	bool named;    /* the run names all documents of an index, not only the hits */
	int64_t depth; /* documents per query */

	/* not with candidates: */
	const char *const *where; /* conditions that documents must meet (condition.h) */
	int where_count;
	bool
	    best; /* rows with the same id are passages of one document, which the best one ranks */
	int64_t
	    rescore; /* of an index: rows to compare exactly, times depth (vector_scan.h) */
	int64_t probe; /* cells of an index to search; 0: all */
	int64_t
	    beam; /* rows kept by a search in an index's graph, at least depth; 0: none */
	float threshold; /* minimum score; -INFINITY: none */
	bool
	    exclude_self; /* drop the document with the query's id; without ids, the query's row */
	bool self; /* the queries are the corpus */
	const char
	    *show;  /* column of the documents' texts; NULL: the default of rows_show */
	bool texts; /* read the texts of queries and hits, if streams have them */
	size_t memory; /* bytes for queries, hits and documents; 0: no limit */
	bool
	    live; /* answer the queries read so far when their pipe pauses; for a corpus of files, without candidates */
};

/* Opens the streams and checks that they agree. */
struct corpus_search *corpus_search_open(const struct search_options *options);

/* Dies if the corpus cannot be searched, whatever the queries; opens and closes it. */
void corpus_search_check(const struct search_options *options);

/* Searches for all queries, or with `live` for those read before the next pause.  The run has the queries in stream
 * order; the first run has at least one.  NULL after the last run. */
struct run *corpus_search_next(struct corpus_search *searching);
void corpus_search_close(struct corpus_search *searching);

#endif
