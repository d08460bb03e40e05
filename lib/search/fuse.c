#include "search/fuse.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

double *
fuse_weights(const char *list, int count)
{
	double *weights = mem_new((size_t)count, sizeof *weights);
	const char *at = list;
	bool plain = !list || !list[strspn(list, "0123456789.eE+-,")];
	double sum = 0;

	for (int i = 0; i < count; i++) {
		char *end = NULL;
		weights[i] = at ? strtod(at, &end) : 1;
		if (at && (!plain || end == at || !(weights[i] >= 0) ||
			      weights[i] > FLT_MAX || *end != (i + 1 < count ? ',' : 0)))
			die_usage(
			    "--run-weights: '%s' is not a list of %d numbers from 0, one a run, commas between",
			    list, count);
		at = at ? end + 1 : NULL;
		sum += weights[i];
	}
	if (sum > FLT_MAX) /* a run's part of a score is at most its weight */
		die_usage("--run-weights: '%s': the sum is beyond float32", list);
	return weights;
}

enum { RANK_OFFSET = 60 };

/* A run's part of a document's score. */
struct score_part {
	int64_t query, document, order;
	double value;
};

struct score_parts {
	struct score_part *at;
	int64_t count;
	size_t room;
};

static int
by_document(const void *a, const void *b)
{
	const struct score_part *x = a, *y = b;

	if (x->query != y->query)
		return x->query < y->query ? -1 : 1;
	if (x->document != y->document)
		return x->document < y->document ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* The value of the hit of a rank, from 0. */
static double
value_of(enum fuse_method method, const struct hits *hits, int64_t rank)
{
	double most = (double)hits->at[0].score,
	       least = (double)hits->at[hits->count - 1].score;

	if (method == FUSE_RRF)
		return 1 / (double)(RANK_OFFSET + rank + 1);
	return most > least ? ((double)hits->at[rank].score - least) / (most - least) : 0;
}

static void
add_run(struct run *to, struct score_parts *parts, enum fuse_method method,
    const struct run *from, double weight)
{
	for (int64_t q = 0; q < strings_count(from->queries); q++) {
		const struct hits *hits = &from->hits[q];
		int64_t query = strings_add_from(to->queries, from->queries, q);
		for (int64_t i = 0; i < hits->count; i++) {
			parts->at = mem_grow(parts->at, &parts->room,
			    (size_t)parts->count + 1, sizeof *parts->at);
			parts->at[parts->count] = (struct score_part){ .query = query,
				.document = strings_add_from(
				    to->documents, from->documents, hits->at[i].document),
				.order = parts->count,
				.value = weight * value_of(method, hits, i) };
			parts->count++;
		}
	}
}

struct run *
fuse_runs(enum fuse_method method, const char *const *paths, const double *weights,
    int count, int64_t depth)
{
	struct run *made = run_new();
	struct score_parts parts = { 0 };
	struct findings findings = { 0 };

	for (int i = 0; i < count; i++) {
		struct run *run = run_read(paths[i]);
		run_check_finite(run, paths[i]);
		add_run(made, &parts, method, run, weights[i]);
		run_free(run);
	}
	if (parts.count)
		qsort(parts.at, (size_t)parts.count, sizeof *parts.at, by_document);
	for (int64_t i = 0, next; i < parts.count; i = next) {
		const struct score_part *part = &parts.at[i];
		double sum = 0;
		for (next = i;
		     next < parts.count && parts.at[next].query == part->query &&
		     parts.at[next].document == part->document;
		     next++)
			sum += parts.at[next].value;
		run_put(&findings, part->query, part->document, (float)sum);
	}
	free(parts.at);
	run_commit(made, &findings, depth, NULL);
	return made;
}
