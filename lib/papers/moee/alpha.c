#include "papers/moee/alpha.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "score/measure/correlation.h"
#include "score/measure/stats.h"

enum { BUCKETS = 1 << 14 };
static const double resolution = 1e-12;

/* The change at crossings of twice the sums of products of ranks. */
struct change {
	int64_t h, r;
};

/* The crossings in an interval of the scale. */
struct crossing_bucket {
	struct change sum;
	double gain; /* sum over the crossings at which the mean rises */
	bool examined;
};

struct crossing {
	double place;
	struct change change;
};

struct sample {
	double h, r;
	int64_t rank_h, rank_r; /* twice the rank */
};

struct alpha_search {
	struct sample *samples; /* by h, rising */
	int64_t n;
	double scale;  /* k: place p is alpha = k p / (1 - p) */
	double weight; /* of r's sum relative to h's */
	struct crossing_bucket *buckets;
	struct crossing *crossings;
	size_t count, room;
	double best, low, high; /* the maximum so far, and its interval */
	double middle;
};

static struct alpha
alpha_at(double value, const double *h, const double *r, int64_t n)
{
	double *sum = mem_new((size_t)n, sizeof *sum);

	for (int64_t i = 0; i < n; i++)
		sum[i] = h[i] + value * r[i];
	struct alpha alpha = { value, correlation_spearman(sum, h, n),
		correlation_spearman(sum, r, n) };
	free(sum);
	return alpha;
}

struct alpha
alpha_grid(const double *h, const double *r, int64_t n)
{
	struct alpha best = { .rho_hs = -2 };

	for (int tenths = 1; tenths <= 10; tenths++) {
		struct alpha alpha = alpha_at(tenths / 10.0, h, r, n);
		if (alpha.rho_hs + alpha.rho_rw > best.rho_hs + best.rho_rw)
			best = alpha;
	}
	return best;
}

/* Sums of ranks. ------------------------------------------------------------------- */

static struct sample *
samples_new(const double *h, const double *r, int64_t n)
{
	struct sample *samples = mem_new((size_t)n, sizeof *samples);
	int64_t *order = mem_new((size_t)n, sizeof *order);
	double *ranks = mem_new((size_t)n, 2 * sizeof *ranks);

	stats_ranks(ranks, h, n);
	stats_ranks(ranks + n, r, n);
	stats_ascending(order, h, n);
	for (int64_t i = 0; i < n; i++) {
		int64_t at = order[i];
		samples[i] = (struct sample){ h[at], r[at], llrint(2 * ranks[at]),
			llrint(2 * ranks[n + at]) };
	}
	free(order);
	free(ranks);
	return samples;
}

/* The exact sum of squared deviations of twice the ranks: equal for any two lists without ties. */
static double
spread_of(const struct alpha_search *search, bool of_r)
{
	int64_t sum = -search->n * (search->n + 1) * (search->n + 1);

	for (int64_t i = 0; i < search->n; i++) {
		int64_t rank =
		    of_r ? search->samples[i].rank_r : search->samples[i].rank_h;
		sum += rank * rank;
	}
	return (double)sum;
}

/* The sum of both correlations, up to a constant factor and term. */
static double
value_of(const struct alpha_search *search, struct change change)
{
	return (double)change.h + search->weight * (double)change.r;
}

static inline void
each_crossing(struct alpha_search *search,
    void (*visit)(struct alpha_search *, const struct crossing *))
{
	for (int64_t i = 0; i < search->n; i++)
		for (int64_t j = i + 1; j < search->n; j++) {
			const struct sample *one = &search->samples[i],
					    *two = &search->samples[j];
			double h = two->h - one->h, r = search->scale * (one->r - two->r);
			if (!(h > 0 && r > 0))
				continue;
			visit(search, &(struct crossing){
					  h / (h + r), { one->rank_h - two->rank_h,
							   one->rank_r - two->rank_r } });
		}
}

