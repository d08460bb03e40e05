#include "search/index_search.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "nn/nn.h"
#include "search/index_columns.h"
#include "search/search.h"
#include "search/vector_walk.h"

enum {
	MANY = 10, /* --beam follows links if one row of MANY passes the conditions */
	FEW = 32,  /* queries up to which a scan of codes is quicker than a GEMM */
	BLOCK_ROWS = 1 << 16 /* rows that are searched at once */
};

struct vector_index *
index_search_open(const struct search_options *options)
{
	int found = 0;

	for (int i = 0; i < options->streams; i++)
		found += vector_index_is(options->corpus[i]);
	if (!found && options->rescore)
		die_usage("--rescore needs an index, as 'mts index' makes it");
	if (!found && options->probe)
		die_usage("--probe needs an index, as 'mts index --cells' makes it");
	if (!found && options->beam)
		die_usage("--beam needs an index, as 'mts index --graph' makes it");
	if (options->beam && options->rescore)
		die_usage("--beam and --rescore exclude each other");
	if (options->beam && options->probe)
		die_usage("--beam and --probe exclude each other");
	if (!found)
		return NULL;
	if (options->streams > 1)
		die_usage(
		    "an index is searched alone: 'mts index --append' adds streams to it, and near --merge merges the runs of several");
	if (options->candidates)
		die("%s: is an index; candidates are scored in streams only",
		    options->corpus[0]);
	if (options->self)
		die("%s: is an index; --self reads a stream", options->corpus[0]);
	if (options->show)
		die("%s: is an index, which shows the texts that it was made with; make one of a stream whose column is called text (mts cat --rename)",
		    options->corpus[0]);
	struct vector_index *index = vector_index_open(options->corpus[0]);
	if (options->probe && !index->cells)
		die_usage("--probe: %s has no cells, which 'mts index --cells' makes",
		    index->name);
	if (options->beam && !index->degree)
		die_usage("--beam: %s has no graph, which 'mts index --graph' makes",
		    index->name);
	if (options->best && !index->passages)
		die_usage(
		    "--best: %s has one row of each id; 'mts index --best' keeps all",
		    index->name);
	if (options->where_count)
		index_columns_choose(index, options->where, options->where_count);
	return index;
}

int64_t
index_search_probe(const char *text)
{
	char *end = NULL;
	long long cells = text ? strtoll(text, &end, 10) : 0;

	if (!text || !strcmp(text, "all"))
		return 0;
	if (end == text || *end || cells < 1)
		die_usage("--probe: '%s' is neither a number from 1 nor 'all'", text);
	return cells;
}

void
index_search_agree(const struct vector_index *index, const struct rows *queries,
    enum similarity similarity, const struct search_options *options)
{
	struct vectors_origin origin = vector_index_origin(index);
	const char *field = options->field,
		   *column = tree_string(index->about, "column", "");

	if (field && strcmp(field, index->field) != 0 && strcmp(field, column) != 0)
		die("%s: its vectors are those of the column %s, not of '%s'",
		    index->name, column, field);
	rows_agree_with(queries, &origin);
	if (similarity != index->similarity)
		die("%s: its vectors are compared by %s, those of %s by %s; make the index with --similarity %s",
		    index->name, similarity_name(index->similarity), rows_stream(queries),
		    similarity_name(similarity), similarity_name(similarity));
	if (options->reason && index->ids == ROW_PLACES)
		die("%s: its rows have no ids, %s", index->name, options->reason);
	if (options->exclude_self &&
	    (index->ids == ROW_PLACES || rows_ids(queries) == ROW_PLACES))
		die("%s and %s: without ids on both sides it is unknown which row is the query itself",
		    rows_stream(queries), index->name);
}

/* The row with each query's id, to be freed; UINT32_MAX: there is none, or it is not left out. */
static uint32_t *
find_own(const struct vector_index *index, const struct search_options *options,
    const struct run *run)
{
	int64_t count = strings_count(run->queries);
	uint32_t *own = mem_new((size_t)count, sizeof *own);

	for (int64_t i = 0; i < count; i++)
		own[i] = UINT32_MAX;
	for (int64_t row = 0; options->exclude_self && row < index->rows; row++) {
		size_t length;
		const char *id = vector_index_id(index, row, &length);
		int64_t query = strings_find(run->queries, id, length);
		if (query >= 0)
			own[query] = (uint32_t)row;
	}
	return own;
}

/* The rows that are searched by products of matrices, whose documents are numbered from 0. */
struct searched_rows {
	const struct vector_index *index;
	uint32_t *places; /* [passing], of their vectors, ascending; NULL: all */
	float *block;	  /* [BLOCK_ROWS, width], if not all, or decoded */
};

static struct searched_rows
searched_rows_new(const struct vector_index *index)
{
	struct searched_rows searched = { .index = index };
	int64_t count = 0;

	if (index->pass || index->codes_only)
		searched.block =
		    mem_new(BLOCK_ROWS * (size_t)index->width, sizeof *searched.block);
	if (!index->pass)
		return searched;
	searched.places = mem_new((size_t)index->passing + 1, sizeof *searched.places);
	for (int64_t place = 0; place < index->rows; place++)
		if (index->pass[place])
			searched.places[count++] = (uint32_t)place;
	return searched;
}

static void
searched_rows_free(struct searched_rows *searched)
{
	free(searched->places);
	free(searched->block);
}

/* The row of a document. */
static uint32_t
searched_row(const struct searched_rows *searched, uint32_t document)
{
	return vector_index_row(
	    searched->index, searched->places ? searched->places[document] : document);
}

