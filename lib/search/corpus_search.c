#include "search/corpus_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "search/search.h"
#include "search/vectors.h"

enum { BLOCK_BYTES = 32 << 20, LEAST_BLOCK_BYTES = 1 << 20 };

/* What was met on the way and has to be told once: how many, and which was the first. */
struct noted {
	int64_t count;
	char *first;
};

/* That a document is to be compared with a query. */
struct candidate {
	int64_t query, before; /* before: the document's one before, or -1 */
};

/* All of them, from a file. */
struct candidates {
	struct run *run;
	struct candidate *at;
	int64_t count, *last; /* last [documents of the run]: or -1 */
	size_t room;
};

struct searching {
	const struct search_options *options;
	struct run *run;
	int width;
	float *queries;	  /* [queries, width] */
	size_t room;	  /* of them */
	float *documents; /* [block, width] */
	int64_t block, held;
	struct noted nan, zero, repeated, unwanted;
	struct search *search; /* or: */
	struct candidates candidates;
	struct findings findings;
};

enum { SHOWN = 100 };

static void
note(struct noted *noted, const char *id, size_t length)
{
	if (noted->count++ == 0)
		noted->first =
		    mem_format("%.*s", length < SHOWN ? (int)length : SHOWN, id);
}

static void
tell(struct noted *noted, const char *stream, const char *what)
{
	if (noted->count)
		warn("%s: %lld %s; first: '%s'", stream, (long long)noted->count, what,
		    noted->first);
	free(noted->first);
	*noted = (struct noted){ 0 };
}

/* What is done with each row of a stream. */
typedef void take_row(
    struct searching *searching, const char *id, size_t length, const float *vector);

/* Closes the stream; returns how many rows there were. */
static int64_t
read_rows(struct searching *searching, struct vectors *vectors, const char *unit,
    take_row *take)
{
	static const char *const names[] = { "_id", "id", NULL };
	struct reader *reader = vectors->reader;
	struct progress *progress = progress_new(unit, 0);
	struct record record;
	int id_at = values_find(reader, names);
	int64_t rows = 0;

	if (id_at < 0)
		die("%s: there is no column '_id' or 'id', by which the qrels name the "
		    "rows",
		    stream_name(reader));
	values_single(reader, id_at, 0);
	while (stream_next(reader, &record)) {
		vectors_load(vectors, &record);
		for (int64_t row = 0; row < record.rows; row++) {
			char text[VALUES_ROOM];
			size_t length;
			const char *id = values_text(stream_column(reader, id_at),
			    &record.columns[id_at], row, text, &length);
			take(searching, id, length, vectors->raw + row * vectors->width);
		}
		progress_add(progress, record.rows);
		rows += record.rows;
	}
	tell(&searching->nan, stream_name(reader),
	    "embeddings are not finite: their similarities count as -1, as in the "
	    "reference");
	tell(&searching->zero, stream_name(reader),
	    "embeddings are zero: their similarities are 0");
	tell(&searching->repeated, stream_name(reader),
	    "rows repeat an id: the first one of each id counts");
	progress_free(progress);
	vectors_close(vectors);
	stream_close(reader);
	return rows;
}

static void
put_vector(struct searching *searching, float *to, const float *from, const char *id,
    size_t length)
{
	int width = searching->width;
	double square = similarity_unit(to, from, width);

	if (!isfinite(square))
		note(&searching->nan, id, length);
	else if (square == 0)
		note(&searching->zero, id, length);
	if (isfinite(square) && searching->options->similarity != SIMILARITY_COSINE)
		memcpy(to, from, (size_t)width * sizeof *to);
}

static void
take_query(
    struct searching *searching, const char *id, size_t length, const float *vector)
{
	size_t bytes = (size_t)searching->width * sizeof *searching->queries;
	bool fresh;

	if (searching->options->wanted &&
	    strings_find(searching->options->wanted, id, length) < 0) {
		note(&searching->unwanted, id, length);
		return;
	}
	int64_t number = strings_add(searching->run->queries, id, length, &fresh);
	if (!fresh) {
		note(&searching->repeated, id, length);
		return;
	}
	searching->queries =
	    mem_grow(searching->queries, &searching->room, (size_t)number + 1, bytes);
	put_vector(searching, searching->queries + number * searching->width, vector, id,
	    length);
}

/* What a reranking task adds: which documents a query is compared with. */
static void
read_candidates(struct searching *searching, const char *path)
{
	struct candidates *all = &searching->candidates;
	const struct strings *queries = searching->run->queries;
	struct noted without = { 0 };

	all->run = run_read_candidates(path);
	int64_t documents = strings_count(all->run->documents);
	all->last = mem_new((size_t)documents, sizeof *all->last);
	for (int64_t i = 0; i < documents; i++)
		all->last[i] = -1;
	for (int64_t i = 0; i < strings_count(queries); i++) {
		const char *id = strings_get(queries, i);
		size_t length = strings_length(queries, i);
		int64_t number = strings_find(all->run->queries, id, length);
		if (number < 0) {
			note(&without, id, length);
			continue;
		}
		const struct hits *hits = &all->run->hits[number];
		all->at = mem_grow(all->at, &all->room,
		    (size_t)(all->count + hits->count), sizeof *all->at);
		for (int64_t j = 0; j < hits->count; j++) {
			int64_t *last = &all->last[hits->at[j].document];
			all->at[all->count] = (struct candidate){ i, *last };
			*last = all->count++;
		}
	}
	tell(&without, path, "queries have no candidates: nothing is found for them");
	if (all->count == 0)
		die("%s: there is no candidate for any query of %s", path,
		    searching->options->queries);
}

