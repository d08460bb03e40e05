#include "search/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "nn/nn.h"
#include "search/search.h"
#include "search/similarity.h"

enum { STEPS = 10, SEED = 1 };

/* Assignment. ------------------------------------------------------------------------ */

/* Scores of a chunk of vectors and a chunk of centroids: in memory of the kernels, and on the host. */
struct cell_scores {
	float *at, *host;
};

struct cell_assignment {
	uint32_t *cell;
	const float *vectors, *centroids;
	int64_t count;
	int cells, width;
	size_t chunk;
	struct cell_scores *scores; /* [workers] */
};

/* Updates the best cell of each vector by a chunk of centroids. */
static void
take_best(uint32_t *cell, float *best, const float *scores, size_t vectors, size_t first,
    size_t centroids)
{
	for (size_t i = 0; i < vectors; i++, scores += centroids)
		for (size_t c = 0; c < centroids; c++)
			if (scores[c] > best[i]) {
				best[i] = scores[c];
				cell[i] = (uint32_t)(first + c);
			}
}

static void
assign_chunk(void *context, size_t worker, size_t which)
{
	const struct cell_assignment *all = context;
	struct cell_scores scores = all->scores[worker];
	size_t first = which * all->chunk, width = (size_t)all->width;
	size_t rows = (size_t)all->count - first, cells = (size_t)all->cells;
	float *best = mem_new(all->chunk, sizeof *best);

	rows = rows < all->chunk ? rows : all->chunk;
	for (size_t i = 0; i < rows; i++)
		best[i] = -INFINITY;
	memset(all->cell + first, 0, rows * sizeof *all->cell);
	for (size_t c = 0; c < cells; c += all->chunk) {
		size_t some = cells - c < all->chunk ? cells - c : all->chunk;
		nn_product_nt(scores.at, all->vectors + first * width,
		    all->centroids + c * width, rows, some, width, 1, 0);
		nn_download(scores.host, scores.at, rows * some * sizeof *scores.host);
		take_best(all->cell + first, best, scores.host, rows, c, some);
	}
	free(best);
}

void
cells_assign(uint32_t *cell, const float *vectors, int64_t count, const float *centroids,
    int cells, int width)
{
	struct cell_assignment all = { .cell = cell,
		.count = count,
		.cells = cells,
		.width = width,
		.chunk = nn_chunk_rows() };
	size_t size = (size_t)width * sizeof(float), pairs = all.chunk * all.chunk;
	size_t bytes[2] = { (size_t)count * size, (size_t)cells * size };
	bool copied[2];

	all.vectors = nn_bytes_of(vectors, bytes[0], sizeof(float), &copied[0]);
	all.centroids = nn_bytes_of(centroids, bytes[1], sizeof(float), &copied[1]);
	all.scores = mem_new(nn_workers(), sizeof *all.scores);
	for (size_t w = 0; w < nn_workers(); w++)
		all.scores[w] = (struct cell_scores){ nn_alloc(pairs * sizeof(float)),
			mem_new(pairs, sizeof(float)) };
	nn_parallel_for(((size_t)count + all.chunk - 1) / all.chunk, assign_chunk, &all);
	for (size_t w = 0; w < nn_workers(); w++) {
		nn_free(all.scores[w].at, pairs * sizeof(float));
		free(all.scores[w].host);
	}
	free(all.scores);
	if (copied[0])
		nn_free((void *)all.vectors, bytes[0]);
	if (copied[1])
		nn_free((void *)all.centroids, bytes[1]);
}

/* Training. -------------------------------------------------------------------------- */

struct cell_training {
	float *centroids, *sample; /* [cells, width]; [count, width] */
	int cells, width;
	int64_t count;
	uint32_t *cell; /* [count] */
	int64_t *sizes; /* [cells] */
	double *sums;	/* [cells, width] */
};

