#include "search/corpus_search.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "search/candidates.h"
#include "search/index_search.h"
#include "search/rows.h"
#include "search/search.h"
#include "search/search_terms.h"

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

/* A document's text in document_block.texts, from the end of the one before. */
struct extent {
	bool there;
	size_t end;
};

/* Documents searched together. */
struct document_block {
	float *vectors;		/* [searching.block, width] */
	struct term_rows terms; /* instead */
	int64_t first, count;
	double norm; /* of the longest */
	struct self_match *own;
	int64_t owns;
	size_t own_room;
	char *texts; /* of the documents, concatenated */
	struct extent *extents;
	size_t texts_room, extents_room;
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
	int width;
	float *queries; /* [queries, width] */
	bool of_terms;
	struct term_rows query_terms; /* instead */
	size_t room;		      /* rows of queries */
	double longest; /* maximum length of a query; of unit vectors slightly above 1 */
	bool *same;	/* [streams]: whether it is the file of the queries */
	int64_t block;	/* documents per block */
	struct document_block blocks[2], *next;
	struct warning unwanted;
	struct search *search; /* or: */
	struct candidate_lists *candidates;
};

/* The place of a row's vector among those of `vectors`, number `number`, or of the weights of its terms. */
static float *
place_of(const struct corpus_search *searching, float *vectors, int64_t number,
    struct term_rows *terms, const struct row *row)
{
	return searching->of_terms ? term_rows_add(terms, row->terms, row->terms_count)
				   : vectors + number * searching->width;
}

