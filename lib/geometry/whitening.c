#include "geometry/whitening.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "geometry/eigen.h"

enum { TOGETHER = 16 }; /* rows per reading of the matrix */

/* 1 / sqrt of the eigenvalues, small ones raised. */
static double *
scales_of(struct whitening *whitening, const struct eigen *eigen, double least)
{
	double *scales = mem_new((size_t)eigen->rank, sizeof *scales);
	double floor = least * eigen->values[0];

	for (int i = 0; i < eigen->rank; i++) {
		bool low = !(eigen->values[i] >= floor && eigen->values[i] > 0);
		whitening->raised += low;
		scales[i] = 1 / sqrt(low ? floor : eigen->values[i]);
	}
	return scales;
}

/* Row i of V L^-1/2 V^T, or of L^-1/2 V^T. */
static void
fill_row(double *row, const struct eigen *eigen, const double *scales,
    enum whitening_kind kind, size_t i)
{
	size_t width = (size_t)eigen->width;

	if (kind == WHITENING_PCA) {
		for (size_t j = 0; j < width; j++)
			row[j] = scales[i] * eigen->vectors[i * width + j];
		return;
	}
	for (size_t k = 0; k < (size_t)eigen->rank; k++) {
		const double *vector = eigen->vectors + k * width;
		double factor = scales[k] * vector[i];
		for (size_t j = 0; j < width; j++)
			row[j] += factor * vector[j];
	}
}

struct whitening *
whitening_new(
    const struct covariance *covariance, const struct whitening_options *options)
{
	struct whitening *whitening = mem_zero(1, sizeof *whitening);
	int in = covariance->width, out = options->width ? options->width : in;
	size_t width = (size_t)in;

	if (out > in)
		die("--dim: %d of %d components cannot be kept", out, in);
	whitening->in = in;
	whitening->out = out;
	whitening->mean = mem_new(width, sizeof(double));
	whitening->values = mem_new(width, sizeof(double));
	whitening->matrix = mem_zero((size_t)out * width, sizeof(double));
	double *matrix = covariance_matrix(covariance, 1);
	struct eigen *eigen = eigen_symmetric(matrix, in, in);
	free(matrix);
	for (int i = 0; i < in; i++) {
		whitening->mean[i] = covariance->mean[i];
		whitening->values[i] = eigen->values[i];
	}
	eigen->rank = out;
	double *scales = scales_of(whitening, eigen, options->least);
#pragma omp parallel for
	for (int i = 0; i < out; i++)
		fill_row(whitening->matrix + (size_t)i * width, eigen, scales,
		    options->kind, (size_t)i);
	free(scales);
	eigen_free(eigen);
	return whitening;
}

void
whitening_free(struct whitening *whitening)
{
	free(whitening->mean);
	free(whitening->matrix);
	free(whitening->values);
	free(whitening);
}

/* [in,out] */
static double *
transpose(const struct whitening *whitening)
{
	size_t in = (size_t)whitening->in, out = (size_t)whitening->out;
	double *to = mem_new(in * out, sizeof *to);

	for (size_t i = 0; i < in; i++)
		for (size_t j = 0; j < out; j++)
			to[i * out + j] = whitening->matrix[j * in + i];
	return to;
}

/* Whitens at most TOGETHER rows; columns[in,out], room[TOGETHER,out]. */
static void
apply_rows(const struct whitening *whitening, const double *columns, double *room,
    float *to, const float *from, size_t rows)
{
	size_t in = (size_t)whitening->in, out = (size_t)whitening->out;

	for (size_t i = 0; i < rows * out; i++)
		room[i] = 0;
	for (size_t i = 0; i < in; i++)
		for (size_t row = 0; row < rows; row++) {
			double x = (double)from[row * in + i] - whitening->mean[i];
			for (size_t j = 0; j < out; j++)
				room[row * out + j] += x * columns[i * out + j];
		}
	for (size_t i = 0; i < rows * out; i++)
		to[i] = (float)room[i];
}

void
whitening_apply(
    const struct whitening *whitening, float *to, const float *from, size_t rows)
{
	size_t in = (size_t)whitening->in, out = (size_t)whitening->out;
	double *columns = transpose(whitening);

#pragma omp parallel
	{
		double *room = mem_new(TOGETHER * out, sizeof *room);
#pragma omp for
		for (size_t row = 0; row < rows; row += TOGETHER)
			apply_rows(whitening, columns, room, to + row * out,
			    from + row * in,
			    rows - row < TOGETHER ? rows - row : TOGETHER);
		free(room);
	}
	free(columns);
}
