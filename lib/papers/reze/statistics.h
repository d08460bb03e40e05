/*
 * statistics - the statistics of a frozen model's relations (REZE, section 3.1): their mean u, the eigenvectors W of their covariance,
 * and the shrinkage factors of each source.
 *
 *	struct statistics *statistics = statistics_new(width);
 *	while (...) {
 *		covariance_add(statistics->sums, relation, 1);
 *		statistics_count(statistics, relation, statistics_source(statistics, name, length));
 *	}
 *	statistics_solve(statistics, rank, &settings);
 *
 * statistics_merge adds the sums of different relations.  statistics_solve sorts the sources by name, so results do not depend on
 * their order.  Memory: three covariance matrices, and a vector per source; collect_pairs: see covariance_collect.
 */
#ifndef PAPERS_REZE_STATISTICS_H
#define PAPERS_REZE_STATISTICS_H

#include <stdint.h>

#include "base/strings.h"
#include "geometry/covariance.h"
#include "geometry/eigen.h"
#include "papers/reze/shrinkage.h"

struct statistics {
	int width;		      /* of a relation */
	char *anchor, *positive;      /* names of the columns */
	char *model;		      /* fingerprint; NULL: not known */
	char *kind;		      /* of the vectors (vectors_kind) */
	char *model_stream;	      /* the stream that named it; NULL: the first */
	struct covariance *sums;      /* of all relations */
	struct strings *sources;      /* their names */
	struct source_sum *by_source; /* [sources] */
	size_t capacity;

	/* after statistics_solve; NULL: sums alone */
	struct shrinkage_settings settings;
	struct eigen *eigen;
	double *means; /* [rank, sources] of the sources in the eigenspace */
	struct shrinkage *shrinkage;
};

struct source_sum {
	int64_t pairs;
	double *sum; /* [width] */
};

struct statistics *statistics_new(int width);

/* The number of a source; adds a new one. */
int statistics_source(struct statistics *statistics, const char *name, size_t length);

/* Adds a finite relation [width] to its source's mean; the caller adds it to `sums`. */
void statistics_count(struct statistics *statistics, const float *relation, int source);

/* Adds the relations of `other`, of the same width. */
void statistics_merge(struct statistics *statistics, const struct statistics *other);

/* Discards the solution, and keeps the sums. */
void statistics_unsolve(struct statistics *statistics);

/* Computes the first `rank` eigenvectors (0: all) of the covariance (divided by the count), the means and the shrinkage.  Dies, naming
 * `stream`, if the relations do not vary; warns if there are too few. */
void statistics_solve(struct statistics *statistics, int rank,
    const struct shrinkage_settings *settings, const char *stream);

/* A source's mean, [width]; the caller frees it. */
double *statistics_mean(const struct statistics *statistics, int source);

void statistics_free(struct statistics *statistics);

#endif