static void
take_query(struct corpus_search *searching, const struct row *row)
{
	const struct strings *wanted = searching->options->wanted;
	size_t bytes = (size_t)searching->width * sizeof *searching->queries;
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
	if (!searching->of_terms)
		searching->queries = mem_grow(
		    searching->queries, &searching->room, (size_t)number + 1, bytes);
	float *to =
	    place_of(searching, searching->queries, number, &searching->query_terms, row);
	double length =
	    rows_search_vector(searching->queries_rows, searching->similarity, to, row);
	searching->longest = fmax(searching->longest, length);
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

/* Whether the queries, too, are only the rows that meet conditions. */
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

/* The offset of a document's text. */
static size_t
text_start(const struct document_block *block, int64_t document)
{
	return document ? block->extents[document - 1].end : 0;
}

static void
take_text(struct document_block *block, const struct row *row)
{
	size_t start = text_start(block, block->count), length = row->text_length;

	block->texts = mem_grow(block->texts, &block->texts_room, start + length + 1, 1);
	if (length)
		memcpy(block->texts + start, row->text, length);
	block->extents = mem_grow(block->extents, &block->extents_room,
	    (size_t)block->count + 1, sizeof *block->extents);
	block->extents[block->count] =
	    (struct extent){ row->text != NULL, start + length };
}

/* A document that is compared with single queries. */
struct pair_scoring {
	const struct corpus_search *searching;
	const float *document;
	const struct term_rows *terms; /* its last */
};

static double
score_pair(const void *context, int64_t query)
{
	const struct pair_scoring *pair = context;
	const struct corpus_search *searching = pair->searching;
	int width = searching->width;

	if (searching->of_terms)
		return term_rows_dot(
		    &searching->query_terms, query, pair->terms, pair->terms->count - 1);
	return similarity_dot(searching->queries + query * width, pair->document, width);
}

/* Returns false if the id is not new. */
static bool
take_document(
    struct corpus_search *searching, struct document_block *block, const struct row *row)
{
	struct run *run = searching->run;
	bool fresh;
	int64_t number = strings_add(run->documents, row->id, row->length, &fresh);

	if (!fresh) {
		rows_note(searching->corpus, ROW_REPEATED, row);
		return false;
	}
	if (searching->candidates)
		term_rows_clear(&block->terms);
	float *to = place_of(searching, block->vectors, block->count, &block->terms, row);
	double length =
	    rows_search_vector(searching->corpus, searching->similarity, to, row);
	if (length * searching->longest > FLT_MAX)
		die("%s: row '%.*s': its dot product with a query may exceed float32: it is %g long, the longest query %g; scale the vectors, or compare by --similarity cosine",
		    rows_stream(searching->corpus), (int)row->length, row->id, length,
		    searching->longest);
	block->norm = fmax(block->norm, length);
	if (searching->options->exclude_self)
		take_own(searching, block, row, number);
	if (searching->options->texts)
		take_text(block, row);
	if (searching->candidates)
		candidates_compare(searching->candidates, row->id, row->length, number,
		    score_pair, &(struct pair_scoring){ searching, to, &block->terms });
	return true;
}

/* Reads documents until the next block is full. */
static void *
fill(void *context)
{
	struct corpus_search *searching = context;
	struct document_block *block = searching->next;
	struct row row;

	block->first = strings_count(searching->run->documents);
	block->count = block->owns = 0;
	block->norm = 0;
	term_rows_clear(&block->terms);
	while (block->count < searching->block && rows_next(searching->corpus, &row)) {
		if (!take_document(searching, block, &row) || searching->candidates)
			continue;
		block->count++;
		if (searching->of_terms && block->terms.starts[block->count] > TERMS)
			break;
		if (searching->options->texts &&
		    text_start(block, block->count) > BLOCK_BYTES)
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
			if (at < 0 || !block->extents[at].there)
				continue;
			size_t start = text_start(block, at);
			row_texts_put(texts, hits.at[j].document, block->texts + start,
			    block->extents[at].end - start);
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
	if (searching->of_terms)
		search_terms_add(searching->search, &block->terms);
	else
		search_add(searching->search, block->vectors, block->count, block->norm);
	pthread_join(reader, NULL);
	if (searching->options->texts)
		keep_texts(searching, block);
}

/* Bytes of vectors of a block of documents, after queries and hits. */
static size_t
block_bytes(const struct corpus_search *searching, size_t vector_bytes)
{
	int64_t count = strings_count(searching->run->queries),
		depth = searching->options->depth;
	size_t memory = searching->options->memory, least = 2 * LEAST_BLOCK_BYTES;
	size_t taken = mem_add(mem_multiply((size_t)count, vector_bytes, "queries"),
	    mem_add(search_memory(count, depth), least, "queries"), "queries");

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
	size_t bytes = mem_multiply((size_t)searching->width, sizeof(float), "documents");
	const struct term_rows *terms = &searching->query_terms;

	if (searching->of_terms) /* of a query, on average */
		bytes = (size_t)(terms->starts[terms->count] / terms->count + 1) *
			(sizeof *terms->ids + sizeof *terms->weights);
	size_t room = block_bytes(searching, bytes);
	searching->block =
	    searching->of_terms ? TERM_DOCUMENTS : (int64_t)(room / bytes) + 1;
	for (int i = 0; i < 2 && !searching->of_terms; i++) {
		free(searching->blocks[i].vectors);
		searching->blocks[i].vectors = mem_new((size_t)searching->block, bytes);
	}
	if (options->candidates) {
		searching->candidates =
		    candidates_read(options->candidates, run->queries, options->queries);
		return;
	}
	run->hits = mem_zero((size_t)strings_count(run->queries), sizeof *run->hits);
	if (searching->of_terms)
		searching->search = search_terms_new(&searching->query_terms,
		    options->depth, options->threshold, run_order(run), run->documents);
	else
		searching->search = search_new(searching->queries,
		    strings_count(run->queries), searching->width, options->depth,
		    options->threshold, run_order(run), run->documents);
}

static void
search_all(struct corpus_search *searching)
{
	struct run *run = searching->run;
	struct document_block *blocks = searching->blocks;

	searching->next = &blocks[0];
	fill(searching);
	while (!searching->candidates && searching->next->count) {
		struct document_block *block = searching->next;
		searching->next = &blocks[block == &blocks[0]];
		search_block(searching, block);
	}
	run->places = rows_read(searching->corpus);
	if (run->places == 0)
		die("%s: there is no document in it", searching->options->corpus[0]);
	if (searching->candidates) {
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
		die("%s: its model compares by %s, that of %s by %s; say --similarity",
		    rows_stream(searching->corpus), similarity_name(corpus),
		    rows_stream(searching->queries_rows), similarity_name(queries));
	if (queries != SIMILARITY_COSINE && queries != SIMILARITY_DOT)
		die("%s: its model compares by %s, and a search knows cosine and dot: say --similarity",
		    rows_stream(searching->queries_rows), similarity_name(queries));
	return queries;
}

static void
open_streams(struct corpus_search *searching)
{
	const struct search_options *options = searching->options;

	searching->corpus =
	    rows_open(options->corpus, options->streams, "documents", options->field,
		searching->queries_rows, options->any_model, options->reason, true);
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
	searching->similarity = find_similarity(searching);
	searching->live = options->live && is_of_files(options);
	find_same(searching);
}

static void
open_index(struct corpus_search *searching)
{
	const struct search_options *options = searching->options;
	const struct rows *queries = searching->queries_rows;

	searching->similarity = rows_similarity(queries, options->similarity);
	index_search_agree(searching->index, queries, searching->similarity, options);
	searching->live = options->live;
}

struct corpus_search *
corpus_search_open(const struct search_options *options)
{
	struct corpus_search *searching = mem_zero(1, sizeof *searching);

	searching->options = options;
	searching->index = index_search_open(options);
	searching->queries_rows = rows_open(&options->queries, 1, "queries",
	    options->field, NULL, options->any_model, options->reason, !searching->index);
	searching->of_terms = rows_are_terms(searching->queries_rows);
	if (searching->index)
		open_index(searching);
	else
		open_streams(searching);
	searching->width = rows_width(searching->queries_rows);
	searching->seen = strings_new();
	return searching;
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
	start_search(searching);
	search_all(searching);
}

static void
search_index(struct corpus_search *searching)
{
	size_t bytes = mem_multiply((size_t)searching->width, sizeof(float), "queries");

	(void)block_bytes(searching, bytes); /* dies if queries and hits take too much */
	index_search(searching->index, searching->queries, searching->longest,
	    searching->options, searching->run);
}

struct run *
corpus_search_next(struct corpus_search *searching)
{
	const struct search_options *options = searching->options;
	struct run *run = searching->run = run_new();

	term_rows_clear(&searching->query_terms);
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
		.documents = searching->index ? searching->index->passing
					      : strings_count(run->documents),
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
		free(searching->blocks[i].vectors);
		term_rows_free(&searching->blocks[i].terms);
		free(searching->blocks[i].own);
		free(searching->blocks[i].texts);
		free(searching->blocks[i].extents);
	}
	strings_free(searching->seen);
	free(searching->queries);
	term_rows_free(&searching->query_terms);
	free(searching->same);
	free(searching);
}
