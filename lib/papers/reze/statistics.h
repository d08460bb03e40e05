/*
 * statistics - what REZE knows of a frozen model's relations before training: their mean u, the eigenvectors W of
 * their covariance, and of each source how its means are to be shrunk (REZE, section 3.1).
 *
 *	struct statistics *statistics = statistics_new(width);
 *	while (...) {
 *		covariance_add(statistics->sums, relation, 1);
 *		statistics_count(statistics, relation, statistics_source(statistics, name, length));
 *	}
 *	statistics_solve(statistics, rank, &settings);
 *
 * Sums of different relations add up: statistics_merge.  Sources are those of pairs; after
 * statistics_solve and statistics_sort they are in the order of their names, so that no result depends on which
 * came first.  Memory: the covariance three times, and a vector for each source; collect_pairs: that of
 * covariance_collect.
 */
#ifndef PAPERS_REZE_STATISTICS_H
#define PAPERS_REZE_STATISTICS_H

#include <stdint.h>

#include "base/strings.h"
#include "geometry/covariance.h"
#include "geometry/eigen.h"
#include "papers/reze/shrinkage.h"

struct statistics {
	int width;		 /* of a relation */
	char *anchor, *positive; /* the columns that it was made of */
	char *model;		 /* fingerprint; NULL: not known */
	char *model_stream;	 /* a later stream that named it; NULL: the first did */
	struct covariance *sums; /* of all relations */
	struct strings *sources; /* their names */
	struct source_sum *by_source; /* [sources] */
	size_t capacity;

	/* after statistics_solve; NULL: sums alone */
	struct shrinkage_settings settings;
	struct eigen *eigen;
	double *means; /* [rank, sources]: of the sources, in the eigenspace */
	struct shrinkage *shrinkage;
};

struct source_sum {
	int64_t pairs;
	double *sum; /* [width] */
};

struct statistics *statistics_new(int width);

/* The number of a source, which may be new. */
int statistics_source(struct statistics *statistics, const char *name, size_t length);

/* A relation [width], which is finite, counts for its source's mean; the caller adds it to the sums. */
void statistics_count(struct statistics *statistics, const float *relation, int source);

/* What `other` was given, too; both have one width. */
void statistics_merge(struct statistics *statistics, const struct statistics *other);

/* Forget what was solved: sums remain. */
void statistics_unsolve(struct statistics *statistics);

/* Of the covariance divided by the count the `rank` first eigenvectors (0: all), and what follows from them.
 * Dies, naming `stream`, where the relations do not vary; warns of what the numbers do not bear. */
void statistics_solve(struct statistics *statistics, int rank,
    const struct shrinkage_settings *settings, const char *stream);
void statistics_sort(struct statistics *statistics);

/* A source's mean, [width], to be freed. */
double *statistics_mean(const struct statistics *statistics, int source);

/* How many factors of a source are not 1. */
int statistics_shrunk(const struct statistics *statistics, int source);
void statistics_free(struct statistics *statistics);

#endif
