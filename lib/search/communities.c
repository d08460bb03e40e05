#include "search/communities.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/nn.h"
#include "search/similarity.h"

enum { CENTRES = 64 /* bits of a mask */, TILE = 4096 /* rows */ };

struct finder {
	const float *units; /* [n, width] */
	const float *units_at;
	bool copied;
	int64_t n;
	int width;
	float threshold;
	float *centres, *centres_at; /* [CENTRES, width]: on the host, on the device */
	float *scores,
	    *scores_at; /* [TILE, CENTRES]: the same; one array without a GPU */
	uint64_t *near; /* [n]: bit i: the row is near centre i */
	int64_t *count; /* [n]: rows near each */
	int64_t *order; /* [candidates]: rows by count, descending */
	int64_t candidates;
};

/* Whether the row reaches the threshold; the float32 product has at most this error. */
static bool
is_near(const struct finder *finder, int64_t row, int centre, float product, double error)
{
	if (product > finder->threshold + error)
		return true;
	if (product < finder->threshold - error)
		return false;
	return (float)similarity_dot(finder->units + row * finder->width,
		   finder->centres + (int64_t)centre * finder->width,
		   finder->width) >= finder->threshold;
}

static void
mark_tile(struct finder *finder, int64_t first, int64_t rows, int centres)
{
	size_t width = (size_t)finder->width, size = (size_t)(rows * centres);
	/* rounding makes unit vectors slightly longer than 1 */
	double error = nn_product_error(width) * (1 + 0x1p-18) + width * (double)FLT_MIN;

	nn_product_nt(finder->scores_at, finder->units_at + first * finder->width,
	    finder->centres_at, (size_t)rows, (size_t)centres, width, 1, 0);
	if (finder->scores != finder->scores_at)
		nn_download(
		    finder->scores, finder->scores_at, size * sizeof *finder->scores);
#pragma omp parallel for schedule(static)
	for (int64_t i = 0; i < rows; i++) {
		uint64_t near = 0;
		for (int j = 0; j < centres; j++)
			near |= (uint64_t)is_near(finder, first + i, j,
				    finder->scores[i * centres + j], error)
				<< j;
		finder->near[first + i] = near;
	}
}

/* Marks the rows near each of `count` centres, at most CENTRES. */
static void
mark(struct finder *finder, const int64_t *centres, int count)
{
	size_t bytes = (size_t)finder->width * sizeof(float);

	for (int i = 0; i < count; i++)
		memcpy(finder->centres + (int64_t)i * finder->width,
		    finder->units + centres[i] * finder->width, bytes);
	nn_upload(finder->centres_at, finder->centres, (size_t)count * bytes);
	for (int64_t first = 0; first < finder->n; first += TILE)
		mark_tile(finder, first,
		    finder->n - first < TILE ? finder->n - first : TILE, count);
}

static void
count_near(struct finder *finder, struct progress *progress)
{
	for (int64_t first = 0; first < finder->n; first += CENTRES) {
		int64_t rows[CENTRES];
		int count = 0;
		while (count < CENTRES && first + count < finder->n) {
			rows[count] = first + count;
			finder->count[first + count++] = 0;
		}
		mark(finder, rows, count);
		for (int64_t i = 0; i < finder->n; i++)
			for (uint64_t left = finder->near[i]; left; left &= left - 1)
				finder->count[first + __builtin_ctzll(left)]++;
		progress_add(progress, count);
	}
}

static int
by_count(const void *a, const void *b, void *context)
{
	const struct finder *finder = context;
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	int64_t more = finder->count[y] - finder->count[x];

	return more ? (more > 0) - (more < 0) : (x > y) - (x < y);
}

static void
choose_candidates(struct finder *finder, int64_t least)
{
	for (int64_t i = 0; i < finder->n; i++)
		if (finder->count[i] >= least)
			finder->order[finder->candidates++] = i;
	qsort_r(finder->order, (size_t)finder->candidates, sizeof *finder->order,
	    by_count, finder);
}

/* Makes a group of the ungrouped rows near centre number `bit`, unless too few. */
static void
take(const struct finder *finder, struct communities *found, int bit, int64_t centre,
    int64_t least)
{
	int64_t left = 0;

	for (int64_t i = 0; i < finder->n; i++)
		left += found->group[i] < 0 && finder->near[i] >> bit & 1;
	if (left < least)
		return;
	for (int64_t i = 0; i < finder->n; i++) {
		if (found->group[i] >= 0 || !(finder->near[i] >> bit & 1))
			continue;
		found->group[i] = found->count;
		double cosine = similarity_dot(finder->units + i * finder->width,
		    finder->units + centre * finder->width, finder->width);
		found->distance[i] = fmax(1 - cosine, 0x1p-53); /* 0 is the centre's */
	}
	found->group[centre] = found->count++;
	found->distance[centre] = 0;
}

static void
take_all(struct finder *finder, struct communities *found, int64_t least)
{
	int64_t next = 0;

	while (next < finder->candidates) {
		int64_t centres[CENTRES];
		int count = 0;
		for (; next < finder->candidates && count < CENTRES; next++)
			if (found->group[finder->order[next]] < 0)
				centres[count++] = finder->order[next];
		mark(finder, centres, count);
		for (int i = 0; i < count; i++)
			if (found->group[centres[i]] < 0)
				take(finder, found, i, centres[i], least);
	}
}

static void
start(struct finder *finder)
{
	size_t n = (size_t)finder->n,
	       row = mem_multiply((size_t)finder->width, sizeof(float), "group");

	finder->units_at = nn_bytes_of(
	    finder->units, mem_multiply(n, row, "group"), sizeof(float), &finder->copied);
	finder->centres = mem_new(CENTRES, row);
	finder->centres_at = nn_alloc(CENTRES * row);
	finder->scores_at = nn_alloc(sizeof(float) * TILE * CENTRES);
	finder->scores = nn_device() ? mem_new(TILE, CENTRES * sizeof *finder->scores)
				     : finder->scores_at;
	finder->near = mem_new(n, sizeof *finder->near);
	finder->count = mem_new(n, sizeof *finder->count);
	finder->order = mem_new(n, sizeof *finder->order);
}

static void
end(struct finder *finder)
{
	size_t row = (size_t)finder->width * sizeof(float);

	if (finder->copied)
		nn_free((void *)finder->units_at, (size_t)finder->n * row);
	if (finder->scores != finder->scores_at)
		free(finder->scores);
	nn_free(finder->scores_at, sizeof(float) * TILE * CENTRES);
	nn_free(finder->centres_at, CENTRES * row);
	free(finder->centres);
	free(finder->near);
	free(finder->count);
	free(finder->order);
}

struct communities
communities_find(const float *units, int64_t n, int width, float threshold, int64_t least,
    struct progress *progress)
{
	struct finder finder = {
		.units = units, .n = n, .width = width, .threshold = threshold
	};
	struct communities found = { .group = mem_new((size_t)n, sizeof *found.group),
		.distance = mem_zero((size_t)n, sizeof *found.distance) };

	for (int64_t i = 0; i < n; i++)
		found.group[i] = -1;
	start(&finder);
	count_near(&finder, progress);
	choose_candidates(&finder, least);
	take_all(&finder, &found, least);
	end(&finder);
	return found;
}
