#include "search/corpus_search.h"

#include <float.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "search/candidates.h"
#include "search/compared.h"
#include "search/index_search.h"
#include "search/rows.h"
#include "search/search.h"
#include "stream/text_column.h"

/* A block of terms: documents, whose sums fit a cache, and terms in all. */
enum { TERM_DOCUMENTS = 1 << 15, TERMS = 1 << 22 };
enum { BLOCK_BYTES = 16 << 20, LEAST_BLOCK_BYTES = 1 << 19, SLACK_TEXTS = 64 };

/* Seconds that queries wait for others: a corpus of streams is read anew for each answer. */
static const double patience = 0.02;

/* A document that is the query itself. */
struct self_match {
	int64_t query;
	uint32_t document;
};

/* Documents searched together. */
struct document_block {
	struct compared documents;
	int64_t first;
	struct self_match *own;
	int64_t owns;
	size_t own_room;
	struct text_column texts; /* of the documents */
	struct buffer there;	  /* a byte for each: whether it has a text */
};

struct corpus_search {
	const struct search_options *options;
	struct rows *queries_rows, *corpus; /* corpus NULL: an index */
	struct vector_index *index;
	struct strings *seen; /* ids of the queries of all runs */
	struct run *run;      /* the current one */
	int64_t runs;
	bool live;
	enum similarity similarity;
	struct compared queries;
	bool *same;	 /* [streams]: whether it is the file of the queries */
	int64_t block;	 /* vectors, or terms, per block */
	int64_t repeats; /* rows of the run's documents whose id an earlier row has */
	struct document_block blocks[2], *next;
	struct warning unwanted;
	struct search *search; /* of candidates only if these have vectors of tokens */
	struct candidate_lists *candidates;
};

static void
take_query(struct corpus_search *searching, const struct row *row)
{
	const struct strings *wanted = searching->options->wanted;
	bool fresh;

	if (wanted && strings_find(wanted, row->id, row->length) < 0) {
		warning_add(&searching->unwanted, row->id, row->length);
		return;
	}
	strings_add(searching->seen, row->id, row->length, &fresh);
	if (!fresh) {
		rows_note(searching->queries_rows, ROW_REPEATED, row);
		return;
	}
	int64_t number = strings_add(searching->run->queries, row->id, row->length, NULL);
	compared_add(&searching->queries, searching->queries_rows, row);
	if (searching->options->texts && row->text)
		row_texts_put(
		    &searching->run->query_texts, number, row->text, row->text_length);
}

/* Reads queries up to a pause or the end.  Dies if none is to be searched for. */
static void
read_queries(struct corpus_search *searching)
{
	const struct search_options *options = searching->options;
	struct rows *rows = searching->queries_rows;
	struct run *run = searching->run;
	double wait = searching->index ? 0 : patience;
	struct row row = { .number = -1 };

	while (
	    !(strings_count(run->queries) && searching->live && rows_wait(rows, wait)) &&
	    rows_next(rows, &row))
		take_query(searching, &row);
	if (strings_count(searching->seen))
		return;
	if (row.number < 0)
		die("%s: there is no query in it", options->queries);
	die("%s: none of its %lld ids has judgements (one that has is '%s'); are these the queries of those qrels?",
	    options->queries, (long long)row.number + 1, strings_get(options->wanted, 0));
}

/* Whether the conditions apply to the queries, too. */
static bool
some_of_self(const struct search_options *options)
{
	return options->self && options->where_count;
}

/* Documents. ------------------------------------------------------------------------ */

static void
take_own(struct corpus_search *searching, struct document_block *block,
    const struct row *row, int64_t document)
{
	int64_t query = -1;

	if (rows_ids(searching->corpus) != ROW_PLACES || some_of_self(searching->options))
		query = strings_find(searching->run->queries, row->id, row->length);
	else if (searching->same[rows_stream_number(searching->corpus)])
		query = row->number - rows_first(searching->corpus);
	if (query < 0 || query >= strings_count(searching->run->queries))
		return;
	block->own = mem_grow(
	    block->own, &block->own_room, (size_t)block->owns + 1, sizeof *block->own);
	block->own[block->owns++] = (struct self_match){ query, (uint32_t)document };
}

static void
take_text(struct document_block *block, const struct row *row)
{
	bool there = row->text != NULL;

	text_column_add(&block->texts, row->text, row->text_length);
	buffer_add(&block->there, &there, sizeof there);
}

/* The score of a candidate, the only document of its block. */
static double
score_pair(const void *context, int64_t query)
{
	const struct corpus_search *searching = context;

	return compared_score(
	    &searching->queries, query, &searching->next->documents, searching->search);
}

/* Returns false if the id is not new. */
static bool
take_document(
    struct corpus_search *searching, struct document_block *block, const struct row *row)
{
	struct run *run = searching->run;
	bool fresh;
	int64_t number = strings_add(run->documents, row->id, row->length, &fresh);

