/*
 * pairclassification - whether a threshold on the similarity of two texts tells pairs that
 * belong together (label 1) from others (0).  Main score: max_ap.
 *
 * Reads what text_pairs(.h) reads, the numbers from "label" or "labels".  For the model's own
 * similarity, cosine, Manhattan and Euclidean distance and dot product:
 *
 *	ap		average precision; equal similarities enter together
 *	accuracy, f1	at the best threshold, halfway between two neighbours; never below the last
 *	precision, recall	at the threshold of the best F1
 *
 * and max_ap, ... over the five.  v1 cuts between equal similarities too, in the order of
 * the rows; v2 (since 2.20) does not.
 */
#ifndef PAIRCLASSIFICATION_H
#define PAIRCLASSIFICATION_H

#include "score/report.h"

void score_pairclassification(
    struct report *report, struct reader *reader, const struct score_options *options);

#endif
