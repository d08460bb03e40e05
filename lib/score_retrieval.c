#include "score_retrieval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "err.h"
#include "mem.h"
#include "qrels.h"
#include "ranking.h"
#include "search.h"
#include "stream.h"
#include "values.h"

enum { DEPTH = 1000, BLOCK_BYTES = 32 << 20 };

/* What was met on the way and has to be told. */
struct tally {
	int64_t count;
	char *first;
};

struct judge {
	const struct retrieval_options *options;
	struct qrels *qrels;
	int width;
	float *queries;	 /* [count, width], unit rows */
	int64_t *number; /* [count]: in qrels->queries */
	bool *met;	 /* [qrels->queries] */
	int64_t count;
	size_t number_room, met_room;
	struct names *documents; /* ids of the corpus in order of arrival */
	struct search *search;
	struct tally nan, zero, repeated;
};

static void
note(struct tally *tally, const char *id, size_t length)
{
	if (tally->count++ == 0)
		tally->first = mem_format("%.*s", length < 100 ? (int)length : 100, id);
}

static void
tell(struct tally *tally, const char *stream, const char *what)
{
	if (tally->count)
		warn("%s: %lld %s; first: '%s'", stream, (long long)tally->count, what,
		    tally->first);
	free(tally->first);
	*tally = (struct tally){ 0 };
}

/* The unit vector, as torch's normalize makes it: divided by at least 1e-12. */
static void
normalise(
    struct judge *judge, float *to, const float *from, const char *id, size_t length)
{
	double square = 0;

#pragma omp simd reduction(+ : square)
	for (int i = 0; i < judge->width; i++)
		square += (double)from[i] * from[i];
	if (!isfinite(square))
		note(&judge->nan, id, length);
	else if (square == 0)
		note(&judge->zero, id, length);
	double norm = fmax(sqrt(square), 1e-12);
	for (int i = 0; i < judge->width; i++)
		to[i] = isfinite(square) ? (float)(from[i] / norm) : NAN;
}

struct source {
	struct reader *reader;
	const char *name;
	int emb, id;
};

static struct source
open_source(const struct judge *judge, const char *path)
{
	static const char *const ids[] = { "_id", "id", NULL };
	struct source source = { .reader = stream_open(path) };

	source.name = stream_name(source.reader);
	source.emb = values_embedding(source.reader, judge->options->field, 0);
	source.id = values_find(source.reader, ids);
	if (source.id < 0)
		die("%s: there is no column '_id' or 'id', by which the qrels name the "
		    "rows",
		    source.name);
	values_single(source.reader, source.id, 0);
	return source;
}

static void
tell_vectors(struct judge *judge, const char *stream)
{
	tell(&judge->nan, stream,
	    "embeddings are not finite: their similarities count as -1, as in the "
	    "reference");
	tell(&judge->zero, stream, "embeddings are zero: their similarities are 0");
	tell(&judge->repeated, stream,
	    "rows repeat an id: the first one of each id counts");
}

/* A query's number among those that are judged, or -1; without qrels all are taken. */
static int64_t
query_number(struct judge *judge, const char *id, size_t length)
{
	bool fresh;

	if (judge->options->qrels)
		return names_find(judge->qrels->queries, id, length);
	int64_t number = names_add(judge->qrels->queries, id, length, &fresh);
	if (fresh) {
		size_t need = (size_t)number + 1;
		judge->number = mem_grow(
		    judge->number, &judge->number_room, need, sizeof *judge->number);
		judge->met =
		    mem_grow(judge->met, &judge->met_room, need, sizeof *judge->met);
		judge->met[number] = false;
	}
	return number;
}

static void
add_query(struct judge *judge, const char *id, size_t length, const float *vector,
    size_t *capacity)
{
	int64_t number = query_number(judge, id, length);

	if (number < 0)
		return;
	if (judge->met[number]) {
		note(&judge->repeated, id, length);
		return;
	}
	judge->met[number] = true;
	judge->queries = mem_grow(judge->queries, capacity, (size_t)judge->count + 1,
	    mem_multiply((size_t)judge->width, sizeof *judge->queries, "queries"));
	normalise(
	    judge, judge->queries + judge->count * judge->width, vector, id, length);
	judge->number[judge->count++] = number;
}

