#include "papers/moee/standardizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/spool.h"

static const double least_deviation = 1e-8;

struct standardizer {
	int width;
	int64_t batch, batches;
	int64_t rows;	       /* of the current batch; in standardizer_apply of all */
	double *mean, *square; /* [width] of the batch; sum of squared deviations */
	struct spool spool;    /* [batches][2][width] means and 1 / deviations */
	const double *known;   /* the same, mapped */
};

struct standardizer *
standardizer_new(int width, int64_t batch)
{
	struct standardizer *standard = mem_zero(1, sizeof *standard);

	standard->width = width;
	standard->batch = batch;
	standard->mean = mem_zero((size_t)width, sizeof(double));
	standard->square = mem_zero((size_t)width, sizeof(double));
	return standard;
}

static void
end_batch(struct standardizer *standard)
{
	size_t bytes = (size_t)standard->width * sizeof(double);
	double n = (double)standard->rows;

	if (!standard->rows)
		return;
	for (int i = 0; i < standard->width; i++) {
		double deviation = sqrt(standard->square[i] / (n - 1));
		standard->square[i] = n > 1 ? 1 / (deviation + least_deviation) : 0;
	}
	spool_write(&standard->spool, standard->mean, bytes);
	spool_write(&standard->spool, standard->square, bytes);
	standard->batches++;
	standard->rows = 0;
	memset(standard->mean, 0, bytes);
	memset(standard->square, 0, bytes);
}

void
standardizer_add(struct standardizer *standard, const float *x, int64_t rows)
{
	int width = standard->width;

	for (int64_t row = 0; row < rows; row++, x += width) {
		double share = 1 / (double)++standard->rows;
		for (int i = 0; i < width; i++) { /* Welford */
			double from = x[i] - standard->mean[i];
			standard->mean[i] += share * from;
			standard->square[i] += from * (x[i] - standard->mean[i]);
		}
		if (standard->rows == standard->batch)
			end_batch(standard);
	}
}

void
standardizer_finish(struct standardizer *standard)
{
	end_batch(standard);
	standard->known = spool_map(&standard->spool);
}

void
standardizer_apply(struct standardizer *standard, float *to, const float *x, int64_t rows,
    const char *stream)
{
	int64_t width = standard->width;

	for (int64_t row = 0; row < rows; row++, x += width, to += width) {
		int64_t batch = standard->batch ? standard->rows++ / standard->batch : 0;
		if (batch >= standard->batches)
			die("%s: it has more rows than a moment ago", stream);
		const double *mean = standard->known + batch * 2 * width;
		const double *factor = mean + width;
		for (int64_t i = 0; i < width; i++)
			to[i] = (float)((x[i] - mean[i]) * factor[i]);
	}
}

void
standardizer_rewind(struct standardizer *standard)
{
	standard->rows = 0;
}

uint64_t
standardizer_hash(const struct standardizer *standard, uint64_t start)
{
	return rng_hash(start, standard->known, standard->spool.bytes);
}

void
standardizer_free(struct standardizer *standard)
{
	spool_free(&standard->spool);
	free(standard->mean);
	free(standard->square);
	free(standard);
}
