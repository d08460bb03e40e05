#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pcg64.h"
#include "score/measure/stats.h"
#include "score/stratify.h"

enum { BINS = 10 };

/* pandas.qcut(y, BINS, labels=False, duplicates="drop"); returns the number of bins. */
static int
cut(const double *y, int64_t n, int *bin)
{
	double *sorted = mem_new((size_t)n, sizeof *sorted), edge[BINS + 1];
	int edges = 0;

	memcpy(sorted, y, (size_t)n * sizeof *sorted);
	stats_sort(sorted, n);
	for (int i = 0; i <= BINS; i++) {
		/* as pandas has it: numpy.linspace in percent, which numpy.percentile divides */
		double share = (i < BINS ? i * 0.1 : 1) * 100 / 100;
		double value = stats_quantile(sorted, n, share);
		if (!edges || value != edge[edges - 1])
			edge[edges++] = value;
	}
	free(sorted);
	for (int64_t i = 0; i < n; i++) {
		bin[i] = 0; /* of edge[bin] < y <= edge[bin + 1] */
		while (bin[i] + 2 < edges && y[i] > edge[bin[i] + 1])
			bin[i]++;
	}
	return edges > 1 ? edges - 1 : 1;
}

/* The greatest remainder below `limit` of the bins; negative: none. */
static double
next_remainder(const double *remainder, int bins, double limit)
{
	double best = -1;

	for (int i = 0; i < bins; i++)
		if (remainder[i] < limit && remainder[i] > best)
			best = remainder[i];
	return best;
}

/* `datasets`' approximate_mode: how many of `draws` rows each bin of `counts` gets. */
static void
share(int64_t *shares, const int64_t *counts, int bins, int64_t draws, struct pcg64 *pcg)
{
	double remainder[BINS], value = INFINITY;
	int64_t all = 0, missing = draws;

	for (int i = 0; i < bins; i++)
		all += counts[i];
	for (int i = 0; i < bins; i++) {
		double exact = (double)(draws * counts[i]) / (double)all;
		shares[i] = (int64_t)floor(exact);
		remainder[i] = exact - floor(exact);
		missing -= shares[i];
	}
	while (missing > 0 && (value = next_remainder(remainder, bins, value)) >= 0) {
		int64_t tied[BINS], chosen[BINS], count = 0;
		for (int i = 0; i < bins; i++)
			if (remainder[i] == value)
				tied[count++] = i;
		int64_t some = count < missing ? count : missing;
		pcg64_choice(pcg, count, chosen, some);
		for (int64_t i = 0; i < some; i++)
			shares[tied[chosen[i]]]++;
		missing -= some;
	}
}

/* Writes the rows of a bin in random order to `order`. */
static void
shuffle_bin(int64_t *order, const int *bin, int64_t n, int which, struct pcg64 *pcg)
{
	int64_t count = 0;

	for (int64_t i = 0; i < n; i++)
		if (bin[i] == which)
			order[count++] = i;
	pcg64_shuffle(pcg, order, count);
}

void
stratify_numbers(const double *y, int64_t n, int64_t count, uint32_t seed, int64_t *rows)
{
	int *bin = mem_new((size_t)n, sizeof *bin);
	int64_t *order = mem_new((size_t)n, sizeof *order);
	int64_t counts[BINS] = { 0 }, left_out[BINS], taken[BINS];
	int bins = cut(y, n, bin);
	struct pcg64 pcg;

	pcg64_seed(&pcg, seed);
	for (int64_t i = 0; i < n; i++)
		counts[bin[i]]++;
	share(left_out, counts, bins, n - count, &pcg);
	for (int i = 0; i < bins; i++)
		counts[i] -= left_out[i];
	share(taken, counts, bins, count, &pcg);
	for (int i = 0; i < bins; i++) {
		shuffle_bin(order, bin, n, i, &pcg);
		memcpy(rows, order + left_out[i], (size_t)taken[i] * sizeof *rows);
		rows += taken[i];
	}
	free(order);
	free(bin);
}
