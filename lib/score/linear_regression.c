#include "score/linear_regression.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* Debian's OpenBLAS contains LAPACK without a header. */
void dgelsd_(const int *m, const int *n, const int *columns, double *a,
    const int *a_stride, double *b, const int *b_stride, double *singular,
    const double *cutoff, int *rank, double *work, const int *work_count, int *whole,
    int *info);

/* A centred system: the matrix by columns, as LAPACK has it, and y, which the solution replaces. */
struct centred {
	int n, width;
	double *x;	/* [width, n] */
	double *y;	/* [max(n, width)] */
	double *middle; /* [width]: means of the columns */
	double y_middle;
};

static struct centred
centre(const float *const *rows, const double *y, int n, int width)
{
	size_t most = (size_t)(n > width ? n : width);
	struct centred system = { .n = n,
		.width = width,
		.x = mem_new(mem_multiply((size_t)n, (size_t)width, "regression"),
		    sizeof *system.x),
		.y = mem_zero(most, sizeof *system.y),
		.middle = mem_zero((size_t)width, sizeof *system.middle) };

	for (int i = 0; i < n; i++) {
		for (int j = 0; j < width; j++)
			system.middle[j] += rows[i][j];
		system.y_middle += y[i];
	}
	for (int j = 0; j < width; j++)
		system.middle[j] /= n;
	system.y_middle /= n;
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < width; j++)
			system.x[(size_t)j * (size_t)n + (size_t)i] =
			    rows[i][j] - system.middle[j];
		system.y[i] = y[i] - system.y_middle;
	}
	return system;
}

/* Calls dgelsd twice: for the sizes of its memory, then for the work.  Returns the rank. */
static int
solve(const struct centred *system, double cutoff)
{
	int n = system->n, width = system->width, one = 1, rank = 0, info = 0, query = -1;
	int stride = n > width ? n : width, whole_count = 0;
	double *singular = mem_new((size_t)(n < width ? n : width), sizeof *singular);
	double room = 0;

	dgelsd_(&n, &width, &one, system->x, &n, system->y, &stride, singular, &cutoff,
	    &rank, &room, &query, &whole_count, &info);
	int work_count = (int)room;
	double *work = mem_new((size_t)work_count, sizeof *work);
	int *whole = mem_new((size_t)whole_count, sizeof *whole);
	dgelsd_(&n, &width, &one, system->x, &n, system->y, &stride, singular, &cutoff,
	    &rank, work, &work_count, whole, &info);
	if (info != 0)
		die("LAPACK does not solve the linear regression (dgelsd: %d)", info);
	free(singular);
	free(work);
	free(whole);
	return rank;
}

struct linear_regression *
linear_regression_fit(
    const float *const *rows, const double *y, int64_t n, int width, double cutoff)
{
	struct linear_regression *regression = mem_new(1, sizeof *regression);
	struct centred system = centre(rows, y, (int)n, width);

	*regression = (struct linear_regression){ width, solve(&system, cutoff),
		mem_new((size_t)width, sizeof *regression->weights), system.y_middle };
	memcpy(regression->weights, system.y, (size_t)width * sizeof *system.y);
	for (int j = 0; j < width; j++)
		regression->intercept -= regression->weights[j] * system.middle[j];
	free(system.x);
	free(system.y);
	free(system.middle);
	return regression;
}

void
linear_regression_predict(const struct linear_regression *regression, const float *x,
    int64_t count, double *predicted)
{
	for (int64_t i = 0; i < count; i++) {
		const float *row = x + i * regression->width;
		double sum = regression->intercept;
		for (int j = 0; j < regression->width; j++)
			sum += regression->weights[j] * row[j];
		predicted[i] = sum;
	}
}

void
linear_regression_free(struct linear_regression *regression)
{
	free(regression->weights);
	free(regression);
}
