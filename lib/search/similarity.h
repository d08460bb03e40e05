/*
 * similarity - similarity of two vectors, computed in double and rounded to float32, because mteb compares and ranks in
 * float32.
 *
 *	cosine		dot product of the unit vectors, which are rounded to float32
 *	dot		dot product
 *	maxsim		of two lists of vectors (maxsim.h); meanmaxsim: divided by the number of the query's
 *	euclidean	-|a - b|
 *	manhattan	-sum |a_i - b_i|
 */
#ifndef SEARCH_SIMILARITY_H
#define SEARCH_SIMILARITY_H

#include <stdbool.h>

enum similarity {
	SIMILARITY_OF_MODEL, /* the model's (vectors_own_similarity) */
	SIMILARITY_COSINE,
	SIMILARITY_DOT,
	SIMILARITY_MAXSIM,
	SIMILARITY_MEANMAXSIM,
	SIMILARITY_EUCLIDEAN,
	SIMILARITY_MANHATTAN,
	SIMILARITIES
};

const char *similarity_name(enum similarity kind);

/* Whether it compares lists of vectors. */
bool similarity_of_lists(enum similarity kind);

/* False if the name is unknown. */
bool similarity_parse(const char *name, enum similarity *kind);

double similarity_dot(const float *a, const float *b, int width); /* in double */

/* similarity_dot of four pairs at once; the same bits. */
void similarity_dots(
    double sums[4], const float *const a[4], const float *const b[4], int width);

/* For cosine a and b must be unit vectors. */
float similarity_of(enum similarity kind, const float *a, const float *b, int width);

/* The unit vector as torch.nn.functional.normalize: divided by at least 1e-12; all NaN if `from` has NaN or infinity.
 * Returns the squared length, which is then not finite. */
double similarity_unit(float *to, const float *from, int width);

/* The cosine of finite vectors, in f64 and rounded once, so that equal ones tie; 1/2 if one vector is zero and 1 if both are, as in
 * scikit-learn's paired cosine, 1 - |a/|a| - b/|b||^2 / 2. */
float similarity_paired_cosine(const float *a, const float *b, int width);

#endif
