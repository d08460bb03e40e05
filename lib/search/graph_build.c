/*
 * Rows join the graph in a random order and in groups, each at most as large as the graph is, or GROUP: the rows of a group are searched
 * for in the graph as it was, then linked (ParlayANN: Dobson et al., 2023).  So threads do not change the result.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/progress.h"
#include "nn/nn.h"
#include "search/graph.h"
#include "search/similarity.h"

enum { BEAM = 100, GROUP = 4096, JOB = 8 };

/* A link is left out if a nearer row, already linked, is nearer to its end by this factor; distances are squared. */
static const double ALPHA = 1.1;

/* Memory of a worker. */
struct builder {
	struct graph_walk walk;
	struct hit *rows; /* candidates, best first */
	size_t room;	  /* of rows */
};

/* A link that the row `to` gets because `from` has one to it. */
struct back_link {
	uint32_t to, from;
};

struct graph_build {
	struct graph graph; /* links [rows, room], while they grow */
	const float *vectors;
	const struct code_columns *columns;
	double longest; /* squared length of a vector */
	uint32_t *links;
	int degree;
	float *extra; /* [rows] */
	struct builder *builders;
	uint32_t starts[GRAPH_STARTS];
	int64_t starts_count;
	const uint32_t *group; /* rows that join */
	int64_t count;
	struct back_link *back; /* sorted by `to`; [back_count] */
	size_t back_count;
	int64_t *ends; /* of the back links of one row; [ends_count] */
	int64_t ends_count;
};

static struct code_query
query_of(const struct graph_build *build, uint32_t row)
{
	return code_query_new(build->vectors + (int64_t)row * build->graph.width,
	    build->columns, build->graph.width);
}

/* A distance; that of rows with nearly equal codes is 0, so that one of them is enough. */
static double
distance_of(const struct graph_build *build, float score)
{
	double distance = build->longest - (double)score;

	return distance > 1e-5 * build->longest ? distance : 0;
}

/* Marks the candidates [count] to which the row `near` is nearer than the row whose candidates they are. */
static void
mark_covered(struct graph_build *build, uint32_t near, const struct hit *candidates,
    bool *covered, int64_t count)
{
	struct code_query query = query_of(build, near);

	for (int64_t i = 0; i < count; i++)
		if (!covered[i])
			covered[i] =
			    ALPHA * distance_of(build, graph_score(&build->graph, &query,
							   build->extra[near],
							   candidates[i].document)) <=
			    distance_of(build, candidates[i].score);
	code_query_free(&query);
}

/* Writes the links of a row: to candidates, the nearest first, to which no row that is linked already is nearer; then to the nearest others. */
static void
link_row(
    struct graph_build *build, uint32_t row, const struct hit *candidates, int64_t count)
{
	uint32_t *links = build->links + (int64_t)row * build->graph.room;
	bool *covered = mem_zero((size_t)count + 1, sizeof *covered);
	int64_t linked = 0;

	for (int64_t i = 0; i < count && linked < build->degree; i++)
		if (!covered[i]) {
			links[linked++] = candidates[i].document;
			mark_covered(build, candidates[i].document, candidates + i + 1,
			    covered + i + 1, count - i - 1);
		}
	for (int64_t i = 0; i < count && linked < build->degree; i++)
		if (covered[i])
			links[linked++] = candidates[i].document;
	for (; linked < build->graph.room; linked++)
		links[linked] = GRAPH_END;
	free(covered);
}

static void
join_rows(void *context, size_t worker, size_t which)
{
	struct graph_build *build = context;
	struct builder *builder = &build->builders[worker];
	int64_t end = (int64_t)(which + 1) * JOB;

	for (int64_t i = end - JOB; i < end && i < build->count; i++) {
		uint32_t row = build->group[i];
		struct code_query query = query_of(build, row);
		graph_search(&builder->walk, &build->graph, &query, build->extra[row],
		    build->starts, build->starts_count);
		code_query_free(&query);
		link_row(build, row, builder->walk.found, builder->walk.count);
	}
}

static int64_t
count_links(const struct graph_build *build, uint32_t row)
{
	const uint32_t *links = build->links + (int64_t)row * build->graph.room;
	int64_t count = 0;

	while (count < build->graph.room && links[count] != GRAPH_END)
		count++;
	return count;
}

/* Chooses among the links of a row and further ones. */
static void
choose_links(struct graph_build *build, struct builder *builder, uint32_t row,
    const struct back_link *more, int64_t count)
{
	const uint32_t *links = build->links + (int64_t)row * build->graph.room;
	int64_t linked = count_links(build, row);
	size_t all = (size_t)(linked + count);
	struct hit *candidates = builder->rows =
	    mem_grow(builder->rows, &builder->room, all, sizeof *candidates);
	struct top_hits top = { .hits = candidates, .count = linked + count };
	struct code_query query = query_of(build, row);

	for (int64_t i = 0; i < top.count; i++) {
		uint32_t near = i < linked ? links[i] : more[i - linked].from;
		candidates[i] = (struct hit){
			graph_score(&build->graph, &query, build->extra[row], near), near
		};
	}
	code_query_free(&query);
	top_hits_sort(&top, &(struct hit_ranking){ .depth = top.count });
	link_row(build, row, candidates, top.count);
}

