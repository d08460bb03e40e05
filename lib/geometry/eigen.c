#include "geometry/eigen.h"

#include <math.h>
#include <omp.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

/* Debian's OpenBLAS contains LAPACK without a header.  gfortran passes the lengths of strings at the end. */
void dsyevr_(const char *vectors, const char *range, const char *triangle, const int *n,
    double *matrix, const int *stride, const double *above, const double *upto,
    const int *first, const int *last, const double *tolerance, int *found,
    double *values, double *z, const int *z_stride, int *support, double *work,
    const int *work_count, int *whole, const int *whole_count, int *info,
    size_t vectors_length, size_t range_length, size_t triangle_length);

/* Calls dsyevr: a query of its memory (counts of -1), or the work itself. */
static void
solve(struct eigen *eigen, double *matrix, int *support, double *work, int work_count,
    int *whole, int whole_count)
{
	int n = eigen->width, first = n - eigen->rank + 1, found = 0, info = 0;
	double none = 0;

	/* the lower triangle, of columns as LAPACK has them: a third faster than the upper one */
	dsyevr_("V", eigen->rank == n ? "A" : "I", "L", &n, matrix, &n, &none, &none,
	    &first, &n, &none, &found, eigen->values, eigen->vectors, &n, support, work,
	    &work_count, whole, &whole_count, &info, 1, 1, 1);
	if (info != 0 || (work_count >= 0 && found != eigen->rank))
		die("LAPACK finds %d of %d eigenvectors (dsyevr: %d)", found, eigen->rank,
		    info);
}

/* Up to this width LAPACK's products take less time than waking threads for them. */
enum { WIDE = 2048 };

/* solve, with as many threads as help. */
static void
solve_quickly(struct eigen *eigen, double *matrix, int *support, double *work,
    int work_count, int *whole, int whole_count)
{
	int threads = omp_get_max_threads();

	if (eigen->width <= WIDE)
		omp_set_num_threads(1);
	solve(eigen, matrix, support, work, work_count, whole, whole_count);
	omp_set_num_threads(threads);
}

/* LAPACK may not return from a NaN. */
static void
check_finite(const double *matrix, size_t width)
{
	for (size_t i = 0; i < width; i++)
		for (size_t j = i; j < width; j++)
			if (!isfinite(matrix[i * width + j]))
				die("the matrix whose eigenvectors are wanted is not finite at %zu, %zu",
				    i + 1, j + 1);
}

static void
swap_rows(struct eigen *eigen, int a, int b)
{
	double *one = eigen->vectors + (size_t)a * (size_t)eigen->width,
	       *other = eigen->vectors + (size_t)b * (size_t)eigen->width;
	double value = eigen->values[a];

	eigen->values[a] = eigen->values[b];
	eigen->values[b] = value;
	for (int j = 0; j < eigen->width; j++) {
		double component = one[j];
		one[j] = other[j];
		other[j] = component;
	}
}

static void
choose_sign(double *vector, int width)
{
	int greatest = 0;

	for (int j = 1; j < width; j++)
		if (fabs(vector[j]) > fabs(vector[greatest]))
			greatest = j;
	if (vector[greatest] < 0)
		for (int j = 0; j < width; j++)
			vector[j] = -vector[j];
}

struct eigen *
eigen_symmetric(double *matrix, int width, int rank)
{
	struct eigen *eigen = mem_zero(1, sizeof *eigen);
	size_t columns = (size_t)width;
	double work_wanted = 0;
	int whole_wanted = 0;

	check_finite(matrix, columns);
	eigen->width = width;
	eigen->rank = rank;
	/* LAPACK uses room for all values */
	eigen->values = mem_new(columns, sizeof(double));
	eigen->vectors = mem_new((size_t)rank * columns, sizeof(double));
	int *support = mem_new(2 * columns, sizeof *support);
	solve(eigen, matrix, support, &work_wanted, -1, &whole_wanted, -1);
	double *work = mem_new((size_t)work_wanted, sizeof *work);
	int *whole = mem_new((size_t)whole_wanted, sizeof *whole);
	solve_quickly(
	    eigen, matrix, support, work, (int)work_wanted, whole, whole_wanted);
	free(whole);
	free(work);
	free(support);
	for (int i = 0; i < rank / 2; i++)
		swap_rows(eigen, i, rank - 1 - i);
	for (int i = 0; i < rank; i++)
		choose_sign(eigen->vectors + (size_t)i * columns, width);
	return eigen;
}

void
eigen_free(struct eigen *eigen)
{
	free(eigen->values);
	free(eigen->vectors);
	free(eigen);
}
