#include "search/vector_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/nn.h"

enum {
	GROUP = 16,  /* queries at a time */
	SLICE = 128, /* rows whose codes stay in the cache for all of them */
	JOB = 16     /* slices */
};

struct scan {
	const struct vector_index *index;
	const struct vector_scan_options *options;
	const float *queries; /* of the group */
	const uint32_t *excluded;
	int64_t count;
	struct code_query coded[GROUP];
	code_sums *code_sums;
	bit_sums *bit_sums;
	struct hit_ranking exact, rough; /* of hits; of candidates by bits */
	struct top_hits *tops;		 /* [workers, GROUP] */
};

static int
by_row(const void *none, uint32_t a, uint32_t b)
{
	(void)none;
	return (a < b) - (a > b);
}

/* Compares rows of the index exactly with a query. */
static void
rescore(const struct scan *scan, int64_t query, struct top_hits *top,
    const uint32_t *rows, int64_t count)
{
	enum { AT_ONCE = 4 };
	int width = scan->index->width;
	const float *q = scan->queries + query * width, *a[AT_ONCE] = { q, q, q, q },
		    *b[AT_ONCE];
	double score[AT_ONCE];

	for (int64_t i = 0; i < count; i += AT_ONCE) {
		for (int j = 0; j < AT_ONCE; j++) /* the last one repeats at the end */
			b[j] = scan->index->vectors +
			       (int64_t)rows[i + j < count ? i + j : count - 1] * width;
		similarity_dots(score, a, b, width);
		for (int j = 0; j < AT_ONCE && i + j < count; j++)
			if (rows[i + j] != scan->excluded[query])
				top_hits_put(top, &scan->exact,
				    (struct hit){ isnan(score[j]) ? -1 : (float)score[j],
					rows[i + j] });
	}
}

/* The rows from `first` on that may be among the best by their codes; returns how many. */
static int64_t
find_candidates(const struct scan *scan, const struct code_query *coded, float least,
    int64_t first, int64_t rows, uint32_t *found)
{
	const struct vector_index *index = scan->index;
	const float *errors = index->errors + first;
	size_t stride = codes_stride(index->width);
	int32_t sums[SLICE];
	int64_t count = 0;

	scan->code_sums(
	    sums, coded, index->codes + (size_t)first * stride, (size_t)rows, stride);
	/* in units of the sum; NaN, of a query or a row without a bound, is no reason to leave a row out */
	double limit = (least - coded->base - coded->slack) / coded->scale;
	float least_sum = (float)(limit - fabs(limit) * 0x1p-20);
	float share = (float)(coded->norm / coded->scale * (1 + 0x1p-20));
	for (int64_t r = 0; r < rows; r++) {
		found[count] = (uint32_t)(first + r);
		count += !((float)sums[r] + share * errors[r] < least_sum);
	}
	return count;
}

static void
scan_codes(const struct scan *scan, struct top_hits *tops, int64_t first, int64_t rows)
{
	uint32_t found[SLICE];

	for (int64_t q = 0; q < scan->count; q++) {
		int64_t count = find_candidates(
		    scan, &scan->coded[q], tops[q].least, first, rows, found);
		rescore(scan, q, &tops[q], found, count);
	}
}

static void
scan_bits(const struct scan *scan, struct top_hits *tops, int64_t first, int64_t rows)
{
	size_t words = codes_words(scan->index->width);
	int32_t sums[SLICE];

	for (int64_t q = 0; q < scan->count; q++) {
		scan->bit_sums(sums, &scan->coded[q],
		    scan->index->bits + (size_t)first * words, (size_t)rows, words);
		for (int64_t r = 0; r < rows; r++)
			if ((float)sums[r] >= tops[q].least &&
			    first + r != scan->excluded[q])
				top_hits_put(&tops[q], &scan->rough,
				    (struct hit){
					(float)sums[r], (uint32_t)(first + r) });
	}
}

/* Scans the rows of a slice that pass, one run of them after the other. */
static void
scan_slice(const struct scan *scan, struct top_hits *tops, int64_t first, int64_t end)
{
	const bool *pass = scan->index->pass;

	for (int64_t next; first < end; first = next) {
		while (pass && first < end && !pass[first])
			first++;
		for (next = first; next < end && (!pass || pass[next]); next++)
			;
		if (next == first)
			break;
		if (scan->options->rescore)
			scan_bits(scan, tops, first, next - first);
		else
			scan_codes(scan, tops, first, next - first);
	}
}

