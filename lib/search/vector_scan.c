#include "search/vector_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/nn.h"
#include "search/cells.h"

enum {
	GROUP = 16,  /* queries at a time */
	SLICE = 128, /* rows whose codes stay in the cache for all of them */
	JOB = 16     /* slices */
};

/* Rows that one worker scans for some queries of the group: those whose bits are set. */
struct scan_job {
	int64_t first, end;
	uint32_t queries;
};

struct scan {
	const struct vector_index *index;
	const struct vector_search_options *options;
	const float *queries; /* of the group */
	const uint32_t *excluded;
	int64_t count;
	struct code_query coded[GROUP];
	code_sums *code_sums;
	bit_sums *bit_sums;
	struct hit_ranking exact, rough; /* of hits; of candidates by bits */
	struct top_hits *tops;		 /* [workers, GROUP] */
	struct scan_job *jobs;
	size_t jobs_count, jobs_room;
};

void
vector_rescore(const struct vector_index *index, const float *q, uint32_t excluded,
    const struct hit_ranking *ranking, struct top_hits *top, const uint32_t *places,
    int64_t count)
{
	enum { AT_ONCE = 4 };
	int width = index->width;
	const float *a[AT_ONCE] = { q, q, q, q }, *b[AT_ONCE];
	float *room = count && index->codes_only
			  ? mem_new(AT_ONCE * (size_t)width, sizeof *room)
			  : NULL;
	double score[AT_ONCE];

	for (int64_t i = 0; i < count; i += AT_ONCE) {
		for (int j = 0; j < AT_ONCE; j++) /* the last one repeats at the end */
			b[j] = vector_index_vector(index,
			    places[i + j < count ? i + j : count - 1],
			    room ? room + j * width : NULL);
		similarity_dots(score, a, b, width);
		for (int j = 0; j < AT_ONCE && i + j < count; j++) {
			uint32_t row = vector_index_row(index, places[i + j]);
			if (!top_hits_same(ranking, row, excluded))
				top_hits_put(top, ranking,
				    (struct hit){
					isnan(score[j]) ? -1 : (float)score[j], row });
		}
	}
	free(room);
}

static void
rescore(const struct scan *scan, int64_t query, struct top_hits *top,
    const uint32_t *places, int64_t count)
{
	vector_rescore(scan->index, scan->queries + query * scan->index->width,
	    scan->excluded[query], &scan->exact, top, places, count);
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
	/* without floats codes have no error; infinity times 0 is NaN */
	float share =
	    index->codes_only ? 0 : (float)(coded->norm / coded->scale * (1 + 0x1p-20));
	for (int64_t r = 0; r < rows; r++) {
		found[count] = (uint32_t)(first + r);
		count += !((float)sums[r] + share * errors[r] < least_sum);
	}
	return count;
}

static void
scan_codes(const struct scan *scan, int64_t query, struct top_hits *top, int64_t first,
    int64_t rows)
{
	uint32_t found[SLICE];
	int64_t count =
	    find_candidates(scan, &scan->coded[query], top->least, first, rows, found);

	rescore(scan, query, top, found, count);
}

static void
scan_bits(const struct scan *scan, int64_t query, struct top_hits *top, int64_t first,
    int64_t rows)
{
	size_t words = codes_words(scan->index->width);
	int32_t sums[SLICE];

	scan->bit_sums(sums, &scan->coded[query],
	    scan->index->bits + (size_t)first * words, (size_t)rows, words);
	for (int64_t r = 0; r < rows; r++)
		if ((float)sums[r] >= top->least &&
		    !top_hits_same(&scan->exact, vector_index_row(scan->index, first + r),
			scan->excluded[query]))
			top_hits_put(top, &scan->rough,
			    (struct hit){ (float)sums[r], (uint32_t)(first + r) });
}

/* Scans the rows of a slice that pass, one run of them after the other. */
static void
scan_slice(const struct scan *scan, uint32_t queries, struct top_hits *tops,
    int64_t first, int64_t end)
{
	const bool *pass = scan->index->pass;

	for (int64_t next; first < end; first = next) {
		while (pass && first < end && !pass[first])
			first++;
		for (next = first; next < end && (!pass || pass[next]); next++)
			;
		if (next == first)
			break;
		for (int64_t q = 0; q < scan->count; q++) {
			if (!(queries >> q & 1))
				continue;
			if (scan->options->rescore)
				scan_bits(scan, q, &tops[q], first, next - first);
			else
				scan_codes(scan, q, &tops[q], first, next - first);
		}
	}
}

static void
work(void *context, size_t worker, size_t which)
{
	const struct scan *scan = context;
	const struct scan_job *job = &scan->jobs[which];

	for (int64_t first = job->first; first < job->end; first += SLICE)
		scan_slice(scan, job->queries, scan->tops + worker * GROUP, first,
		    job->end - first < SLICE ? job->end : first + SLICE);
}