	if (!fresh && !searching->options->best) {
		rows_note(searching->corpus, ROW_REPEATED, row);
		return false;
	}
	if (!fresh) {
		number = strings_repeat(run->documents, number);
		searching->repeats++;
	}
	if (searching->candidates)
		compared_clear(&block->documents);
	double length = compared_add(&block->documents, searching->corpus, row);
	if (length * searching->queries.longest > FLT_MAX)
		die("%s: row '%.*s': its dot product with a query may exceed float32: it is %g long, the longest query %g; scale the vectors, or compare by --similarity cosine",
		    rows_stream(searching->corpus), (int)row->length, row->id, length,
		    searching->queries.longest);
	if (searching->options->exclude_self)
		take_own(searching, block, row, number);
	if (searching->options->texts && !searching->candidates)
		take_text(block, row);
	if (searching->candidates)
		candidates_compare(searching->candidates, row->id, row->length, number,
		    score_pair, searching);
	return true;
}

/* Reads documents until the next block is full. */
static void *
fill(void *context)
{
	struct corpus_search *searching = context;
	struct document_block *block = searching->next;
	struct compared *documents = &block->documents;
	struct row row;

	block->first = strings_count(searching->run->documents);
	block->owns = 0;
	text_column_clear(&block->texts);
	block->there.used = 0;
	compared_clear(documents);
	while (
	    documents->values < searching->block && rows_next(searching->corpus, &row)) {
		if (!take_document(searching, block, &row) || searching->candidates)
			continue;
		if (documents->of_terms && documents->count == TERM_DOCUMENTS)
			break;
		if (block->texts.bytes.used > BLOCK_BYTES)
			break;
	}
	return NULL;
}

static void
sweep_texts(struct corpus_search *searching)
{
	bool *hit = run_mark_hits(searching->run);

	row_texts_sweep(&searching->run->document_texts, hit);
	free(hit);
}

/* Keeps the texts of the block's hits; frees those of former hits from time to time. */
static void
keep_texts(struct corpus_search *searching, const struct document_block *block)
{
	struct row_texts *texts = &searching->run->document_texts;
	int64_t hits_count = 0;

	for (int64_t i = 0; i < strings_count(searching->run->queries); i++) {
		struct hits hits = searching->run->hits[i] =
		    search_hits(searching->search, i);
		hits_count += hits.count;
		for (int64_t j = 0; j < hits.count; j++) {
			int64_t at = (int64_t)hits.at[j].document - block->first;
			if (at < 0 || !block->there.data[at])
				continue;
			const int64_t *ends = block->texts.offsets.data + at;
			row_texts_put(texts, hits.at[j].document,
			    block->texts.bytes.data + ends[0],
			    (size_t)(ends[1] - ends[0]));
		}
	}
	if (texts->kept > 2 * hits_count + SLACK_TEXTS)
		sweep_texts(searching);
}

/* Searches a block while another thread reads the next. */
static void
search_block(struct corpus_search *searching, struct document_block *block)
{
	pthread_t reader;

	for (int64_t i = 0; i < block->owns; i++)
		search_exclude(
		    searching->search, block->own[i].query, block->own[i].document);
	if (pthread_create(&reader, NULL, fill, searching) != 0)
		die("search: no further thread can be started");
	compared_search_add(searching->search, &block->documents);
	pthread_join(reader, NULL);
	if (searching->options->texts)
		keep_texts(searching, block);
}

/* Bytes of vectors of a block of documents, after queries and hits. */
static size_t
block_bytes(const struct corpus_search *searching)
{
	size_t queries = mem_multiply((size_t)searching->queries.values,
	    compared_bytes(&searching->queries), "queries");
	int64_t count = strings_count(searching->run->queries),
		depth = searching->options->depth;
	size_t memory = searching->options->memory, least = 2 * LEAST_BLOCK_BYTES;
	size_t taken = mem_add(
	    queries, mem_add(search_memory(count, depth), least, "queries"), "queries");

	if (memory && memory < taken)
		die("%s: %lld queries with %lld hits each take %zu MB; allow that with --memory, or search for fewer at a time",
		    searching->options->queries, (long long)count, (long long)depth,
		    taken / 1000000 + 1);
	size_t left = memory ? (memory - taken + least) / 2 : BLOCK_BYTES;
	return left < BLOCK_BYTES ? left : BLOCK_BYTES;
}

