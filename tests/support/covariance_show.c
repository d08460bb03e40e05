/*
 * covariance_show WIDTH RANK LOST PIECE - print mean, covariance, eigenvalues and eigenvectors of the vectors on standard input,
 * for tests/covariance.bats
 *
 * Every PIECE vectors are summed apart, in calls of 1, 2, 3, ... vectors, and the sums merged.  PIECE 0: covariance_collect
 * sums all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "geometry/covariance.h"
#include "geometry/eigen.h"

static void
print(const double *row, int count)
{
	for (int i = 0; i < count; i++)
		printf("%s%.16g", i ? "\t" : "", row[i] + 0.0);
	putchar('\n');
}

static float *
read_all(int width, int64_t *rows)
{
	float *values = NULL;
	size_t capacity = 0, count = 0;

	for (float value; scanf("%f", &value) == 1;) {
		values = mem_grow(values, &capacity, count + 1, sizeof *values);
		values[count++] = value;
	}
	*rows = (int64_t)count / width;
	return values;
}

static struct covariance *
sum(const float *vectors, int64_t rows, int width)
{
	struct covariance *sums = covariance_new(width);

	for (int64_t call = 1; rows > 0; call++) {
		int64_t taken = call < rows ? call : rows;
		covariance_add(sums, vectors, taken);
		vectors += taken * width;
		rows -= taken;
	}
	covariance_finish(sums);
	return sums;
}

struct source {
	const float *vectors;
	int64_t rows;
	int width;
};

/* A covariance_source. */
static int64_t
take(void *context, float *to)
{
	struct source *source = context;
	int64_t rows = source->rows < COVARIANCE_BLOCK ? source->rows : COVARIANCE_BLOCK;
	size_t count = (size_t)(rows * source->width);

	memcpy(to, source->vectors, count * sizeof *to);
	source->vectors += count;
	source->rows -= rows;
	return rows;
}

int
main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	int width = atoi(argv[1]), rank = atoi(argv[2]), lost = atoi(argv[3]);
	int64_t piece = atoi(argv[4]), rows;
	float *vectors = read_all(width, &rows);
	struct covariance *sums = covariance_new(width);

	if (piece == 0)
		covariance_collect(sums, take, &(struct source){ vectors, rows, width });
	for (int64_t first = 0; piece > 0 && first < rows; first += piece) {
		struct covariance *own = sum(vectors + first * width,
		    rows - first < piece ? rows - first : piece, width);
		covariance_merge(sums, own);
		covariance_free(own);
	}
	double *matrix = covariance_matrix(sums, lost);
	print(sums->mean, width);
	for (int i = 0; i < width; i++)
		print(matrix + i * width, width);
	struct eigen *eigen = eigen_symmetric(matrix, width, rank);
	print(eigen->values, rank);
	for (int i = 0; i < rank; i++)
		print(eigen->vectors + i * width, width);
	eigen_free(eigen);
	free(matrix);
	covariance_free(sums);
	free(vectors);
	return 0;
}