static void
tell_left_out(const struct judge *judge, const char *stream, int64_t rows)
{
	struct names *names = judge->qrels->queries;
	struct tally left = { 0 };

	if (judge->count == 0)
		die("%s: none of its %lld ids is a query of %s (the first there is "
		    "'%s'); are "
		    "these the queries of those qrels?",
		    stream, (long long)rows, judge->options->qrels, names_get(names, 0));
	for (int64_t i = 0; i < names_count(names); i++)
		if (!judge->met[i])
			note(&left, names_get(names, i), names_length(names, i));
	tell(&left, judge->options->qrels,
	    "queries have judgements but no embedding: the means are over the others");
}

static void
read_queries(struct judge *judge)
{
	struct source source = open_source(judge, judge->options->queries);
	int64_t most = names_count(judge->qrels->queries), rows = 0;
	struct floats room = { 0 };
	struct record record;
	size_t capacity = 0;

	judge->width = values_width(source.reader, source.emb);
	if (most) {
		judge->number = mem_new((size_t)most, sizeof *judge->number);
		judge->met = mem_zero((size_t)most, sizeof *judge->met);
	}
	while (stream_next(source.reader, &record)) {
		const struct column *ids = stream_column(source.reader, source.id);
		const float *vectors =
		    values_floats(stream_column(source.reader, source.emb),
			&record.columns[source.emb], record.rows, &room);
		for (int64_t row = 0; row < record.rows; row++) {
			char text[VALUES_ROOM];
			size_t length;
			const char *id = values_text(
			    ids, &record.columns[source.id], row, text, &length);
			add_query(
			    judge, id, length, vectors + row * judge->width, &capacity);
		}
		rows += record.rows;
	}
	tell_vectors(judge, source.name);
	if (judge->options->qrels)
		tell_left_out(judge, source.name, rows);
	inform("%lld of %lld queries have judgements", (long long)judge->count,
	    (long long)rows);
	free(room.data);
	stream_close(source.reader);
}

static int
by_id(const void *names, uint32_t a, uint32_t b)
{
	return names_compare(names, a, b);
}

static void
tell_unknown(const struct judge *judge, const char *corpus)
{
	struct names *judged = judge->qrels->documents;
	struct tally unknown = { 0 };

	for (int64_t i = 0; i < names_count(judged); i++) {
		const char *id = names_get(judged, i);
		size_t length = names_length(judged, i);
		if (names_find(judge->documents, id, length) < 0)
			note(&unknown, id, length);
	}
	if (unknown.count == names_count(judged))
		die("%s: none of the %lld documents of %s is in it (first: '%s'); is "
		    "this the "
		    "corpus of those qrels?",
		    corpus, (long long)unknown.count, judge->options->qrels,
		    unknown.first);
	tell(&unknown, judge->options->qrels,
	    "judged documents are not in the corpus: they count as not found");
}

/* Documents are handed to the search in blocks that keep every core busy. */
static void
search_corpus(struct judge *judge)
{
	struct source source = open_source(judge, judge->options->corpus);
	struct progress *progress = progress_new("documents", 0);
	int64_t block = BLOCK_BYTES / (int64_t)sizeof(float) / judge->width + 1, held = 0;
	float *documents = mem_new((size_t)block,
	    mem_multiply((size_t)judge->width, sizeof *documents, "documents"));
	struct floats room = { 0 };
	struct record record;

	if (values_width(source.reader, source.emb) != judge->width)
		die("%s: the documents have width %d, the queries %d; encode both with "
		    "one model",
		    source.name, values_width(source.reader, source.emb), judge->width);
	judge->documents = names_new();
	judge->search = search_new(
	    judge->queries, judge->count, judge->width, DEPTH, by_id, judge->documents);
	while (stream_next(source.reader, &record)) {
		const struct column *ids = stream_column(source.reader, source.id);
		const float *vectors =
		    values_floats(stream_column(source.reader, source.emb),
			&record.columns[source.emb], record.rows, &room);
		for (int64_t row = 0; row < record.rows; row++) {
			char text[VALUES_ROOM];
			size_t length;
			bool fresh;
			const char *id = values_text(
			    ids, &record.columns[source.id], row, text, &length);
			names_add(judge->documents, id, length, &fresh);
			if (!fresh) {
				note(&judge->repeated, id, length);
				continue;
			}
			normalise(judge, documents + held++ * judge->width,
			    vectors + row * judge->width, id, length);
			if (held == block) {
				search_add(judge->search, documents, held);
				held = 0;
			}
		}
		progress_add(progress, record.rows);
	}
	search_add(judge->search, documents, held);
	progress_free(progress);
	tell_vectors(judge, source.name);
	if (judge->options->qrels)
		tell_unknown(judge, source.name);
	free(room.data);
	free(documents);
	stream_close(source.reader);
}