static void
compare_candidate(struct searching *searching, const char *id, size_t length,
    int64_t document, const float *vector)
{
	const struct candidates *all = &searching->candidates;
	int64_t number = strings_find(all->run->documents, id, length);

	for (int64_t i = number < 0 ? -1 : all->last[number]; i >= 0;
	     i = all->at[i].before) {
		int64_t query = all->at[i].query;
		double score =
		    similarity_dot(searching->queries + query * searching->width, vector,
			searching->width);
		run_put(&searching->findings, query, document,
		    isnan(score) ? -1 : (float)score);
	}
}

static void
free_candidates(struct searching *searching)
{
	struct candidates *all = &searching->candidates;
	const struct strings *documents = all->run->documents;
	struct noted absent = { 0 };

	for (int64_t i = 0; i < strings_count(documents); i++) {
		const char *id = strings_get(documents, i);
		size_t length = strings_length(documents, i);
		if (strings_find(searching->run->documents, id, length) < 0)
			note(&absent, id, length);
	}
	tell(&absent, searching->options->candidates,
	    "candidates are not in the corpus: they are not found");
	run_free(all->run);
	free(all->at);
	free(all->last);
}

static void
take_document(
    struct searching *searching, const char *id, size_t length, const float *vector)
{
	struct run *run = searching->run;
	bool fresh;

	int64_t number = strings_add(run->documents, id, length, &fresh);
	if (!fresh) {
		note(&searching->repeated, id, length);
		return;
	}
	float *to = searching->documents + searching->held * searching->width;
	put_vector(searching, to, vector, id, length);
	if (searching->options->candidates) {
		compare_candidate(searching, id, length, number, to);
	} else if (++searching->held == searching->block) {
		search_add(searching->search, searching->documents, searching->held);
		searching->held = 0;
	}
}

static int
by_id(const void *names, uint32_t a, uint32_t b)
{
	return strings_compare(names, a, b);
}

/* What a block of documents may take beside the queries and their hits. */
static size_t
block_bytes(const struct searching *searching, size_t vector_bytes)
{
	int64_t count = strings_count(searching->run->queries),
		depth = searching->options->depth;
	size_t memory = searching->options->memory;
	size_t taken = mem_add(mem_multiply((size_t)count, vector_bytes, "queries"),
	    mem_add(search_memory(count, depth), LEAST_BLOCK_BYTES, "queries"),
	    "queries");

	if (memory && memory < taken)
		die("%s: %lld queries with %lld hits each take %zu MB; allow that with "
		    "--memory, or search for fewer at a time",
		    searching->options->queries, (long long)count, (long long)depth,
		    taken / 1000000 + 1);
	size_t left = memory ? memory - taken + LEAST_BLOCK_BYTES : BLOCK_BYTES;
	return left < BLOCK_BYTES ? left : BLOCK_BYTES;
}

static void
start_search(struct searching *searching)
{
	struct run *run = searching->run;
	size_t bytes = mem_multiply((size_t)searching->width, sizeof(float), "documents");

	searching->block = (int64_t)(block_bytes(searching, bytes) / bytes) + 1;
	searching->documents = mem_new((size_t)searching->block, bytes);
	if (!searching->options->candidates)
		searching->search = search_new(searching->queries,
		    strings_count(run->queries), searching->width,
		    searching->options->depth, by_id, run->documents);
}

static void
finish_search(struct searching *searching)
{
	struct run *run = searching->run;

	if (searching->options->candidates) {
		free_candidates(searching);
		run_settle(run, &searching->findings, searching->options->depth, NULL);
	} else {
		search_add(searching->search, searching->documents, searching->held);
		run->hits =
		    mem_new((size_t)strings_count(run->queries), sizeof *run->hits);
		run->memory = search_finish(searching->search, run->hits);
	}
	free(searching->documents);
	free(searching->queries);
}

/* Die unless there is a query to search for. */
static void
check_queries(struct searching *searching, int64_t rows)
{
	const char *path = searching->options->queries;

	if (rows == 0)
		die("%s: there is no query in it", path);
	if (strings_count(searching->run->queries) == 0)
		die("%s: none of its %lld ids is judged (judged is, for one, '%s'); are "
		    "these the queries of those qrels?",
		    path, (long long)rows, strings_get(searching->options->wanted, 0));
	tell(&searching->unwanted, path, "queries have no judgements: they are left out");
}

struct run *
corpus_search(const struct search_options *options)
{
	const char *const paths[2] = { options->queries, options->corpus };
	struct vectors *both[2];

	for (int i = 0; i < 2; i++)
		both[i] =
		    vectors_open(stream_open(paths[i]), options->field, VECTORS_NAN);
	vectors_agree(both[0], both[1], options->any_model);
	struct searching searching = {
		.options = options, .run = run_new(), .width = both[0]->width
	};
	check_queries(&searching, read_rows(&searching, both[0], "queries", take_query));
	if (options->candidates)
		read_candidates(&searching, options->candidates);
	start_search(&searching);
	read_rows(&searching, both[1], "documents", take_document);
	if (strings_count(searching.run->documents) == 0)
		die("%s: there is no document in it", options->corpus);
	finish_search(&searching);
	return searching.run;
}
