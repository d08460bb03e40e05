/*
 * confusion - accuracy, precision, recall and F1 of predicted classes, as scikit-learn computes them.
 *
 * Labels are 0..labels-1.  Averages are over the labels that occur as truth or prediction: macro (unweighted), or
 * weighted by the number of true rows.  A division by 0 gives 0 (zero_division=0).
 */
#ifndef SCORE_MEASURE_CONFUSION_H
#define SCORE_MEASURE_CONFUSION_H

#include <stdint.h>

struct confusion {
	double accuracy, f1, f1_weighted;
	double precision, precision_weighted, recall, recall_weighted;
};

/* truth, predicted [rows], rows > 0 */
struct confusion confusion_measure(
    const int32_t *truth, const int32_t *predicted, int64_t rows, int32_t labels);

/*
 * Average precision of `positive` against the rest, with the predicted label as the score (mteb's quirk):
 *	sum over thresholds, descending, of (R_n - R_{n-1}) P_n;  0 without a positive row.
 * Equal labels enter together.
 */
double confusion_average_precision(const int32_t *truth, const int32_t *predicted,
    int64_t rows, int32_t labels, int32_t positive);

#endif
