#include "score/measure/confusion.h"

#include <stdlib.h>

#include "base/mem.h"

static double
over(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

struct confusion
confusion_measure(
    const int32_t *truth, const int32_t *predicted, int64_t rows, int32_t labels)
{
	int64_t *counts = mem_zero((size_t)labels, 3 * sizeof *counts);
	int64_t *is = counts, *said = counts + labels,
		*hit = counts + 2 * (int64_t)labels;
	struct confusion sum = { 0 };
	double present = 0, all = (double)rows, right = 0;

	for (int64_t i = 0; i < rows; i++) {
		is[truth[i]]++;
		said[predicted[i]]++;
		hit[truth[i]] += truth[i] == predicted[i];
	}
	for (int32_t i = 0; i < labels; i++) {
		double weight = (double)is[i], hits = (double)hit[i];
		double precision = over(hits, (double)said[i]);
		double recall = over(hits, (double)is[i]);
		double f1 = over(2 * hits, (double)(is[i] + said[i]));
		present += is[i] + said[i] > 0;
		right += hits;
		sum.f1 += f1;
		sum.f1_weighted += f1 * weight;
		sum.precision += precision;
		sum.precision_weighted += precision * weight;
		sum.recall += recall;
		sum.recall_weighted += recall * weight;
	}
	sum.accuracy = right / all;
	sum.f1_weighted /= all;
	sum.precision_weighted /= all;
	sum.recall_weighted /= all;
	sum.f1 /= present;
	sum.precision /= present;
	sum.recall /= present;
	free(counts);
	return sum;
}

double
confusion_average_precision(const int32_t *truth, const int32_t *predicted, int64_t rows,
    int32_t labels, int32_t positive)
{
	int64_t *said = mem_zero((size_t)labels, 2 * sizeof *said), *hit = said + labels;
	double positives = 0, found = 0, taken = 0, sum = 0;

	for (int64_t i = 0; i < rows; i++) {
		positives += truth[i] == positive;
		said[predicted[i]]++;
		hit[predicted[i]] += truth[i] == positive;
	}
	for (int32_t i = labels - 1; i >= 0; i--) {
		found += (double)hit[i];
		taken += (double)said[i];
		sum += over((double)hit[i], positives) * over(found, taken);
	}
	free(said);
	return sum;
}