static void
link_back(void *context, size_t worker, size_t which)
{
	struct graph_build *build = context;
	int64_t first = which ? build->ends[which - 1] : 0,
		count = build->ends[which] - first;
	const struct back_link *back = build->back + first;
	uint32_t row = back->to;
	int64_t linked = count_links(build, row);

	if (linked + count > build->graph.room) {
		choose_links(build, &build->builders[worker], row, back, count);
		return;
	}
	for (int64_t i = 0; i < count; i++)
		build->links[(int64_t)row * build->graph.room + linked + i] =
		    back[i].from;
}

static int
by_ends(const void *a, const void *b)
{
	const struct back_link *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Lists the back links of the group by the rows that get them. */
static void
sort_back_links(struct graph_build *build)
{
	build->back_count = 0;
	for (int64_t i = 0; i < build->count; i++) {
		uint32_t row = build->group[i];
		const uint32_t *links = build->links + (int64_t)row * build->graph.room;
		for (int64_t j = 0; j < build->degree && links[j] != GRAPH_END; j++)
			build->back[build->back_count++] =
			    (struct back_link){ links[j], row };
	}
	qsort(build->back, build->back_count, sizeof *build->back, by_ends);
	build->ends_count = 0;
	for (size_t i = 1; i <= build->back_count; i++)
		if (i == build->back_count || build->back[i].to != build->back[i - 1].to)
			build->ends[build->ends_count++] = (int64_t)i;
}

static void
join_all(struct graph_build *build, const uint32_t *order, int64_t count)
{
	struct progress *progress = progress_new("rows linked", count);

	build->starts_count = graph_starts(&build->graph, build->starts);
	build->back = mem_new(
	    mem_multiply(GROUP, (size_t)build->degree, "links"), sizeof *build->back);
	build->ends = mem_new(
	    mem_multiply(GROUP, (size_t)build->degree, "links"), sizeof *build->ends);
	for (int64_t done = 1; done < count; done += build->count) {
		build->count = done < GROUP ? done : GROUP;
		if (build->count > count - done)
			build->count = count - done;
		if (done < build->starts_count)
			build->count = 1;
		build->group = order + done;
		int64_t starts = build->starts_count;
		build->starts_count = done < starts ? done : starts;
		nn_parallel_for((size_t)(build->count + JOB - 1) / JOB, join_rows, build);
		build->starts_count = starts;
		sort_back_links(build);
		nn_parallel_for((size_t)build->ends_count, link_back, build);
		progress_add(progress, build->count);
	}
	progress_free(progress);
	free(build->back);
	free(build->ends);
}

static void
cut_links(void *context, size_t worker, size_t row)
{
	struct graph_build *build = context;

	if (count_links(build, (uint32_t)row) > build->degree)
		choose_links(build, &build->builders[worker], (uint32_t)row, NULL, 0);
}

static float *
extra_numbers(const struct graph_build *build)
{
	int width = build->graph.width;
	float *extra = mem_new((size_t)build->graph.rows, sizeof *extra);

	for (int64_t row = 0; row < build->graph.rows; row++) {
		const float *x = build->vectors + row * width;
		double square = similarity_dot(x, x, width);
		extra[row] = (float)sqrt(fmax(build->longest - square, 0));
	}
	return extra;
}

void
graph_build(uint32_t *links, int degree, const struct graph *graph, const float *vectors,
    const struct code_columns *columns, double longest)
{
	struct graph_build build = { .graph = *graph,
		.vectors = vectors,
		.columns = columns,
		.longest = longest * longest,
		.degree = degree };
	size_t rows = (size_t)graph->rows;
	uint32_t *order = mem_new(rows, sizeof *order);
	int64_t count = 0;

	build.graph.room = degree + degree / 2;
	build.links = mem_new(
	    mem_multiply(rows, (size_t)build.graph.room, "links"), sizeof *build.links);
	memset(build.links, 0xff, rows * (size_t)build.graph.room * sizeof *build.links);
	build.graph.links = build.links;
	build.extra = extra_numbers(&build);
	build.graph.extra = build.extra;
	build.builders = mem_zero(nn_workers(), sizeof *build.builders);
	for (size_t w = 0; w < nn_workers(); w++)
		build.builders[w].walk = graph_walk_new(BEAM);
	for (int64_t i = 0; i < graph->rows; i++) {
		uint32_t row = graph_order(graph, i);
		if (isfinite(graph->errors[row]))
			order[count++] = row;
	}
	join_all(&build, order, count);
	nn_parallel_for(rows, cut_links, &build);
	for (size_t row = 0; row < rows; row++)
		memcpy(links + row * (size_t)degree,
		    build.links + row * (size_t)build.graph.room,
		    (size_t)degree * sizeof *links);
	for (size_t w = 0; w < nn_workers(); w++) {
		graph_walk_free(&build.builders[w].walk);
		free(build.builders[w].rows);
	}
	free(build.builders);
	free(build.extra);
	free(build.links);
	free(order);
}
