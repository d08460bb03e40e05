/*
 * retrieval - find the documents of a corpus that answer a query.  Main score: nDCG@10.
 *
 * Reads two streams, queries and corpus, each with "FIELD.emb" and "_id" or "id", or a run
 * (run.h) that some search has made; qrels from a file.  The best 1000 documents a query (all
 * of a run's); trec_eval's order (score in float32, descending, then id descending as bytes);
 * the measures of ranking(.h).  The corpus is streamed: memory holds the queries, their hits and
 * the documents' ids.
 */
#ifndef RETRIEVAL_H
#define RETRIEVAL_H

#include <stdbool.h>

#include "score/report.h"
#include "score/similarity.h"

struct retrieval_options {
	const char *qrels; /* path; NULL: nothing is judged, all is searched for */
	const char *found; /* path of a run, or NULL: */
	const char *queries, *corpus; /* paths; "-" may be one of them */
	const char *candidates; /* path: what each query is compared with; NULL: all */
	const char *field;	/* NULL: the only column of embeddings */
	const char *run;	/* where to write what was found, or NULL */
	int64_t top;		/* documents a query there */
	bool ignore_identical;	/* drop the document that is called as the query */
	size_t memory;		/* as in run_options */
	bool any_model;		/* as in run_options */
	bool exponential;	/* gain 2^grade - 1 instead of grade */
	enum similarity similarity; /* SIMILARITY_COSINE or SIMILARITY_DOT */
	enum protocol protocol;
};

void score_retrieval(struct report *report, const struct retrieval_options *options);

#endif
