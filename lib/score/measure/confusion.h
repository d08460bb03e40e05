/*
 * confusion - how well predicted classes agree with the true ones, as scikit-learn measures it.
 *
 * Labels are 0..labels-1.  Averages are over the labels that occur as truth or prediction: macro
 * each alike, weighted by its true rows.  A quotient with nothing below the line is 0.
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
 * Average precision of `positive` against the rest where the predicted label itself is the
 * score, a greater one ranking first and equal ones together:
 *	sum over thresholds, descending, of (R_n - R_{n-1}) P_n;  0 without a positive row.
 */
double confusion_average_precision(const int32_t *truth, const int32_t *predicted,
    int64_t rows, int32_t labels, int32_t positive);

#endif