static int
searched_order(const void *context, uint32_t a, uint32_t b)
{
	const struct searched_rows *searched = context;

	return vector_index_order(
	    searched->index, searched_row(searched, a), searched_row(searched, b));
}

/* The vectors of documents first .. first + count. */
static const float *
searched_block(const struct searched_rows *searched, int64_t first, int64_t count)
{
	int width = searched->index->width;

	if (!searched->block)
		return searched->index->vectors + first * width;
#pragma omp parallel for schedule(static)
	for (int64_t i = 0; i < count; i++) {
		float *to = searched->block + i * width;
		int64_t place =
		    searched->places ? searched->places[first + i] : first + i;
		const float *vector = vector_index_vector(searched->index, place, to);
		if (vector != to)
			memcpy(to, vector, (size_t)width * sizeof *to);
	}
	return searched->block;
}

/* Leaves out each query's own row, own [count]; UINT32_MAX: it has none. */
static void
exclude_own(struct search *search, const struct searched_rows *searched,
    const uint32_t *own, int64_t count)
{
	int64_t rows = searched->index->rows;
	uint32_t *document = mem_new((size_t)rows, sizeof *document); /* of a row */

	for (int64_t i = 0; i < rows; i++)
		document[i] = UINT32_MAX;
	for (int64_t i = 0; i < searched->index->passing; i++)
		document[searched_row(searched, (uint32_t)i)] = (uint32_t)i;
	for (int64_t i = 0; i < count; i++)
		if (own[i] != UINT32_MAX)
			search_exclude(search, i, document[own[i]]);
	free(document);
}

/* Compares all pairs, block by block. */
static struct hit *
search_all(const struct vector_index *index, const float *queries, int64_t count,
    const struct search_options *options, const uint32_t *own, struct hits *hits)
{
	struct searched_rows searched = searched_rows_new(index);
	struct search *search = search_new(queries, count, index->width, options->depth,
	    options->threshold, searched_order, &searched);

	if (index->passages)
		search_passages(search);
	if (options->exclude_self)
		exclude_own(search, &searched, own, count);
	for (int64_t first = 0; first < index->passing; first += BLOCK_ROWS) {
		int64_t left = index->passing - first,
			some = left < BLOCK_ROWS ? left : BLOCK_ROWS;
		search_add(
		    search, searched_block(&searched, first, some), some, index->longest);
	}
	struct hit *memory = search_finish(search, hits);
	for (int64_t i = 0; i < count; i++)
		for (int64_t j = 0; j < hits[i].count; j++)
			hits[i].at[j].document =
			    searched_row(&searched, hits[i].at[j].document);
	searched_rows_free(&searched);
	return memory;
}

/* The number of a row of the index in the run's documents.  passages: the rows so far; then each has its own number, since it has
 * its own text.  NULL: rows with the same id have one. */
static int64_t
name_row(const struct vector_index *index, struct run *run, struct strings *passages,
    uint32_t row)
{
	size_t length;
	const char *id = vector_index_id(index, row, &length);
	bool fresh;

	if (!passages)
		return strings_add(run->documents, id, length, NULL);
	int64_t number = strings_add(passages, (const char *)&row, sizeof row, &fresh);
	if (!fresh)
		return number;
	int64_t first = strings_add(run->documents, id, length, &fresh);
	return fresh ? first : strings_repeat(run->documents, first);
}

/* Names the documents of the hits, whose numbers are rows, in the run; all documents if these have no ids, or as the options ask. */
static void
name_hits(const struct vector_index *index, const struct search_options *options,
    struct run *run)
{
	bool places = index->ids == ROW_PLACES;
	struct strings *passages =
	    index->passages && options->texts ? strings_new() : NULL;

	for (int64_t row = 0; (places || options->named) && row < index->rows; row++) {
		size_t length = 0;
		if (!places && index->removed && index->removed[row])
			continue;
		const char *id = places ? "" : vector_index_id(index, row, &length);
		strings_add(run->documents, id, length, NULL);
	}
	for (int64_t i = 0; i < strings_count(run->queries); i++)
		for (int64_t j = 0; j < run->hits[i].count; j++) {
			uint32_t *document = &run->hits[i].at[j].document,
				 row = *document;
			size_t length;
			if (!places)
				*document = (uint32_t)name_row(index, run, passages, row);
			if (!options->texts || !index->texts)
				continue;
			const char *text = vector_index_text(index, row, &length);
			row_texts_put(&run->document_texts, *document, text, length);
		}
	strings_free(passages);
}

void
index_search(const struct vector_index *index, const float *queries, double longest,
    const struct search_options *options, struct run *run)
{
	int64_t count = strings_count(run->queries);
	uint32_t *own = find_own(index, options, run);
	struct vector_search_options how = { .depth = options->depth,
		.threshold = options->threshold,
		.excluded = own,
		.rescore = options->rescore,
		.probe = options->probe < index->cells ? options->probe : 0,
		.beam = options->beam > options->depth ? options->beam : options->depth };

	if (!index->rows)
		die("%s: there is no document in it", index->name);
	if (longest * index->longest > FLT_MAX)
		die("%s: a dot product with a query may exceed float32: its longest vector is %g long, the longest query %g; scale the vectors, or compare by cosine",
		    index->name, index->longest, longest);
	run->places = index->rows;
	run->hits = mem_zero((size_t)count, sizeof *run->hits);
	if (options->beam && index->rows <= MANY * index->passing)
		run->memory = vector_walk(index, queries, count, &how, run->hits);
	else if (options->rescore || how.probe || (count <= FEW && !nn_device()))
		run->memory = vector_scan(index, queries, count, &how, run->hits);
	else
		run->memory = search_all(index, queries, count, options, own, run->hits);
	name_hits(index, options, run);
	free(own);
}