/* Draws the sample, in a random order: each cell starts at one of its vectors. */
static void
draw(struct cell_training *training, const float *vectors, int64_t count)
{
	int width = training->width;
	int64_t most = (int64_t)CELLS_SAMPLE * training->cells;

	most = most < count ? most : count;
	training->sample =
	    mem_new(mem_multiply((size_t)most, (size_t)width, "the sample"),
		sizeof *training->sample);
	for (int64_t i = 0; i < count && training->count < most; i++) {
		const float *vector =
		    vectors +
		    (int64_t)rng_permute(SEED, (uint64_t)i, (uint64_t)count) * width;
		float *to = training->sample + training->count * width;
		double square = similarity_unit(to, vector, width);
		training->count += square > 0 && isfinite(square);
	}
	for (int c = 0; c < training->cells; c++)
		if (training->count)
			memcpy(training->centroids + (int64_t)c * width,
			    training->sample + c % training->count * width,
			    (size_t)width * sizeof *training->centroids);
}

static void
sum_cells(struct cell_training *training)
{
	size_t width = (size_t)training->width;

	memset(training->sizes, 0, (size_t)training->cells * sizeof *training->sizes);
	memset(
	    training->sums, 0, (size_t)training->cells * width * sizeof *training->sums);
	for (int64_t i = 0; i < training->count; i++) {
		const float *vector = training->sample + (size_t)i * width;
		double *sum = training->sums + training->cell[i] * width;
		training->sizes[training->cell[i]]++;
		for (size_t c = 0; c < width; c++)
			sum[c] += (double)vector[c];
	}
}

/* An empty cell takes half of the largest one: both centroids move a little apart. */
static void
split_largest(struct cell_training *training, int empty)
{
	size_t width = (size_t)training->width;
	int largest = 0;

	for (int c = 1; c < training->cells; c++)
		if (training->sizes[c] > training->sizes[largest])
			largest = c;
	double *from = training->sums + (size_t)largest * width,
	       *to = training->sums + (size_t)empty * width;
	for (size_t c = 0; c < width; c++) {
		double part = c % 2 ? 1.0 / 1024 : -1.0 / 1024;
		to[c] = from[c] * (1 + part);
		from[c] *= 1 - part;
	}
	training->sizes[empty] = training->sizes[largest] / 2;
	training->sizes[largest] -= training->sizes[empty];
}

static void
move_centroids(struct cell_training *training)
{
	size_t width = (size_t)training->width;
	float *mean = mem_new(width, sizeof *mean);

	sum_cells(training);
	for (int c = 0; c < training->cells; c++)
		if (!training->sizes[c])
			split_largest(training, c);
	for (int c = 0; c < training->cells; c++) {
		for (size_t i = 0; i < width; i++)
			mean[i] = (float)training->sums[(size_t)c * width + i];
		similarity_unit(
		    training->centroids + (size_t)c * width, mean, training->width);
	}
	free(mean);
}

void
cells_train(float *centroids, int cells, const float *vectors, int64_t count, int width)
{
	struct cell_training training = {
		.centroids = centroids, .cells = cells, .width = width
	};

	memset(centroids, 0, (size_t)cells * (size_t)width * sizeof *centroids);
	draw(&training, vectors, count);
	training.cell = mem_new((size_t)training.count + 1, sizeof *training.cell);
	training.sizes = mem_new((size_t)cells, sizeof *training.sizes);
	training.sums = mem_new(
	    mem_multiply((size_t)cells, (size_t)width, "cells"), sizeof *training.sums);
	for (int step = 0; step < STEPS && training.count; step++) {
		cells_assign(training.cell, training.sample, training.count, centroids,
		    cells, width);
		move_centroids(&training);
	}
	free(training.sample);
	free(training.cell);
	free(training.sizes);
	free(training.sums);
}

/* Queries. --------------------------------------------------------------------------- */

void
cells_nearest(uint32_t *cell, int probe, const float *queries, int64_t count,
    const float *centroids, int cells, int width)
{
	struct hits *hits = mem_new((size_t)count, sizeof *hits);
	struct search *search =
	    search_new(queries, count, width, probe, -INFINITY, NULL, NULL);

	search_add(search, centroids, cells, 1 + 0x1p-20);
	struct hit *memory = search_finish(search, hits);
	for (int64_t q = 0; q < count; q++)
		for (int i = 0; i < probe; i++)
			cell[q * probe + i] = hits[q].at[i].document;
	free(memory);
	free(hits);
}