/* Jobs. ------------------------------------------------------------------------------ */

static void
add_jobs(struct scan *scan, struct cell_span span, uint32_t queries)
{
	for (int64_t first = span.first; first < span.end; first += JOB * SLICE) {
		int64_t left = span.end - first;
		scan->jobs = mem_grow(scan->jobs, &scan->jobs_room, scan->jobs_count + 1,
		    sizeof *scan->jobs);
		scan->jobs[scan->jobs_count++] = (struct scan_job){ first,
			left < JOB * SLICE ? span.end : first + JOB * SLICE, queries };
	}
}

/* The rows of the cells nearest to the group's queries, cells [GROUP, probe]: the nearest cells first, because they soon show
 * which rows need no comparison. */
static void
add_cells(struct scan *scan, const uint32_t *cells)
{
	const struct vector_index *index = scan->index;
	int64_t probe = scan->options->probe;
	uint32_t *wanted = mem_zero((size_t)index->cells, sizeof *wanted);

	for (int64_t i = 0; i < scan->count * probe; i++)
		wanted[cells[i]] |= 1U << i / probe;
	for (int64_t rank = 0; rank < probe; rank++)
		for (int64_t q = 0; q < scan->count; q++) {
			uint32_t cell = cells[q * probe + rank];
			for (int64_t part = 0; part < index->parts && wanted[cell];
			     part++)
				add_jobs(scan, vector_index_cell(index, part, cell),
				    wanted[cell]);
			wanted[cell] = 0;
		}
	free(wanted);
}

/* Hits. ------------------------------------------------------------------------------ */

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
code_query(struct scan *scan, int64_t q)
{
	const struct vector_index *index = scan->index;
	const float *query = scan->queries + q * index->width;

	scan->coded[q] = code_query_new(query, &index->columns, index->width);
	if (scan->options->rescore)
		code_query_planes(&scan->coded[q], query, &index->columns, index->width);
}

/* cells [GROUP, probe]: those to scan; NULL: all rows. */
static void
scan_group(struct scan *scan, const uint32_t *cells)
{
	const struct vector_index *index = scan->index;

	scan->jobs_count = 0;
	if (cells)
		add_cells(scan, cells);
	else
		add_jobs(scan, (struct cell_span){ 0, index->rows }, UINT32_MAX);
	for (int64_t q = 0; q < scan->count; q++)
		code_query(scan, q);
	nn_parallel_for(scan->jobs_count, work, scan);
	for (int64_t q = 0; q < scan->count; q++)
		code_query_free(&scan->coded[q]);
}

/* [count, probe], or NULL: all. */
static uint32_t *
probed_cells(
    const struct vector_index *index, const float *queries, int64_t count, int64_t probe)
{
	if (!probe)
		return NULL;
	uint32_t *cells =
	    mem_new(mem_multiply((size_t)count, (size_t)probe, "cells"), sizeof *cells);
	cells_nearest(cells, (int)probe, queries, count, index->centroids, index->cells,
	    index->width);
	return cells;
}

struct hit *
vector_scan(const struct vector_index *index, const float *queries, int64_t count,
    const struct vector_search_options *options, struct hits *hits)
{
	int64_t depth = options->depth < index->rows ? options->depth : index->rows;
	int64_t wanted = options->rescore && options->rescore < index->rows / depth
			     ? options->rescore * depth
			     : index->rows;
	struct scan scan = { .index = index,
		.options = options,
		.code_sums = code_sums_best(),
		.bit_sums = bit_sums_best(),
		.exact = { depth, vector_index_order, index, index->passages },
		.rough = { .depth = wanted } };
	int64_t room = top_hits_room(options->rescore ? wanted : depth);
	size_t workers = nn_workers() * GROUP;
	struct hit *memory =
	    mem_new(mem_multiply((size_t)count, (size_t)depth, "hits"), sizeof *memory);
	struct hit *room_of_tops =
	    mem_new(mem_multiply(workers, (size_t)room, "hits"), sizeof *room_of_tops);

	uint32_t *cells = probed_cells(index, queries, count, options->probe);

	scan.tops = mem_new(workers, sizeof *scan.tops);
	for (int64_t first = 0; first < count; first += GROUP) {
		scan.queries = queries + first * index->width;
		scan.excluded = options->excluded + first;
		scan.count = count - first < GROUP ? count - first : GROUP;
		start_tops(&scan, room_of_tops, room);
		scan_group(&scan, cells ? cells + first * options->probe : NULL);
		for (int64_t q = 0; q < scan.count; q++) {
			hits[first + q].at = memory + (first + q) * depth;
			finish_query(&scan, q, &hits[first + q]);
		}
	}
	free(cells);
	free(scan.jobs);
	free(scan.tops);
	free(room_of_tops);
	return memory;
}
