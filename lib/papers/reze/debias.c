#include "papers/reze/debias.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Relations per matrix product. */
enum { BLOCK = 256 };

struct debias {
	int width, count, sources; /* count: of eigenvectors */
	double *mean;		   /* [width] */
	double *vectors;	   /* [count, width] */
	double *lost;		   /* [count, sources]: factor - 1 */
	double *centred, *parts;   /* [BLOCK, width], [BLOCK, count] */
};

static bool
is_shrunk(const struct shrinkage *shrinkage, int component)
{
	const double *factors =
	    shrinkage->factors + (size_t)component * (size_t)shrinkage->sources;

	for (int s = 0; s < shrinkage->sources; s++)
		if (factors[s] != 1)
			return true;
	return false;
}

struct debias *
debias_new(const struct statistics *statistics)
{
	struct debias *debias = mem_zero(1, sizeof *debias);
	const struct shrinkage *shrinkage = statistics->shrinkage;
	size_t width = (size_t)statistics->width, sources = (size_t)shrinkage->sources;
	size_t most = (size_t)shrinkage->active;

	debias->width = statistics->width;
	debias->sources = shrinkage->sources;
	debias->mean = mem_new(width, sizeof(double));
	memcpy(debias->mean, statistics->sums->mean, width * sizeof(double));
	debias->vectors = mem_new(most * width, sizeof(double));
	debias->lost = mem_new(most * sources, sizeof(double));
	for (int j = 0; j < shrinkage->active; j++) {
		if (!is_shrunk(shrinkage, j))
			continue;
		size_t at = (size_t)debias->count++;
		memcpy(debias->vectors + at * width,
		    statistics->eigen->vectors + (size_t)j * width,
		    width * sizeof(double));
		for (size_t s = 0; s < sources; s++)
			debias->lost[at * sources + s] =
			    shrinkage->factors[(size_t)j * sources + s] - 1;
	}
	debias->centred = mem_new(BLOCK * width, sizeof(double));
	debias->parts = mem_new(BLOCK * most, sizeof(double));
	return debias;
}

static void
debias_block(struct debias *debias, double *to, const float *relations,
    const int *sources, int rows)
{
	int width = debias->width, count = debias->count;

	for (int i = 0; i < rows; i++)
		for (int j = 0; j < width; j++) {
			int64_t at = (int64_t)i * width + j;
			to[at] = (double)relations[at];
			debias->centred[at] = to[at] - debias->mean[j];
		}
	if (count == 0)
		return;
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, count, width, 1,
	    debias->centred, width, debias->vectors, width, 0, debias->parts, count);
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < count; j++)
			debias->parts[i * count + j] *=
			    debias->lost[(int64_t)j * debias->sources + sources[i]];
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, width, count, 1,
	    debias->parts, count, debias->vectors, width, 1, to, width);
}

void
debias_relations(struct debias *debias, double *to, const float *relations,
    const int *sources, int64_t count)
{
	for (int64_t first = 0; first < count; first += BLOCK) {
		int64_t at = first * debias->width, left = count - first;
		debias_block(debias, to + at, relations + at, sources + first,
		    left < BLOCK ? (int)left : BLOCK);
	}
}

void
debias_free(struct debias *debias)
{
	free(debias->mean);
	free(debias->vectors);
	free(debias->lost);
	free(debias->centred);
	free(debias->parts);
	free(debias);
}
