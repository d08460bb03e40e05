#include "train/pair_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "score/measure/ranking.h"

enum { CUT = 10 };

void
pair_ranks_add(struct pair_ranks *ranks, uint64_t query, double score, double label)
{
	ranks->pairs =
	    mem_grow(ranks->pairs, &ranks->room, ranks->count + 1, sizeof *ranks->pairs);
	ranks->pairs[ranks->count++] = (struct ranked_pair){ query, score, label };
}

static int64_t
grade(const struct ranked_pair *pair)
{
	return llround(pair->label);
}

static int
by_query(const void *a, const void *b)
{
	const struct ranked_pair *x = a, *y = b;

	if (x->query != y->query)
		return x->query < y->query ? -1 : 1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (grade(x) > grade(y)) - (grade(x) < grade(y));
}

/* nDCG@10 of the pairs of a query, best first; NaN: all or none are relevant. */
static double
measure_query(const struct ranked_pair *pairs, size_t count)
{
	int64_t *found = mem_new(2 * count, sizeof *found), *judged = found + count;
	double values[RANKING_MEASURES];
	size_t relevant = 0;

	for (size_t i = 0; i < count; i++) {
		found[i] = judged[i] = grade(&pairs[i]);
		relevant += judged[i] > 0;
	}
	struct graded_list list =
	    ranking_list(found, (int64_t)count, judged, (int64_t)count, 1, false);
	ranking_measure(values, &list, CUT);
	free(found);
	return relevant && relevant < count ? values[RANKING_NDCG] : NAN;
}

double
pair_ranks_ndcg(struct pair_ranks *ranks)
{
	double sum = 0, queries = 0;

	if (ranks->count)
		qsort(ranks->pairs, ranks->count, sizeof *ranks->pairs, by_query);
	for (size_t first = 0, last; first < ranks->count; first = last) {
		uint64_t query = ranks->pairs[first].query;
		last = first;
		while (last < ranks->count && ranks->pairs[last].query == query)
			last++;
		double value =
		    query ? measure_query(ranks->pairs + first, last - first) : NAN;
		sum += isnan(value) ? 0 : value;
		queries += !isnan(value);
	}
	return sum / queries;
}

double
pair_ranks_precision(const struct pair_ranks *ranks)
{
	double *scores = mem_new(ranks->count + 1, sizeof *scores);
	bool *relevant = mem_new(ranks->count + 1, sizeof *relevant);

	for (size_t i = 0; i < ranks->count; i++) {
		scores[i] = ranks->pairs[i].score;
		relevant[i] = grade(&ranks->pairs[i]) > 0;
	}
	double precision =
	    ranking_average_precision(scores, relevant, (int64_t)ranks->count);
	free(scores);
	free(relevant);
	return precision;
}

void
pair_ranks_free(struct pair_ranks *ranks)
{
	free(ranks->pairs);
	*ranks = (struct pair_ranks){ 0 };
}
