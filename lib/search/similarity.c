#include "search/similarity.h"

#include <math.h>
#include <string.h>

static const char *const names[SIMILARITIES] = { "model", "cosine", "dot", "maxsim",
	"meanmaxsim", "euclidean", "manhattan" };

const char *
similarity_name(enum similarity kind)
{
	return names[kind];
}

bool
similarity_of_lists(enum similarity kind)
{
	return kind == SIMILARITY_MAXSIM || kind == SIMILARITY_MEANMAXSIM;
}

bool
similarity_parse(const char *name, enum similarity *kind)
{
	for (int i = SIMILARITY_COSINE; i < SIMILARITIES; i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		*kind = (enum similarity)i;
		return true;
	}
	return false;
}

double
similarity_dot(const float *a, const float *b, int width)
{
	double sum = 0;

#pragma omp simd reduction(+ : sum)
	for (int i = 0; i < width; i++)
		sum += (double)a[i] * b[i];
	return sum;
}

void
similarity_dots(
    double sums[4], const float *const a[4], const float *const b[4], int width)
{
	const float *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3];
	const float *b0 = b[0], *b1 = b[1], *b2 = b[2], *b3 = b[3];
	double s0 = 0, s1 = 0, s2 = 0, s3 = 0;

#pragma omp simd reduction(+ : s0, s1, s2, s3)
	for (int i = 0; i < width; i++) {
		s0 += (double)a0[i] * b0[i];
		s1 += (double)a1[i] * b1[i];
		s2 += (double)a2[i] * b2[i];
		s3 += (double)a3[i] * b3[i];
	}
	sums[0] = s0;
	sums[1] = s1;
	sums[2] = s2;
	sums[3] = s3;
}

float
similarity_of(enum similarity kind, const float *a, const float *b, int width)
{
	double apart = 0;

	if (kind == SIMILARITY_COSINE || kind == SIMILARITY_DOT)
		return (float)similarity_dot(a, b, width);
	for (int i = 0; i < width; i++) {
		double difference = (double)a[i] - b[i];
		apart += kind == SIMILARITY_EUCLIDEAN ? difference * difference
						      : fabs(difference);
	}
	return -(float)(kind == SIMILARITY_EUCLIDEAN ? sqrt(apart) : apart);
}

double
similarity_unit(float *to, const float *from, int width)
{
	double square = similarity_dot(from, from, width),
	       norm = fmax(sqrt(square), 1e-12);

	for (int i = 0; i < width; i++)
		to[i] = isfinite(square) ? (float)(from[i] / norm) : NAN;
	return square;
}

float
similarity_paired_cosine(const float *a, const float *b, int width)
{
	double aa = similarity_dot(a, a, width), bb = similarity_dot(b, b, width);

	if (aa > 0 && bb > 0)
		return (float)(similarity_dot(a, b, width) / sqrt(aa * bb));
	return aa > 0 || bb > 0 ? 0.5F : 1;
}
