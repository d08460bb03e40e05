/*
 * clustering - whether mini-batch k-means finds the labels again.  Main score: V-measure,
 * the mean over sets of texts.
 *
 * Reads either one text a row ("FIELD.emb" [width], "label"; the whole stream is one set, or
 * rows with an equal "set" column are), or MTEB's rows, each of which is a set ("FIELD.emb" lists
 * of vectors, "labels" lists).  As many clusters as the set has labels, batches of 500,
 * seed 42 for each set.
 */
#ifndef CLUSTERING_H
#define CLUSTERING_H

#include <stdbool.h>
#include <stdint.h>

#include "score/report.h"
#include "stream/stream.h"

struct clustering_options {
	const char *field; /* NULL: the only column of embeddings */
	const char *label; /* NULL: "labels", "label" */
	const char *set;   /* NULL: "set" */
	int batch;	   /* 0: 500; fast: 512 */
	uint32_t seed;
	bool
	    by_choice; /* the random stream of scikit-learn 1.9, not that of 1.3 to 1.8 */

	/* score_clustering_fast alone */
	double documents; /* how many rows to draw from; below 1: that share; 0: all */
	int samples;	  /* rows of an experiment; 0: 16384 */
	int experiments;
};

void score_clustering(struct report *report, struct reader *reader,
    const struct clustering_options *options);

#endif
