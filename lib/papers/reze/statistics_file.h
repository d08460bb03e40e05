/*
 * statistics_file - statistics of relations as a stream of one record, and back.
 *
 * A row for each component of a relation, and for the eigenvector of that number:
 *	mean		f64		u
 *	source.mean	f64 [sources]	of each source
 *	covariance	f64, depth 1	with the components up to its own
 * and, unless they are sums alone, for each eigenvector (NaN, and no vector, for those that were not computed)
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

/* `from`: whose history goes on.  level: as of stream_level, or -1. */
void statistics_write(const struct statistics *statistics, const char *path, int level,
    const struct reader *from);

/* Dies when the stream is none, or is damaged; and, where they are wanted solved, when it has sums alone. */
struct statistics *statistics_read(struct reader *reader, bool solved);

#endif
