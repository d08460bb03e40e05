/*
 * statistics_file - writes and reads statistics of relations (REZE, section 3.1) as a stream of one record.
 *
 * Row j has component j of a relation, and eigenvector j:
 *	mean		f64		u
 *	source.mean	f64 [sources]	of each source
 *	covariance	f64, depth 1	with components 0 .. j
 * and, unless it has sums only, for each eigenvector (NaN, and an empty list, for those that were not computed)
 *	eigenvalue	f64		descending
 *	eigenvector	f64, depth 1	[width]
 *	source.eigen	f64 [sources]	mu: each source's mean in the eigenspace
 *	centre, dispersion, band	f64	m, v, and the band
 *	shrink		f64 [sources]	the factors
 * Attributes: anchor, positive, relations, sources [{name, pairs}], settings, active, threshold.
 */
#ifndef PAPERS_REZE_STATISTICS_FILE_H
#define PAPERS_REZE_STATISTICS_FILE_H

#include "papers/reze/statistics.h"
#include "stream/stream.h"

/* Copies the history of `from`.  level: of zstd; -1: the default. */
void statistics_write(const struct statistics *statistics, const char *path, int level,
    const struct reader *from);

/* Dies if the stream has no statistics or is damaged; with `solved`, also if it has sums only. */
struct statistics *statistics_read(struct reader *reader, bool solved);

#endif
