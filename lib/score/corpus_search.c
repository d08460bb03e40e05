#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "score/candidates.h"
#include "score/run.h"
#include "score/report.h"
#include "score/tally.h"
#include "stream/stream.h"
#include "stream/values.h"

enum { BLOCK_BYTES = 32 << 20, LEAST_BLOCK_BYTES = 1 << 20 };

struct searching {
	const struct run_options *options;
	struct run *run;
	size_t room;	  /* queries */
	float *documents; /* [block, width] */
	int64_t block, held;
	struct tally nan, zero, repeated, unwanted;
	struct candidates *candidates; /* or NULL */
};

/* What is done with each row of a stream. */
typedef void take_row(
    struct searching *searching, const char *id, size_t length, const float *vector);

/* Closes the stream; returns how many rows there were. */
static int64_t
read_rows(
    struct searching *searching, struct reader *reader, const char *unit, take_row *take)
{
	static const char *const names[] = { "_id", "id", NULL };
	struct progress *progress = progress_new(unit, 0);
	struct floats room = { 0 };
	struct record record;
	int emb = values_embedding(reader, searching->options->field, 0);
	int id_at = values_find(reader, names), width = searching->run->width;
	int64_t rows = 0;

	if (id_at < 0)
		die("%s: there is no column '_id' or 'id', by which the qrels name the "
		    "rows",
		    stream_name(reader));
	values_single(reader, id_at, 0);
	while (stream_next(reader, &record)) {
		const float *vectors = values_floats(
		    stream_column(reader, emb), &record.columns[emb], record.rows, &room);
		for (int64_t row = 0; row < record.rows; row++) {
			char text[VALUES_ROOM];
			size_t length;
			const char *id = values_text(stream_column(reader, id_at),
			    &record.columns[id_at], row, text, &length);
			take(searching, id, length, vectors + row * width);
		}
		progress_add(progress, record.rows);
		rows += record.rows;
	}
	tally_tell(&searching->nan, stream_name(reader),
	    "embeddings are not finite: their similarities count as -1, as in the "
	    "reference");
	tally_tell(&searching->zero, stream_name(reader),
	    "embeddings are zero: their similarities are 0");
	tally_tell(&searching->repeated, stream_name(reader),
	    "rows repeat an id: the first one of each id counts");
	progress_free(progress);
	free(room.data);
	stream_close(reader);
	return rows;
}

static void
put_vector(struct searching *searching, float *to, const float *from, const char *id,
    size_t length)
{
	int width = searching->run->width;
	double square = similarity_unit(to, from, width);

	if (!isfinite(square))
		tally_note(&searching->nan, id, length);
	else if (square == 0)
		tally_note(&searching->zero, id, length);
	if (isfinite(square) && searching->options->similarity != SIMILARITY_COSINE)
		memcpy(to, from, (size_t)width * sizeof *to);
}

static void
take_query(
    struct searching *searching, const char *id, size_t length, const float *vector)
{
	const struct strings *wanted = searching->options->wanted;
	struct run *run = searching->run;
	size_t bytes = (size_t)run->width * sizeof *run->vectors;
	bool fresh;

	if (wanted && strings_find(wanted, id, length) < 0) {
		tally_note(&searching->unwanted, id, length);
		return;
	}
	int64_t number = strings_add(run->queries, id, length, &fresh);
	if (!fresh) {
		tally_note(&searching->repeated, id, length);
		return;
	}
	run->vectors =
	    mem_grow(run->vectors, &searching->room, (size_t)number + 1, bytes);
	put_vector(searching, run->vectors + number * run->width, vector, id, length);
}

static void
compare_candidate(struct searching *searching, const char *id, size_t length,
    int64_t document, const float *vector)
{
	struct run *run = searching->run;
	const int64_t *queries;
	int64_t count = candidates_queries(searching->candidates, id, length, &queries);

	for (int64_t i = 0; i < count; i++) {
		const float *query = run->vectors + queries[i] * run->width;
		double score = similarity_dot(query, vector, run->width);
		run_put(run, queries[i], document, isnan(score) ? -1 : (float)score);
	}
}

/* Documents are handed to the search in blocks that keep every core busy. */
static void
take_document(
    struct searching *searching, const char *id, size_t length, const float *vector)
{
	struct run *run = searching->run;
	bool fresh;

	int64_t number = strings_add(run->documents, id, length, &fresh);
	if (!fresh) {
		tally_note(&searching->repeated, id, length);
		return;
	}
	float *to = searching->documents + searching->held * run->width;
	put_vector(searching, to, vector, id, length);
	if (searching->candidates) {
		compare_candidate(searching, id, length, number, to);
	} else if (++searching->held == searching->block) {
		search_add(run->search, searching->documents, searching->held);
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
	size_t bytes = mem_multiply((size_t)run->width, sizeof(float), "documents");

	searching->block = (int64_t)(block_bytes(searching, bytes) / bytes) + 1;
	searching->documents = mem_new((size_t)searching->block, bytes);
	if (!searching->candidates)
		run->search = search_new(run->vectors, strings_count(run->queries),
		    run->width, searching->options->depth, by_id, run->documents);
}

struct run *
run_search(const struct run_options *options)
{
	struct run *run = run_new();
	struct searching searching = { .options = options, .run = run };
	struct reader *queries = stream_open(options->queries);
	struct reader *corpus = stream_open(options->corpus);
	int emb = values_embedding(queries, options->field, 0);

	score_one_model(queries, emb, corpus, values_embedding(corpus, options->field, 0),
	    options->any_model);
	run->width = values_width(queries, emb);
	int64_t rows = read_rows(&searching, queries, "queries", take_query);

	if (rows == 0)
		die("%s: there is no query in it", options->queries);
	if (strings_count(run->queries) == 0)
		die("%s: none of its %lld ids is judged (judged is, for one, '%s'); are "
		    "these the queries of those qrels?",
		    options->queries, (long long)rows, strings_get(options->wanted, 0));
	tally_tell(&searching.unwanted, options->queries,
	    "queries have no judgements: they are left out");
	if (options->candidates)
		searching.candidates =
		    candidates_read(options->candidates, run->queries, options->queries);
	start_search(&searching);
	read_rows(&searching, corpus, "documents", take_document);
	if (strings_count(run->documents) == 0)
		die("%s: there is no document in it", options->corpus);
	if (options->candidates) {
		candidates_close(searching.candidates, run->documents);
		run_settle(run, options->depth, NULL);
	} else {
		search_add(run->search, searching.documents, searching.held);
	}
	free(searching.documents);
	return run;
}