static void
start_search(struct corpus_search *searching)
{
	const struct search_options *options = searching->options;
	struct run *run = searching->run;
	struct compared *queries = &searching->queries;
	size_t room = block_bytes(searching);

	searching->block =
	    queries->of_terms ? TERMS : (int64_t)(room / compared_bytes(queries)) + 1;
	for (int i = 0; i < 2; i++)
		compared_reserve(&searching->blocks[i].documents, searching->block);
	if (options->candidates)
		searching->candidates =
		    candidates_read(options->candidates, run->queries, options->queries);
	if (options->candidates && !similarity_of_lists(searching->similarity))
		return;
	run->hits = mem_zero((size_t)strings_count(run->queries), sizeof *run->hits);
	searching->search = compared_search(
	    queries, options->depth, options->threshold, run_order(run), run->documents);
	if (options->best)
		search_passages(searching->search);
}

static void
search_all(struct corpus_search *searching)
{
	struct run *run = searching->run;
	struct document_block *blocks = searching->blocks;

	searching->next = &blocks[0];
	fill(searching);
	while (!searching->candidates && searching->next->documents.count) {
		struct document_block *block = searching->next;
		searching->next = &blocks[block == &blocks[0]];
		search_block(searching, block);
	}
	run->places = rows_read(searching->corpus);
	if (run->places == 0)
		die("%s: there is no document in it", searching->options->corpus[0]);
	if (searching->candidates) {
		if (searching->search)
			free(search_finish(searching->search, run->hits));
		free(run->hits);
		candidates_finish(searching->candidates, run, searching->options->depth);
		return;
	}
	run->memory = search_finish(searching->search, run->hits);
	if (searching->options->texts)
		sweep_texts(searching);
}

/* Finds the streams of the corpus that are the file of the queries, whose rows have equal numbers. */
static void
find_same(struct corpus_search *searching)
{
	const struct search_options *options = searching->options;
	enum row_ids ids = rows_ids(searching->queries_rows);
	struct stat queries, status;
	int some = 0;

	searching->same = mem_zero((size_t)options->streams, sizeof *searching->same);
	if (!options->exclude_self)
		return;
	if ((ids == ROW_PLACES) != (rows_ids(searching->corpus) == ROW_PLACES))
		die("%s and %s: one of them has ids, the other none: it is unknown which document is the query itself",
		    options->queries, options->corpus[0]);
	for (int i = 0; i < options->streams; i++) {
		searching->same[i] =
		    stat(options->queries, &queries) == 0 && S_ISREG(queries.st_mode) &&
		    stat(options->corpus[i], &status) == 0 &&
		    queries.st_dev == status.st_dev && queries.st_ino == status.st_ino;
		some += searching->same[i];
	}
	if (ids == ROW_PLACES && some != 1)
		die("%s: it has no ids and is %s the files of the corpus: it is unknown which document is the query itself",
		    options->queries, some ? "several of" : "none of");
}

/* Whether the corpus can be read again. */
static bool
is_of_files(const struct search_options *options)
{
	struct stat status;

	for (int i = 0; i < options->streams; i++)
		if (stat(options->corpus[i], &status) || !S_ISREG(status.st_mode))
			return false;
	return true;
}

/* The similarity of both models.  Dies if they differ. */
static enum similarity
find_similarity(const struct corpus_search *searching)
{
	enum similarity wanted = searching->options->similarity,
			queries = rows_similarity(searching->queries_rows, wanted),
			corpus = rows_similarity(searching->corpus, wanted);

	if (queries != corpus)
		die("%s: is to be compared by %s, %s by %s; say --similarity",
		    rows_stream(searching->corpus), similarity_name(corpus),
		    rows_stream(searching->queries_rows), similarity_name(queries));
	if (queries != SIMILARITY_COSINE && queries != SIMILARITY_DOT &&
	    !similarity_of_lists(queries))
		die("%s: its model compares by %s, and a search knows cosine, dot and MaxSim: say --similarity",
		    rows_stream(searching->queries_rows), similarity_name(queries));
	return queries;
}

static void
open_streams(struct corpus_search *searching)
{
	const struct search_options *options = searching->options;

	searching->corpus = rows_open(options->corpus, options->streams, "documents",
	    options->field, searching->queries_rows, options->any_model, options->reason,
	    true, options->similarity);
	if (options->show) {
		rows_show(searching->corpus, options->show);
		if (options->self)
			rows_show(searching->queries_rows, options->show);
	}
	if (options->where_count) {
		rows_where(searching->corpus, options->where, options->where_count);
		if (options->self)
			rows_where(searching->queries_rows, options->where,
			    options->where_count);
	}
	if (options->best && rows_ids(searching->corpus) == ROW_PLACES)
		die("%s: its rows have no ids, by which --best knows the passages of a document",
		    options->corpus[0]);
	searching->similarity = find_similarity(searching);
	searching->live = options->live && !options->candidates && is_of_files(options);
	find_same(searching);
}

