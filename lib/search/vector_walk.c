#include "search/vector_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/nn.h"
#include "search/graph.h"

/* The graph of a part of the index. */
struct walked_part {
	struct graph graph;
	int64_t first; /* place of its first vector */
	uint32_t starts[GRAPH_STARTS];
	int64_t starts_count;
};

/* Memory of a worker. */
struct walker {
	struct graph_walk walk;
	uint32_t *places; /* [beam] */
	struct hit *hits; /* [top_hits_room(depth)] */
};

struct walks {
	const struct vector_index *index;
	const struct vector_search_options *options;
	const float *queries;
	int64_t beam; /* rows that pass or not: so many that about options->beam pass */
	struct walked_part *parts;
	struct walker *walkers;
	struct hit_ranking ranking;
	struct hits *hits;
};

static struct walked_part
part_of(const struct vector_index *index, const char *name, int64_t part)
{
	int64_t first = index->part_starts[part];
	struct walked_part walked = {
		.graph = { .name = name,
		    .codes = index->codes + (size_t)first * codes_stride(index->width),
		    .errors = index->errors + first,
		    .links = index->links + first * index->degree,
		    .rows = index->part_starts[part + 1] - first,
		    .room = index->degree,
		    .width = index->width,
		    .code_sums = code_sums_best() },
		.first = first,
	};

	walked.starts_count = graph_starts(&walked.graph, walked.starts);
	return walked;
}

/* Writes the places of the rows of a part that are compared exactly; returns their number. */
static int64_t
choose(struct walker *walker, const struct walked_part *part,
    const struct code_query *query, int64_t beam)
{
	int64_t rows = part->graph.rows;

	if (rows <= beam) {
		for (int64_t i = 0; i < rows; i++)
			walker->places[i] = (uint32_t)(part->first + i);
		return rows;
	}
	graph_search(
	    &walker->walk, &part->graph, query, 0, part->starts, part->starts_count);
	for (int64_t i = 0; i < walker->walk.count; i++)
		walker->places[i] =
		    (uint32_t)part->first + walker->walk.found[i].document;
	return walker->walk.count;
}

/* Keeps the places of rows that pass; returns their number. */
static int64_t
keep_passing(const struct vector_index *index, uint32_t *places, int64_t count)
{
	int64_t kept = 0;

	for (int64_t i = 0; i < count; i++)
		if (!index->pass || index->pass[places[i]])
			places[kept++] = places[i];
	return kept;
}

static void
walk(void *context, size_t worker, size_t query)
{
	const struct walks *all = context;
	const struct vector_index *index = all->index;
	const struct vector_search_options *options = all->options;
	struct walker *walker = &all->walkers[worker];
	const float *q = all->queries + (int64_t)query * index->width;
	struct code_query coded = code_query_new(q, &index->columns, index->width);
	struct top_hits top = { walker->hits, 0, options->threshold };

	for (int64_t i = 0; i < index->parts; i++) {
		int64_t count = choose(walker, &all->parts[i], &coded, all->beam);
		count = keep_passing(index, walker->places, count);
		vector_rescore(index, q, options->excluded[query], &all->ranking, &top,
		    walker->places, count);
	}
	top_hits_sort(&top, &all->ranking);
	memcpy(all->hits[query].at, top.hits, (size_t)top.count * sizeof *top.hits);
	all->hits[query].count = top.count;
	code_query_free(&coded);
}

static void
start_walkers(struct walks *all)
{
	all->walkers = mem_new(nn_workers(), sizeof *all->walkers);
	for (size_t w = 0; w < nn_workers(); w++)
		all->walkers[w] = (struct walker){
			.walk = graph_walk_new(all->beam),
			.places =
			    mem_new((size_t)all->beam, sizeof *all->walkers->places),
			.hits = mem_new((size_t)top_hits_room(all->ranking.depth),
			    sizeof *all->walkers->hits),
		};
}

static void
end_walkers(struct walks *all)
{
	for (size_t w = 0; w < nn_workers(); w++) {
		graph_walk_free(&all->walkers[w].walk);
		free(all->walkers[w].places);
		free(all->walkers[w].hits);
	}
	free(all->walkers);
}

static int64_t
wide_beam(const struct vector_index *index, int64_t beam)
{
	double wide = (double)beam * (double)index->rows /
		      (double)(index->passing ? index->passing : 1);

	return wide < (double)index->rows ? (int64_t)ceil(wide) : index->rows;
}

struct hit *
vector_walk(const struct vector_index *index, const float *queries, int64_t count,
    const struct vector_search_options *options, struct hits *hits)
{
	int64_t depth = options->depth < index->rows ? options->depth : index->rows;
	char *name = mem_format("%s/%s", index->name, vector_index_names[INDEX_LINKS]);
	struct walks all = { .index = index,
		.options = options,
		.queries = queries,
		.beam = wide_beam(index, options->beam),
		.parts = mem_new((size_t)index->parts, sizeof *all.parts),
		.ranking = { depth, vector_index_order, index, index->passages },
		.hits = hits };
	struct hit *memory =
	    mem_new(mem_multiply((size_t)count, (size_t)depth, "hits"), sizeof *memory);

	for (int64_t i = 0; i < index->parts; i++)
		all.parts[i] = part_of(index, name, i);
	for (int64_t q = 0; q < count; q++)
		hits[q].at = memory + q * depth;
	start_walkers(&all);
	nn_parallel_for((size_t)count, walk, &all);
	end_walkers(&all);
	free(all.parts);
	free(name);
	return memory;
}
