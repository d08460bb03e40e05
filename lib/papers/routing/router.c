#include "papers/routing/router.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "papers/routing/gate_scores.h"

struct routing {
	const struct pilot_library *library;
	struct router_options options;
	float *units;	/* [count, width] normalised vectors, for cosines */
	double *totals; /* [gates] sum of the weights of a gate's vectors */
};

struct router_options
router_usual(const struct pilot_library *library)
{
	return (struct router_options){ SIMILARITY_DOT,
		library->router == ROUTER_DATASET ? RULE_MAX : RULE_MEAN };
}

static double
weight_of(const struct routing *router, int64_t pilot)
{
	bool weighted = router->options.rule == RULE_WEIGHTED;

	return weighted ? router->library->pilots[pilot].size : 1;
}

struct routing *
router_new(const struct pilot_library *library, const struct router_options *options)
{
	struct routing *router = mem_zero(1, sizeof *router);
	int64_t width = library->width;

	router->library = library;
	router->options = *options;
	router->totals =
	    mem_zero((size_t)strings_count(library->gates), sizeof *router->totals);
	for (int64_t i = 0; i < library->count; i++)
		router->totals[library->pilots[i].gate] += weight_of(router, i);
	if (options->similarity != SIMILARITY_COSINE)
		return router;
	router->units =
	    mem_new((size_t)library->count, (size_t)width * sizeof *router->units);
	for (int64_t i = 0; i < library->count; i++)
		similarity_unit(router->units + i * width, library->vectors + i * width,
		    library->width);
	return router;
}

/* Dot products with four vectors from `first` on; repeats the last one at the end. */
static void
dots(const struct routing *router, const float *x, int64_t first, double sums[4])
{
	const struct pilot_library *library = router->library;
	const float *vectors = router->units ? router->units : library->vectors;
	const float *a[4], *b[4];

	for (int64_t k = 0; k < 4; k++) {
		int64_t i = first + k < library->count ? first + k : library->count - 1;
		a[k] = x;
		b[k] = vectors + i * library->width;
	}
	similarity_dots(sums, a, b, library->width);
}

static void
score_query(const struct routing *router, const float *x, double *scores)
{
	const struct pilot_library *library = router->library;
	int64_t gates = strings_count(library->gates);
	bool most = router->options.rule == RULE_MAX;
	double sums[4];

	for (int64_t g = 0; g < gates; g++)
		scores[g] = most ? -DBL_MAX : 0;
	for (int64_t i = 0; i < library->count; i++) {
		const struct pilot *pilot = &library->pilots[i];
		if (i % 4 == 0)
			dots(router, x, i, sums);
		double score = sums[i % 4] + pilot->bias;
		if (!most)
			scores[pilot->gate] += score * weight_of(router, i);
		else if (score > scores[pilot->gate])
			scores[pilot->gate] = score;
	}
	for (int64_t g = 0; g < gates; g++)
		scores[g] = (float)(most ? scores[g] : scores[g] / router->totals[g]);
}

void
router_route(const struct routing *router, const float *x, int64_t rows, double *scores,
    int32_t *best)
{
	int gates = (int)strings_count(router->library->gates);

#pragma omp parallel for
	for (int64_t row = 0; row < rows; row++) {
		score_query(
		    router, x + row * router->library->width, scores + row * gates);
		best[row] = gate_scores_best(scores + row * gates, gates, NULL);
	}
}

void
router_demand_finite(const struct routing *router, const struct reader *reader,
    const double *scores, int64_t rows, const int64_t *numbers)
{
	const struct strings *gates = router->library->gates;
	int64_t count = strings_count(gates);

	for (int64_t i = 0; i < rows * count; i++)
		if (!isfinite(scores[i]))
			die("%s: record %lld: the score of vector %lld with gate '%s' is beyond f32; say --similarity cosine",
			    stream_name(reader), (long long)stream_records(reader),
			    (long long)(numbers ? numbers[i / count] : i / count) + 1,
			    strings_get(gates, i % count));
}

void
router_free(struct routing *router)
{
	free(router->units);
	free(router->totals);
	free(router);
}