static int
bucket_of(double place)
{
	int bucket = (int)(place * BUCKETS);

	return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static void
count(struct alpha_search *search, const struct crossing *crossing)
{
	struct crossing_bucket *bucket = &search->buckets[bucket_of(crossing->place)];

	bucket->sum.h += crossing->change.h;
	bucket->sum.r += crossing->change.r;
	bucket->gain += fmax(0, value_of(search, crossing->change));
}

/* The buckets. --------------------------------------------------------------------- */

/* Selects the buckets that may reach `bar`.  Returns the greatest value at a border. */
static double
choose_buckets(struct alpha_search *search, double bar)
{
	struct change sum = { 0 };
	double greatest = 0;

	for (int i = 0; i < BUCKETS; i++) {
		struct crossing_bucket *bucket = &search->buckets[i];
		double value = value_of(search, sum);
		double slack =
		    1e-12 * (fabs((double)sum.h) + fabs((double)sum.r) + bucket->gain);
		bucket->examined = value + bucket->gain + slack >= bar;
		sum.h += bucket->sum.h;
		sum.r += bucket->sum.r;
		greatest = fmax(greatest, value);
	}
	return greatest;
}

static int
by_place(const void *a, const void *b)
{
	const struct crossing *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

static void
gather(struct alpha_search *search, const struct crossing *crossing)
{
	if (!search->buckets[bucket_of(crossing->place)].examined)
		return;
	search->crossings = mem_grow(search->crossings, &search->room, search->count + 1,
	    sizeof *search->crossings);
	search->crossings[search->count++] = *crossing;
}

static void
consider(struct alpha_search *search, struct change sum, double low, double high)
{
	double value = value_of(search, sum);

	if (high - low <= resolution || value <= search->best)
		return;
	search->best = value;
	search->low = low;
	search->high = high;
}

/* Finds the maximum over the intervals of the selected buckets. */
static void
look(struct alpha_search *search)
{
	search->count = 0;
	each_crossing(search, gather);
	if (search->count)
		qsort(search->crossings, search->count, sizeof *search->crossings,
		    by_place);
	const struct crossing *next = search->crossings, *end = next + search->count;
	struct change sum = { 0 };

	for (int i = 0; i < BUCKETS; i++) {
		const struct crossing_bucket *bucket = &search->buckets[i];
		struct change at = sum;
		double low = (double)i / BUCKETS;
		for (; bucket->examined && next < end && bucket_of(next->place) == i;
		     next++) {
			consider(search, at, low, next->place);
			low = next->place;
			at.h += next->change.h;
			at.r += next->change.r;
		}
		if (bucket->examined)
			consider(search, at, low, (double)(i + 1) / BUCKETS);
		sum.h += bucket->sum.h;
		sum.r += bucket->sum.r;
	}
}

static void
narrow(struct alpha_search *search, const struct crossing *crossing)
{
	if (crossing->place <= search->middle)
		search->low = fmax(search->low, crossing->place);
	else
		search->high = fmin(search->high, crossing->place);
}

/* The alpha with the fewest digits in the middle half of the interval. */
static double
shortest(const struct alpha_search *search)
{
	double middle = search->middle;
	double quarter = (search->high - search->low) / 4;
	double exact = search->scale * middle / (1 - middle);

	for (int digits = 1; digits < 17; digits++) {
		char text[32];
		snprintf(text, sizeof text, "%.*g", digits, exact);
		double value = strtod(text, NULL);
		double place = value / (value + search->scale);
		if (fabs(place - middle) < quarter)
			return value;
	}
	return exact;
}

struct alpha
alpha_exact(const double *h, const double *r, int64_t n)
{
	struct alpha_search search = { .samples = samples_new(h, r, n),
		.n = n,
		.scale = stats_deviation(h, n, 0) / stats_deviation(r, n, 0),
		.buckets = mem_zero(BUCKETS, sizeof *search.buckets),
		.best = -INFINITY };

	search.weight = sqrt(spread_of(&search, false) / spread_of(&search, true));
	each_crossing(&search, count);
	double bar = choose_buckets(&search, INFINITY);
	choose_buckets(&search, bar);
	look(&search);
	if (search.best <
	    bar) { /* the crossings at that border are too close to each other */
		choose_buckets(&search, search.best);
		search.best = -INFINITY;
		look(&search);
	}
	/* extend the interval beyond its bucket, to the next crossings */
	search.middle = (search.low + search.high) / 2;
	search.low = 0;
	search.high = 1;
	each_crossing(&search, narrow);
	search.middle = (search.low + search.high) / 2;
	struct alpha alpha = alpha_at(shortest(&search), h, r, n);
	free(search.samples);
	free(search.buckets);
	free(search.crossings);
	return alpha;
}
