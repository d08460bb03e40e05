/*
 * score_retrieval - find the documents of a corpus that answer a query.  Main score: nDCG@10.
 *
 * Reads two streams, queries and corpus, each with "FIELD.emb" and "_id" or "id"; qrels from
 * a file.  Cosine in float32; the best 1000 documents a query; trec_eval's order (score
 * descending, then id descending as bytes); means rounded to 5 decimals, as MTEB prints them.
 * The corpus is streamed: memory holds the queries, their hits and the documents' ids.
 */
#ifndef SCORE_RETRIEVAL_H
#define SCORE_RETRIEVAL_H

#include <stdbool.h>

#include "score.h"

struct retrieval_options {
	const char
	    *qrels; /* path; NULL: nothing is judged, all queries are searched for */
	const char *queries, *corpus; /* paths; "-" may be one of them */
	const char *field;	      /* NULL: the only column of embeddings */
	const char *run;	      /* where to write what was found, or NULL */
	int64_t top;		      /* documents a query there */
	bool ignore_identical;	      /* drop the document that is called as the query */
	bool exponential;	      /* gain 2^grade - 1 instead of grade */
};

void score_retrieval(struct report *report, const struct retrieval_options *options);

#endif
