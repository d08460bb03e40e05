/*
 * eigen - eigenvalues and eigenvectors of a symmetric matrix, the greatest first: LAPACK's dsyevr.
 *
 * The sign of an eigenvector is arbitrary, and differs between machines and libraries: here the component
 * of greatest magnitude is positive.
 */
#ifndef GEOMETRY_EIGEN_H
#define GEOMETRY_EIGEN_H

struct eigen {
	int width, rank;
	double *values;	 /* [rank], descending */
	double *vectors; /* [rank, width]: a row an eigenvector, of length 1 */
};

/* The `rank` (1..width) greatest of a matrix [width, width], of which both triangles are set; it is
 * overwritten.  Dies on a number that is not finite, and when LAPACK does not get there. */
struct eigen *eigen_symmetric(double *matrix, int width, int rank);
void eigen_free(struct eigen *eigen);

#endif
