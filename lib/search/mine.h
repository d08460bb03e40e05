/*
 * mine - hard negatives from a run: documents that a search found near a query and that are not judged relevant.
 *
 * The rules are sentence-transformers' mine_hard_negatives.  P is the greatest number of relevant documents that a query has.
 *	1. take a query's first `last` + P hits
 *	2. drop relevant documents, and hits beyond a limit (margins, scores)
 *	3. the hits `first` to `last` - 1 that remain, counted from 0, are the candidates
 *	4. the best `count` candidates are the negatives, or `count` random ones
 *
 * The margins are to the relevant document of the lowest score, as the hardest.  One that the run has not found is below all hits:
 * with a margin its query has no negatives.
 */
#ifndef SEARCH_MINE_H
#define SEARCH_MINE_H

#include <stdbool.h>
#include <stdint.h>

struct mine_options {
	const char *run, *qrels;
	const char *query_texts, *texts; /* JSON Lines, TSV ...; NULL: ids alone */
	int64_t count;			 /* negatives of a pair */
	int64_t first,
	    last; /* numbers from 0; last 0: as many as are needed, ten times as many with a limit */
	double
	    margin; /* score + margin is at most the relevant document's; -INFINITY: any */
	double relative_margin; /* of the relevant document's score; -INFINITY: any */
	double least, most;	/* scores; -INFINITY, INFINITY: any */
	bool random;
	int64_t seed;
};

/* Writes a JSON object for each query and relevant document that has negatives to the file `output`, "-": standard output; says how
 * many pairs have none.  A usage error if the options contradict each other. */
void mine(const struct mine_options *options, const char *output);

#endif