static void
open_index(struct corpus_search *searching)
{
	const struct search_options *options = searching->options;
	const struct rows *queries = searching->queries_rows;

	searching->similarity = vectors_said_similarity(rows_vectors(queries)->reader,
	    "similarity", searching->index->similarity, options->similarity);
	index_search_agree(searching->index, queries, searching->similarity, options);
	searching->live = options->live;
}

struct corpus_search *
corpus_search_open(const struct search_options *options)
{
	struct corpus_search *searching = mem_zero(1, sizeof *searching);

	if (options->self)
		file_need_twice(options->queries);
	searching->options = options;
	searching->index = index_search_open(options);
	searching->queries_rows = rows_open(&options->queries, 1, "queries",
	    options->field, NULL, options->any_model, options->reason, !searching->index,
	    options->similarity);
	if (searching->index)
		open_index(searching);
	else
		open_streams(searching);
	const struct vectors *vectors = rows_vectors(searching->queries_rows);
	searching->queries = searching->blocks[0].documents =
	    searching->blocks[1].documents = (struct compared){ .width = vectors->width,
		    .similarity = searching->similarity,
		    .of_terms = vectors->terms };
	searching->seen = strings_new();
	return searching;
}

void
corpus_search_check(const struct search_options *options)
{
	struct vector_index *index = index_search_open(options);

	if (index) {
		if (options->reason && index->ids == ROW_PLACES)
			die("%s: its rows have no ids, %s", index->name, options->reason);
		vector_index_close(index);
		return;
	}
	if (!is_of_files(options))
		die("%s: is not a file, which is read again for each client",
		    options->corpus[0]);
	struct rows *rows =
	    rows_open(options->corpus, options->streams, NULL, options->field, NULL,
		options->any_model, options->reason, true, options->similarity);
	if (options->show)
		rows_show(rows, options->show);
	if (options->where_count)
		rows_where(rows, options->where, options->where_count);
	rows_close(rows);
}

/* Rows without ids store no names. */
static void
use_numbers(struct corpus_search *searching, struct run *run)
{
	if (run->query_ids == ROW_PLACES && !some_of_self(searching->options)) {
		if (!searching->runs) {
			strings_free(searching->seen);
			searching->seen = strings_numbers(1);
		}
		strings_free(run->queries);
		run->queries = strings_numbers(strings_count(searching->seen) + 1);
	}
	if (run->document_ids == ROW_PLACES) {
		strings_free(run->documents);
		/* under a condition not all numbers are there */
		run->documents = searching->corpus && searching->options->where_count
				     ? strings_new()
				     : strings_numbers(1);
	}
}

static void
search_streams(struct corpus_search *searching)
{
	if (searching->runs > 1)
		rows_rewind(searching->corpus);
	searching->repeats = 0;
	start_search(searching);
	search_all(searching);
}

static void
search_index(struct corpus_search *searching)
{
	(void)block_bytes(searching); /* dies if queries and hits take too much */
	index_search(searching->index, searching->queries.vectors,
	    searching->queries.longest, searching->options, searching->run);
}

/* Of an index whose ids the run does not name, its rows. */
static int64_t
count_documents(const struct corpus_search *searching)
{
	return searching->index && !searching->options->named
		   ? searching->index->passing
		   : strings_count(searching->run->documents) - searching->repeats;
}

struct run *
corpus_search_next(struct corpus_search *searching)
{
	const struct search_options *options = searching->options;
	struct run *run = searching->run = run_new();

	compared_clear(&searching->queries);
	run->query_ids = rows_ids(searching->queries_rows);
	run->document_ids =
	    searching->index ? searching->index->ids : rows_ids(searching->corpus);
	use_numbers(searching, run);
	run->field = searching->index ? mem_string(searching->index->field)
				      : rows_field(searching->corpus);
	read_queries(searching);
	warning_print(&searching->unwanted, options->queries,
	    "queries have no judgements: they are left out");
	if (strings_count(run->queries) == 0) {
		run_free(run);
		return NULL;
	}
	searching->runs++;
	if (searching->index)
		search_index(searching);
	else
		search_streams(searching);
	run->origin = (struct run_origin){ .known = true,
		.similarity = searching->similarity,
		.depth = options->depth,
		.documents = count_documents(searching),
		.threshold = options->threshold,
		.candidates = options->candidates != NULL,
		.others = options->exclude_self };
	return run;
}

void
corpus_search_close(struct corpus_search *searching)
{
	if (searching->index)
		vector_index_close(searching->index);
	else
		rows_close(searching->corpus);
	rows_close(searching->queries_rows);
	for (int i = 0; i < 2; i++) {
		compared_free(&searching->blocks[i].documents);
		free(searching->blocks[i].own);
		text_column_free(&searching->blocks[i].texts);
		free(searching->blocks[i].there.data);
	}
	strings_free(searching->seen);
	compared_free(&searching->queries);
	free(searching->same);
	free(searching);
}
