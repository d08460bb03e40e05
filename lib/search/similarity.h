/*
 * similarity - how alike two vectors are, computed in double and narrowed to float32: the
 * reference works in float32 and decides ties there.
 *
 *	cosine		dot product of the unit vectors, which are float32 themselves
 *	dot		dot product
 *	euclidean	-|a - b|
 *	manhattan	-sum |a_i - b_i|
 */
#ifndef SEARCH_SIMILARITY_H
#define SEARCH_SIMILARITY_H

#include <stdbool.h>

enum similarity {
	SIMILARITY_OF_MODEL, /* the model's, as vectors_own_similarity finds it */
	SIMILARITY_COSINE,
	SIMILARITY_DOT,
	SIMILARITY_EUCLIDEAN,
	SIMILARITY_MANHATTAN,
	SIMILARITIES
};

const char *similarity_name(enum similarity kind);

/* False when there is none of that name. */
bool similarity_parse(const char *name, enum similarity *kind);

double similarity_dot(const float *a, const float *b, int width); /* not narrowed */

/* The same of four pairs at once, to the bit. */
void similarity_dots(
    double sums[4], const float *const a[4], const float *const b[4], int width);

/* The vectors of a cosine are expected to be units. */
float similarity_of(enum similarity kind, const float *a, const float *b, int width);

/* The unit vector as torch's normalize makes it, divided by at least 1e-12; NaN throughout when
 * `from` is not finite.  Returns the squared length, which says so. */
double similarity_unit(float *to, const float *from, int width);

/* scikit-learn's paired cosine, 1 - |a/|a| - b/|b||^2 / 2: equal vectors have exactly 1, and two
 * of which one is zero have 1/2. */
float similarity_paired_cosine(const float *a, const float *b, int width);

#endif
