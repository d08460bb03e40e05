#include "score/knn.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "score/kmeans.h"

enum { QUERIES = 128, TILE = 1024 /* labelled rows */ };

struct neighbour {
	double distance; /* squared, less the query's own square */
	int64_t row;
};

/* Work space for a block of queries. */
struct knn_block {
	const struct knn *with;
	double *queries;	 /* [QUERIES, width] */
	double *rows, *norms;	 /* [TILE, width], [TILE] */
	double *products;	 /* [QUERIES, TILE] */
	struct neighbour *found; /* [QUERIES, k], the nearest first */
};

static void
widen(double *to, const float *from, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		to[i] = from[i];
}

/* Inserts a row behind rows of equal distance. */
static void
insert(struct neighbour *found, int count, struct neighbour row)
{
	int at = count - 1;

	for (; at > 0 && found[at - 1].distance > row.distance; at--)
		found[at] = found[at - 1];
	found[at] = row;
}

static void
scan_tile(const struct knn_block *scan, int64_t first, int rows, int queries)
{
	const struct knn *with = scan->with;
	int width = with->width, k = with->k;

	widen(scan->rows, with->x + first * width, (int64_t)rows * width);
	for (int i = 0; i < rows; i++)
		scan->norms[i] = kmeans_square(scan->rows + (int64_t)i * width, width);
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, queries, rows, width, -2,
	    scan->queries, width, scan->rows, width, 0, scan->products, TILE);
#pragma omp parallel for schedule(static)
	for (int i = 0; i < queries; i++) {
		struct neighbour *found = scan->found + (int64_t)i * k;
		const double *product = scan->products + (int64_t)i * TILE;
		for (int j = 0; j < rows; j++)
			if (product[j] + scan->norms[j] < found[k - 1].distance)
				insert(found, k,
				    (struct neighbour){
					product[j] + scan->norms[j], first + j });
	}
}

/* Predicts from the nearest rows [k]; votes [classes] are 0 before and after. */
static void
vote(const struct knn *with, const int64_t *rows, int *votes, int32_t *predicted,
    double *probability)
{
	int32_t best = with->label[rows[0]];

	for (int i = 0; i < with->k; i++)
		votes[with->label[rows[i]]]++;
	for (int i = 1; i < with->k; i++) {
		int32_t label = with->label[rows[i]];
		if (votes[label] > votes[best] ||
		    (votes[label] == votes[best] && label < best))
			best = label;
	}
	*predicted = best;
	*probability = (double)votes[best] / with->k;
	for (int i = 0; i < with->k; i++)
		votes[with->label[rows[i]]] = 0;
}

static struct knn_block
start_block(const struct knn *knn)
{
	size_t row = (size_t)knn->width * sizeof(double);

	return (struct knn_block){ .with = knn,
		.queries = mem_new(QUERIES, row),
		.rows = mem_new(TILE, row),
		.norms = mem_new(TILE, sizeof(double)),
		.products = mem_new((size_t)QUERIES * TILE, sizeof(double)),
		.found = mem_new(QUERIES * (size_t)knn->k, sizeof(struct neighbour)) };
}

/* Finds the neighbours of `count` queries, at most QUERIES. */
static void
scan_block(const struct knn_block *scan, const float *x, int count)
{
	const struct knn *knn = scan->with;

	widen(scan->queries, x, (int64_t)count * knn->width);
	for (int i = 0; i < count * knn->k; i++)
		scan->found[i] = (struct neighbour){ INFINITY, 0 };
	for (int64_t at = 0; at < knn->n; at += TILE)
		scan_tile(
		    scan, at, knn->n - at < TILE ? (int)(knn->n - at) : TILE, count);
}

static void
free_block(struct knn_block *scan)
{
	free(scan->queries);
	free(scan->rows);
	free(scan->norms);
	free(scan->products);
	free(scan->found);
}

void
knn_rows(const struct knn *knn, const float *x, int64_t count, int64_t *rows)
{
	struct knn_block scan = start_block(knn);

	for (int64_t first = 0; first < count; first += QUERIES) {
		int some = count - first < QUERIES ? (int)(count - first) : QUERIES;
		scan_block(&scan, x + first * knn->width, some);
		for (int i = 0; i < some * knn->k; i++)
			rows[first * knn->k + i] = scan.found[i].row;
	}
	free_block(&scan);
}

void
knn_predict(const struct knn *knn, const float *x, int64_t count, int32_t *predicted,
    double *probability)
{
	int64_t *rows = mem_new((size_t)count, (size_t)knn->k * sizeof *rows);
	int *votes = mem_zero((size_t)knn->classes, sizeof *votes);

	knn_rows(knn, x, count, rows);
	for (int64_t i = 0; i < count; i++)
		vote(knn, rows + i * knn->k, votes, predicted + i, probability + i);
	free(rows);
	free(votes);
}
