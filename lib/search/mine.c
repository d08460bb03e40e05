#include "search/mine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/rng.h"
#include "sample/fields.h"
#include "search/run.h"
#include "text/datafile.h"
#include "text/json.h"
#include "text/qrels.h"
#include "text/triples.h"

struct mine {
	const struct mine_options *options;
	struct run *run;
	struct qrels *qrels;
	int64_t last, positives; /* positives: the greatest number of a query */
	struct row_texts queries, documents;
	/* of the query at work: its number in the run, its relevant documents, its candidates, then the chosen ones */
	int64_t query;
	struct numbers relevant;
	struct hit *at;
	int64_t count;
	size_t room;
};

/* Sets the query and its relevant documents, which are added to the run's unless a query found them; false if it is not judged. */
static bool
take_query(struct mine *mine, int64_t query)
{
	const struct qrels *qrels = mine->qrels;
	int64_t number = strings_find_from(qrels->queries, mine->run->queries, query);

	if (number < 0)
		return false;
	mine->query = query;
	mine->relevant.count = 0;
	for (int64_t j = qrels->starts[number]; j < qrels->starts[number + 1]; j++)
		if (qrels->judgements[j].grade > 0)
			numbers_add(&mine->relevant,
			    strings_add_from(mine->run->documents, qrels->documents,
				qrels->judgements[j].document));
	return true;
}

static void
count_positives(struct mine *mine)
{
	const struct qrels *qrels = mine->qrels;

	for (int64_t q = 0; q < strings_count(qrels->queries); q++) {
		int64_t count = 0;
		for (int64_t j = qrels->starts[q]; j < qrels->starts[q + 1]; j++)
			count += qrels->judgements[j].grade > 0;
		if (count > mine->positives)
			mine->positives = count;
	}
}

/* The score of a document for the query; -INFINITY: it was not found. */
static float
score_of(const struct mine *mine, int64_t document)
{
	struct hits hits = mine->run->hits[mine->query];

	for (int64_t k = 0; k < hits.count; k++)
		if (hits.at[k].document == (uint32_t)document)
			return hits.at[k].score;
	return -INFINITY;
}

static bool
is_relevant(const struct mine *mine, uint32_t document)
{
	for (size_t i = 0; i < mine->relevant.count; i++)
		if (mine->relevant.data[i] == (int64_t)document)
			return true;
	return false;
}

/* The least score of a relevant document. */
static float
hardest(const struct mine *mine)
{
	float least = INFINITY;

	for (size_t i = 0; i < mine->relevant.count; i++)
		least = fminf(least, score_of(mine, mine->relevant.data[i]));
	return least;
}

/* In float, as the scores. */
static bool
is_allowed(const struct mine_options *o, float score, float positive)
{
	if (o->margin > -INFINITY && !(score + (float)o->margin <= positive))
		return false;
	if (o->relative_margin > -INFINITY &&
	    !(score <= positive - fabsf(positive) * (float)o->relative_margin))
		return false;
	return score <= (float)o->most && score >= (float)o->least;
}

/* Keeps `count` of the candidates, in their order. */
static void
choose_at_random(struct mine *mine)
{
	const char *id = strings_get(mine->run->queries, mine->query);
	struct rng rng =
	    rng_seed((uint64_t)mine->options->seed, rng_hash(0, id, strlen(id)));
	int64_t wanted = mine->options->count, kept = 0;

	for (int64_t i = 0; i < mine->count && wanted; i++)
		if ((int64_t)rng_below(&rng, (uint64_t)(mine->count - i)) < wanted) {
			mine->at[kept++] = mine->at[i];
			wanted--;
		}
	mine->count = kept;
}

static void
choose(struct mine *mine)
{
	const struct mine_options *o = mine->options;
	struct hits hits = mine->run->hits[mine->query];
	float positive = hardest(mine);
	int64_t number = 0;

	mine->count = 0;
	for (int64_t k = 0; k < hits.count && k < mine->last + mine->positives; k++) {
		if (is_relevant(mine, hits.at[k].document) ||
		    !is_allowed(o, hits.at[k].score, positive))
			continue;
		if (number++ < o->first || number > mine->last)
			continue;
		mine->at = mem_grow(
		    mine->at, &mine->room, (size_t)mine->count + 1, sizeof *mine->at);
		mine->at[mine->count++] = hits.at[k];
	}
	if (o->random)
		choose_at_random(mine);
	else if (mine->count > o->count)
		mine->count = o->count;
}

/* Texts. --------------------------------------------------------------------------- */

