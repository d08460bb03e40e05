/*
 * gate_scores - how well each gate serves each query: a file for each gate, as `mteb-score --per-query` writes them.
 *
 * A gate is called what stands before the '=' of "NAME=FILE", else as its file is, without folder and ending.  Gates
 * are in the order in which their files are named, which decides between equals.
 */
#ifndef PAPERS_ROUTING_GATE_SCORES_H
#define PAPERS_ROUTING_GATE_SCORES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strings.h"

struct gate_scores {
	struct strings *gates;
	int count; /* of gates */

	/* its own affairs */
	struct per_query **tables;
	const double **values; /* of the metric, [ids] of each table */
};

/* Dies on names that come twice or cannot be those of columns, and where a file lacks the metric. */
struct gate_scores *gate_scores_open(char *const *files, int count, const char *metric);

/* The query's score with each gate, to[count].  Dies where a file does not have it, or has no number. */
void gate_scores_of(
    const struct gate_scores *scores, const char *id, size_t length, double *to);

/* The mean of each gate over all queries, to[count].  Dies unless all files have the same queries. */
void gate_scores_means(const struct gate_scores *scores, double *to);

void gate_scores_close(struct gate_scores *scores);

/* The greatest, the first of equals; `ties`, if not NULL, becomes how many there are of it. */
int gate_scores_best(const double *scores, int count, int *ties);

/* Dies, as `whose` says, when a gate cannot be called this: columns and folders have its name. */
void gate_scores_check_name(const char *whose, const char *name);

#endif
