/*
 * eigen - the greatest eigenvalues and their eigenvectors of a symmetric matrix, by LAPACK's dsyevr.
 *
 * An eigenvector's sign is arbitrary and differs between machines and libraries: here the component of greatest magnitude is
 * positive.
 */
#ifndef GEOMETRY_EIGEN_H
#define GEOMETRY_EIGEN_H

struct eigen {
	int width, rank;
	double *values;	 /* [rank], descending */
	double *vectors; /* [rank, width] rows of length 1 */
};

/* The `rank` (1..width) greatest of matrix [width, width], which has both triangles and is overwritten.  Dies on a value that is not
 * finite, and if LAPACK does not converge. */
struct eigen *eigen_symmetric(double *matrix, int width, int rank);
void eigen_free(struct eigen *eigen);

#endif