static void
scan_job(void *context, size_t worker, size_t job)
{
	const struct scan *scan = context;
	int64_t rows = scan->index->rows, first = (int64_t)job * JOB * SLICE;
	struct top_hits *tops = scan->tops + worker * GROUP;

	for (int64_t i = 0; i < JOB && first < rows; i++, first += SLICE)
		scan_slice(
		    scan, tops, first, rows - first < SLICE ? rows : first + SLICE);
}

/* Moves a query's hits of all workers to the first. */
static struct top_hits *
gather(const struct scan *scan, int64_t query, const struct hit_ranking *ranking)
{
	struct top_hits *all = &scan->tops[query];

	for (size_t w = 1; w < nn_workers(); w++) {
		const struct top_hits *some = &scan->tops[w * GROUP + (size_t)query];
		for (int64_t i = 0; i < some->count; i++)
			top_hits_put(all, ranking, some->hits[i]);
	}
	top_hits_sort(all, ranking);
	return all;
}

/* The best rows of a query into hits->at [depth]. */
static void
finish_query(struct scan *scan, int64_t query, struct hits *hits)
{
	struct top_hits *top =
	    gather(scan, query, scan->options->rescore ? &scan->rough : &scan->exact);

	if (scan->options->rescore) {
		int64_t count = top->count;
		uint32_t *rows = mem_new((size_t)count, sizeof *rows);
		for (int64_t i = 0; i < count; i++)
			rows[i] = top->hits[i].document;
		top->count = 0; /* its room is larger than that of the exact ones */
		top->least = scan->options->threshold;
		rescore(scan, query, top, rows, count);
		top_hits_sort(top, &scan->exact);
		free(rows);
	}
	memcpy(hits->at, top->hits, (size_t)top->count * sizeof *hits->at);
	hits->count = top->count;
}

static void
start_tops(struct scan *scan, struct hit *memory, int64_t room)
{
	float least = scan->options->rescore ? -INFINITY : scan->options->threshold;

	for (int64_t i = 0; i < (int64_t)nn_workers() * GROUP; i++)
		scan->tops[i] = (struct top_hits){ memory + i * room, 0, least };
}

static void
scan_group(struct scan *scan)
{
	const struct vector_index *index = scan->index;
	size_t slices = ((size_t)index->rows + SLICE - 1) / SLICE;

	for (int64_t q = 0; q < scan->count; q++)
		scan->coded[q] = code_query_new(
		    scan->queries + q * index->width, &index->columns, index->width);
	nn_parallel_for((slices + JOB - 1) / JOB, scan_job, scan);
	for (int64_t q = 0; q < scan->count; q++)
		code_query_free(&scan->coded[q]);
}

struct hit *
vector_scan(const struct vector_index *index, const float *queries, int64_t count,
    const struct vector_scan_options *options, struct hits *hits)
{
	int64_t depth = options->depth < index->rows ? options->depth : index->rows;
	int64_t wanted = options->rescore && options->rescore < index->rows / depth
			     ? options->rescore * depth
			     : index->rows;
	struct scan scan = { .index = index,
		.options = options,
		.code_sums = code_sums_best(),
		.bit_sums = bit_sums_best(),
		.exact = { depth, vector_index_order, index },
		.rough = { wanted, by_row, NULL } };
	int64_t room = top_hits_room(options->rescore ? wanted : depth);
	size_t workers = nn_workers() * GROUP;
	struct hit *memory =
	    mem_new(mem_multiply((size_t)count, (size_t)depth, "hits"), sizeof *memory);
	struct hit *work =
	    mem_new(mem_multiply(workers, (size_t)room, "hits"), sizeof *work);

	scan.tops = mem_new(workers, sizeof *scan.tops);
	for (int64_t first = 0; first < count; first += GROUP) {
		scan.queries = queries + first * index->width;
		scan.excluded = options->excluded + first;
		scan.count = count - first < GROUP ? count - first : GROUP;
		start_tops(&scan, work, room);
		scan_group(&scan);
		for (int64_t q = 0; q < scan.count; q++) {
			hits[first + q].at = memory + (first + q) * depth;
			finish_query(&scan, q, &hits[first + q]);
		}
	}
	free(scan.tops);
	free(work);
	return memory;
}