/* The grades of a query's hits, in order of rank; returns how many hits there are. */
static int64_t
grades_of_hits(struct judge *judge, int64_t query, int64_t *grades)
{
	const struct qrels *qrels = judge->qrels;
	const char *query_id = names_get(qrels->queries, judge->number[query]);
	const struct hit *hits;
	int64_t found = search_hits(judge->search, query, &hits), count = 0;

	for (int64_t i = 0; i < found; i++) {
		const char *id = names_get(judge->documents, hits[i].document);
		size_t length = names_length(judge->documents, hits[i].document);
		if (judge->options->ignore_identical && strcmp(id, query_id) == 0)
			continue;
		int64_t document = names_find(qrels->documents, id, length);
		grades[count++] =
		    document < 0 ? 0 : qrels_grade(qrels, judge->number[query], document);
	}
	return count;
}

static void
measure(struct judge *judge, struct report *report)
{
	struct ranking *ranking = ranking_new(judge->options->exponential);
	const struct qrels *qrels = judge->qrels;
	int64_t grades[DEPTH];
	int64_t *judged = mem_new((size_t)qrels->count, sizeof *judged);

	for (int64_t i = 0; i < judge->count; i++) {
		int64_t first = qrels->starts[judge->number[i]], of_query = 0;
		for (int64_t j = first; j < qrels->starts[judge->number[i] + 1]; j++)
			judged[of_query++] = qrels->judgements[j].grade;
		int64_t found = grades_of_hits(judge, i, grades);
		ranking_add(ranking, grades, found, judged, of_query);
	}
	ranking_report(ranking, report);
	ranking_free(ranking);
	free(judged);
}

/* TREC's six columns, separated by tabs, so that ids may have blanks. */
static void
write_run(const struct judge *judge)
{
	const char *path = judge->options->run;
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");

	if (!file)
		die("%s: cannot be written:", path);
	for (int64_t i = 0; i < judge->count; i++) {
		const char *query = names_get(judge->qrels->queries, judge->number[i]);
		const struct hit *hits;
		int64_t found = search_hits(judge->search, i, &hits), rank = 0;
		for (int64_t j = 0; j < found && rank < judge->options->top; j++) {
			const char *id = names_get(judge->documents, hits[j].document);
			if (judge->options->ignore_identical && strcmp(id, query) == 0)
				continue;
			fprintf(file, "%s\tQ0\t%s\t%lld\t%.6f\tmotes\n", query, id,
			    (long long)++rank, (double)hits[j].score);
		}
	}
	bool failed = fflush(file) || ferror(file);
	if (file != stdout)
		failed |= fclose(file) != 0;
	if (failed)
		die("%s: cannot be written:", path);
}

static struct qrels *
no_qrels(void)
{
	struct qrels *qrels = mem_zero(1, sizeof *qrels);

	qrels->queries = names_new();
	qrels->documents = names_new();
	return qrels;
}

void
score_retrieval(struct report *report, const struct retrieval_options *options)
{
	struct judge judge = { .options = options,
		.qrels = options->qrels ? qrels_read(options->qrels) : no_qrels() };

	if (judge.qrels->repeated)
		warn("%s: %lld pairs are judged more than once: the last grade counts",
		    options->qrels, (long long)judge.qrels->repeated);
	report_set(report, "similarity", "cosine");
	report_set(report, "ties", "id descending");
	report_set(report, "precision", "float32");
	report_set(report, "rounding", "5 decimals, mrr none");
	report_set(report, "gain", "%s", options->exponential ? "2^grade - 1" : "grade");
	report_set(report, "depth", "%d", DEPTH);
	report_set(report, "identical ids", "%s",
	    options->ignore_identical ? "ignored" : "kept");
	read_queries(&judge);
	search_corpus(&judge);
	report_set(report, "queries", "%lld", (long long)judge.count);
	report_set(report, "documents", "%lld", (long long)names_count(judge.documents));
	if (options->qrels) {
		measure(&judge, report);
		report_main(report, "ndcg_at_10", "there is no query");
	}
	if (options->run)
		write_run(&judge);
	search_free(judge.search);
	names_free(judge.documents);
	qrels_free(judge.qrels);
	free(judge.queries);
	free(judge.number);
	free(judge.met);
}
