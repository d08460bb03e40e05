#include "score/retrieval.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/measure/ranking.h"
#include "score/qrels.h"
#include "score/run.h"
#include "score/tally.h"

/* 2^grade must not overflow, nor a sum of such */
enum { DEPTH = 1000, GRADE_MOST = 900 };

struct judge {
	const struct retrieval_options *options;
	struct qrels *qrels;
	struct run *run;
	struct ranking *ranking;
	int64_t *grades, *judged;
	float *similarity;
	size_t grades_room, similarity_room;
};

/* The query's number among the judged ones, or -1. */
static int64_t
judged_number(const struct judge *judge, int64_t query)
{
	struct strings *queries = judge->run->queries;

	return strings_find(judge->qrels->queries, strings_get(queries, query),
	    strings_length(queries, query));
}

static void
tell_queries(const struct judge *judge, const char *found)
{
	struct strings *judged = judge->qrels->queries, *queries = judge->run->queries;
	struct tally missing = { 0 }, unjudged = { 0 };

	for (int64_t i = 0; i < strings_count(judged); i++) {
		const char *id = strings_get(judged, i);
		size_t length = strings_length(judged, i);
		if (strings_find(queries, id, length) < 0)
			tally_note(&missing, id, length);
	}
	for (int64_t i = 0; i < strings_count(queries); i++)
		if (judged_number(judge, i) < 0)
			tally_note(&unjudged, strings_get(queries, i),
			    strings_length(queries, i));
	if (missing.count == strings_count(judged))
		die("%s: none of its %lld queries is judged in %s (the first there is "
		    "'%s'); are these the queries of those qrels?",
		    found, (long long)strings_count(queries), judge->options->qrels,
		    missing.first);
	tally_tell(&missing, judge->options->qrels,
	    judge->run->from_file
		? "queries have judgements but nothing was found for them: the means are "
		  "over the others, as in trec_eval"
		: "queries have judgements but no embedding: the means are over the "
		  "others");
	tally_tell(&unjudged, found, "queries have no judgements: they are left out");
}

static void
tell_documents(const struct judge *judge)
{
	struct strings *judged = judge->qrels->documents;
	struct tally unknown = { 0 };

	for (int64_t i = 0; i < strings_count(judged); i++) {
		const char *id = strings_get(judged, i);
		size_t length = strings_length(judged, i);
		if (strings_find(judge->run->documents, id, length) < 0)
			tally_note(&unknown, id, length);
	}
	if (unknown.count == strings_count(judged))
		die("%s: none of the %lld documents of %s is in it (first: '%s'); is "
		    "this "
		    "the corpus of those qrels?",
		    judge->options->corpus, (long long)unknown.count,
		    judge->options->qrels, unknown.first);
	tally_tell(&unknown, judge->options->qrels,
	    "judged documents are not in the corpus: they count as not found");
}

/* The grades of a query's hits, in order of rank. */
static int64_t
take_hits(struct judge *judge, int64_t query, int64_t number)
{
	const struct qrels *qrels = judge->qrels;
	struct strings *documents = judge->run->documents;
	const struct hit *hits;
	int64_t found = run_hits(judge->run, query, &hits);
	size_t need = (size_t)found;

	judge->grades =
	    mem_grow(judge->grades, &judge->grades_room, need, sizeof *judge->grades);
	judge->similarity = mem_grow(
	    judge->similarity, &judge->similarity_room, need, sizeof *judge->similarity);
	for (int64_t i = 0; i < found; i++) {
		int64_t document = strings_find(qrels->documents,
		    strings_get(documents, hits[i].document),
		    strings_length(documents, hits[i].document));
		judge->similarity[i] = hits[i].score;
		judge->grades[i] =
		    document < 0 ? 0 : qrels_grade(qrels, number, document);
	}
	return found;
}

static void
measure(struct judge *judge, struct report *report)
{
	const struct qrels *qrels = judge->qrels;

	judge->ranking =
	    ranking_new(judge->options->protocol, judge->options->exponential);
	judge->judged = mem_new((size_t)qrels->count, sizeof *judge->judged);
	for (int64_t i = 0; i < strings_count(judge->run->queries); i++) {
		int64_t number = judged_number(judge, i), of_query = 0;
		if (number < 0)
			continue;
		for (int64_t j = qrels->starts[number]; j < qrels->starts[number + 1];
		     j++) {
			int64_t grade = qrels->judgements[j].grade;
			if (judge->options->exponential && grade > GRADE_MOST)
				die("%s: the grade %lld is beyond an exponential gain "
				    "(%d); take --gain linear",
				    judge->options->qrels, (long long)grade, GRADE_MOST);
			judge->judged[of_query++] = grade;
		}
		int64_t found = take_hits(judge, i, number);
		ranking_add(judge->ranking, judge->grades, judge->similarity, found,
		    judge->judged, of_query);
	}
	int64_t irrelevant = ranking_irrelevant(judge->ranking);
	if (irrelevant)
		warn("%s: %lld queries have no relevant document: they count as 0, as in "
		     "the reference",
		    judge->options->qrels, (long long)irrelevant);
	report_set(report, "queries", "%lld", (long long)ranking_queries(judge->ranking));
	ranking_report(judge->ranking, report, "");
	report_main(report, "ndcg_at_10", "there is no query");
	ranking_free(judge->ranking);
	free(judge->judged);
	free(judge->grades);
	free(judge->similarity);
}

static void
describe(struct report *report, const struct retrieval_options *options)
{
	report_set(report, "similarity", "%s",
	    options->found ? "given" : similarity_name(options->similarity));
	report_set(report, "ties", "id descending");
	report_set(report, "precision", "float32");
	report_set(report, "rounding", "5 decimals (mrr none)");
	report_set(report, "gain", "%s", options->exponential ? "2^grade - 1" : "grade");
	if (!options->found)
		report_set(report, "depth", "%d", DEPTH);
	if (options->candidates)
		report_set(report, "candidates", "given");
	report_set(report, "identical ids", "%s",
	    options->ignore_identical ? "ignored" : "kept");
}

static struct run *
find(const struct judge *judge)
{
	const struct retrieval_options *options = judge->options;

	if (options->found)
		return run_read(options->found);
	return run_search(&(struct run_options){ .queries = options->queries,
	    .corpus = options->corpus,
	    .field = options->field,
	    .similarity = options->similarity,
	    .any_model = options->any_model,
	    .depth = DEPTH,
	    .memory = options->memory,
	    .candidates = options->candidates,
	    .wanted = judge->qrels ? judge->qrels->queries : NULL });
}

void
score_retrieval(struct report *report, const struct retrieval_options *options)
{
	struct judge judge = { .options = options };

	if (options->qrels)
		judge.qrels = qrels_read(options->qrels);
	if (options->qrels && judge.qrels->repeated)
		warn("%s: %lld pairs are judged more than once: the last grade counts",
		    options->qrels, (long long)judge.qrels->repeated);
	describe(report, options);
	judge.run = find(&judge);
	report_set(
	    report, "documents", "%lld", (long long)strings_count(judge.run->documents));
	if (options->ignore_identical)
		run_ignore_identical(judge.run);
	if (options->qrels) {
		tell_queries(&judge, options->found ? options->found : options->queries);
		if (!judge.run->from_file)
			tell_documents(&judge);
		measure(&judge, report);
		qrels_free(judge.qrels);
	}
	if (options->run)
		run_write(judge.run, options->run, options->top);
	run_free(judge.run);
}