/* Reads the texts of the ids, by _id or id; a title goes before its text. */
static void
read_texts(struct row_texts *texts, const struct strings *ids, const char *path)
{
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);
	struct buffer text = { 0 };
	const struct tree *record;

	while ((record = datafile_next(file))) {
		char digits[TRIPLES_ID_ROOM];
		struct tsv_column found;
		if (!triples_record_id(record, digits, &found))
			die("%s:%lld: there is no '_id' or 'id', by which a text is found",
			    datafile_name(file), (long long)datafile_line(file));
		int64_t number = strings_find(ids, found.start, found.length);
		if (number < 0)
			continue;
		text.used = 0;
		fields_append_value(&text, record, "text", record);
		row_texts_put(texts, number, text.data, text.used);
	}
	datafile_warn_repaired(file);
	datafile_close(file);
	free(text.data);
}

static struct tree *
text_of(const struct row_texts *texts, const struct strings *ids, int64_t number,
    const char *path)
{
	const struct row_text *text = row_texts_get(texts, number);

	if (!text)
		die("%s: has no text of '%s'", path, strings_get(ids, number));
	return tree_of_bytes(text->bytes, text->length);
}

/* Output. -------------------------------------------------------------------------- */

static struct tree *
number(float score)
{
	char digits[NUMBER_ROOM];

	if (!isfinite(score))
		return tree_of_null();
	return tree_of_digits(
	    digits, number_put(digits, (double)score, true), (double)score);
}

static void
print_pair(struct mine *mine, int64_t document)
{
	const struct mine_options *o = mine->options;
	const struct run *run = mine->run;
	struct tree *line = tree_object(), *ids = tree_list(), *scores = tree_list(),
		    *texts = tree_list();

	for (int64_t i = 0; i < mine->count; i++) {
		int64_t negative = mine->at[i].document;
		tree_add(ids, tree_of_string(strings_get(run->documents, negative)));
		tree_add(scores, number(mine->at[i].score));
		if (o->texts)
			tree_add(texts, text_of(&mine->documents, run->documents,
					    negative, o->texts));
	}
	tree_set(
	    line, "query_id", tree_of_string(strings_get(run->queries, mine->query)));
	tree_set(
	    line, "document_id", tree_of_string(strings_get(run->documents, document)));
	tree_set(line, "negative_ids", ids);
	tree_set(line, "score", number(score_of(mine, document)));
	tree_set(line, "negative_scores", scores);
	if (o->texts) {
		tree_set(line, "query",
		    text_of(&mine->queries, run->queries, mine->query, o->query_texts));
		tree_set(line, "document",
		    text_of(&mine->documents, run->documents, document, o->texts));
		tree_set(line, "negatives", texts);
	} else {
		tree_free(texts);
	}
	char *text = json_text(line, 0);
	puts(text);
	free(text);
	tree_free(line);
}

static int64_t
last_of(const struct mine *mine)
{
	const struct mine_options *o = mine->options;
	bool limited =
	    o->margin > -INFINITY || o->relative_margin > -INFINITY || o->most < INFINITY;

	return o->last ? o->last
		       : o->first + o->count * (limited ? 10 : 1) + mine->positives;
}

static void
check(const struct mine_options *options)
{
	if (!options->texts != !options->query_texts)
		die_usage("--texts and --query-texts are given together, or neither");
	if (options->seed && !options->random)
		die_usage("--seed needs --random");
	if (options->last && options->last - options->first < options->count)
		die_usage(
		    "--depth %lld after --skip %lld leaves fewer candidates than -k %lld",
		    (long long)options->last, (long long)options->first,
		    (long long)options->count);
}

void
mine(const struct mine_options *options, const char *to)
{
	check(options);
	struct output *output = output_print(to);
	struct mine mine = { .options = options,
		.run = run_read(options->run),
		.qrels = qrels_read(options->qrels) };
	int64_t without = 0, judged = 0;

	run_check_finite(mine.run, options->run);
	count_positives(&mine);
	mine.last = last_of(&mine);
	for (int64_t q = 0; q < strings_count(mine.run->queries); q++)
		judged += take_query(&mine, q);
	if (!judged)
		die("%s: judges none of the queries of %s", options->qrels, options->run);
	if (options->texts) { /* also of relevant documents that no query found */
		read_texts(&mine.queries, mine.run->queries, options->query_texts);
		read_texts(&mine.documents, mine.run->documents, options->texts);
	}
	for (int64_t q = 0; q < strings_count(mine.run->queries); q++) {
		if (!take_query(&mine, q))
			continue;
		choose(&mine);
		for (size_t i = 0; i < mine.relevant.count && mine.count; i++)
			print_pair(&mine, mine.relevant.data[i]);
		without += mine.count ? 0 : (int64_t)mine.relevant.count;
	}
	row_texts_free(&mine.queries);
	row_texts_free(&mine.documents);
	free(mine.relevant.data);
	free(mine.at);
	run_free(mine.run);
	qrels_free(mine.qrels);
	if (without)
		inform(
		    "%lld pairs have no negatives and are left out", (long long)without);
	if (fflush(stdout) || ferror(stdout))
		die("%s:", output_name(output));
	output_finish(output);
}
