/*
 * targets - the debiased targets (debias.h) of the pairs of a stream, record by record.
 *
 *	struct targets *targets = targets_open(in, path, &names, any_model);
 *	while (stream_next(in, &record)) {
 *		targets_compute(targets, &record);
 *		...targets->exact...
 *	}
 */
#ifndef PAPERS_REZE_TARGETS_H
#define PAPERS_REZE_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "papers/reze/relations.h"
#include "papers/reze/statistics.h"

struct targets {
	struct statistics *statistics;
	struct relations *relations; /* of the record */
	int *sources;		     /* [relations->count] */
	double *exact;		     /* [relations->count, relations->width] */

	/* private */
	struct debias *debias;
	size_t room;
};

/* The given names; else those of the statistics, unless NULL; else those of tasksample. */
struct relation_names targets_names(
    const struct relation_names *given, const struct statistics *made);

/* Reads the statistics at `path`.  Borrows reader and names.  Dies on pairs of another width or (unless `any_model`) model. */
struct targets *targets_open(struct reader *reader, const char *path,
    const struct relation_names *given, bool any_model);

/* Dies on a pair of a source that the statistics do not have. */
void targets_compute(struct targets *targets, const struct record *record);
void targets_close(struct targets *targets);

#endif
