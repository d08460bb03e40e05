/*
 * clustering_fast - MTEB's quick clustering: how well mini-batch k-means finds the labels in
 * samples of a sample.  Main score: V-measure, the mean over levels and experiments.
 *
 * Reads one text a row: "FIELD.emb" [width] and "label" or "labels", text or number, or a list of
 * them, the levels of a hierarchy.  `documents` rows are drawn by Python's Random(seed).sample;
 * then for each level and experiment, the generator going on, `samples` of them by choices (with
 * replacement), and clustered into as many clusters as the level has labels.
 *
 * A row without a label at some level: as in the reference, left out of the level where labels are
 * numbers (and so are rows with the number -1), with the label "-1" where they are text.
 *
 * Memory: a file is read twice, so that only the vectors of the rows that were drawn are
 * kept; from a pipe all are.
 */
#ifndef CLUSTERING_FAST_H
#define CLUSTERING_FAST_H

#include "score/report.h"
#include "score/clustering.h"

/* path "-": standard input.  No sets. */
void score_clustering_fast(
    struct report *report, const char *path, const struct clustering_options *options);

#endif
