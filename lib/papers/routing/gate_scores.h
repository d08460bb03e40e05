/*
 * gate_scores - the score of each query with each gate (pilot_library.h): a file per gate, written by `mteb-score --per-query`.
 *
 * A gate's name is NAME of "NAME=FILE", or else the file's name without folder and suffix.  The order of the files decides ties.
 */
#ifndef PAPERS_ROUTING_GATE_SCORES_H
#define PAPERS_ROUTING_GATE_SCORES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strings.h"

struct gate_scores {
	struct strings *gates;
	int count; /* of gates */

	/* private */
	struct per_query **tables;
	const double **values; /* [gates][ids] the metric */
};

/* Dies on duplicate names or names that no column can have, and if a file lacks the metric. */
struct gate_scores *gate_scores_open(char *const *files, int count, const char *metric);

/* The query's score with each gate, to[count].  Dies if a file has no finite score of it. */
void gate_scores_of(
    const struct gate_scores *scores, const char *id, size_t length, double *to);

/* The mean score of each gate over all queries, to[count].  Dies unless all files have the same queries. */
void gate_scores_means(const struct gate_scores *scores, double *to);

void gate_scores_close(struct gate_scores *scores);

/* The index of the greatest score, the first of equal ones; *ties, unless NULL: the number of equal ones. */
int gate_scores_best(const double *scores, int count, int *ties);

#endif
