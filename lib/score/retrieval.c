#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "score/instructions.h"
#include "score/measure/ranking.h"
#include "score/measure/trec.h"
#include "score/score.h"
#include "score/subqueries.h"
#include "search/corpus_search.h"
#include "search/run.h"
#include "text/qrels.h"

/* GRADE_MOST: 2^grade and sums of it must not overflow */
enum { DEPTH = 1000, MAIN_CUT = 10, SUBQUERIES_CUT = 1000, GRADE_MOST = 900 };

struct judge {
	const struct score_options *options;
	struct qrels *qrels;
	struct run *run;
	struct per_query *per_query; /* or NULL */
	struct ranking *ranking;     /* or */
	struct trec *trec;
	struct ranking *original, *changed; /* with --changed */
	struct instructions *groups;	    /* or NULL */
	int64_t *grades, *judged;
	int64_t *judged_as; /* [documents]: number in qrels->documents, or -1 */
	float *similarity;
	size_t grades_room, similarity_room;
};

static void
tell_queries(const struct judge *judge, const char *found)
{
	const struct strings *judged = judge->qrels->queries,
			     *queries = judge->run->queries;
	const char *qrels = judge->options->qrels, *first = NULL, *unjudged = NULL;
	int64_t missing = strings_lacking(queries, judged, &first);
	int64_t left_out = strings_lacking(judged, queries, &unjudged);

	if (missing == strings_count(judged))
		die("%s: none of its %lld queries has judgements in %s (the first there is '%s'); are these the queries of those qrels?",
		    found, (long long)strings_count(queries), qrels, first);
	if (missing)
		warn("%s: %lld queries have judgements but %s: %s; first: '%s'", qrels,
		    (long long)missing,
		    judge->options->from_run ? "nothing was found for them"
					     : "no embedding",
		    judge->options->complete ? "they count as 0"
		    : judge->options->from_run
			? "the means are over the others, as in trec_eval"
			: "the means are over the others",
		    first);
	if (left_out)
		warn(
		    "%s: %lld queries have no judgements: they are left out; first: '%s'",
		    found, (long long)left_out, unjudged);
}

static void
tell_documents(const struct judge *judge)
{
	const struct strings *judged = judge->qrels->documents;
	const char *first = NULL, *qrels = judge->options->qrels;
	int64_t unknown = strings_lacking(judge->run->documents, judged, &first);

	if (unknown == strings_count(judged))
		die("%s: it has none of the %lld documents of %s (first: '%s'); is this the corpus of those qrels?",
		    judge->options->files[1], (long long)unknown, qrels, first);
	if (unknown)
		warn(
		    "%s: %lld judged documents are not in the corpus: they count as not found; first: '%s'",
		    qrels, (long long)unknown, first);
}

/* Maps the run's document numbers to those of the qrels once, so that hits need no look-up of ids. */
static void
number_documents(struct judge *judge)
{
	const struct strings *documents = judge->run->documents,
			     *judged = judge->qrels->documents;
	int64_t count = strings_count(documents);

	judge->judged_as = mem_new((size_t)count, sizeof *judge->judged_as);
	for (int64_t i = 0; i < count; i++)
		judge->judged_as[i] = -1;
	for (int64_t i = 0; i < strings_count(judged); i++) {
		int64_t document = strings_find_from(documents, judged, i);
		if (document >= 0)
			judge->judged_as[document] = i;
	}
}

/* Fills in the grades and similarities of a query's hits, by rank; returns their number.  With --judged-only hits
 * without a grade of 0 or more are left out, as by trec_eval -J. */
static int64_t
take_hits(struct judge *judge, int64_t query, int64_t number)
{
	const struct hit *hits = judge->run->hits[query].at;
	int64_t found = judge->run->hits[query].count, taken = 0;
	size_t need = (size_t)found;

	judge->grades =
	    mem_grow(judge->grades, &judge->grades_room, need, sizeof *judge->grades);
	judge->similarity = mem_grow(
	    judge->similarity, &judge->similarity_room, need, sizeof *judge->similarity);
	for (int64_t i = 0; i < found; i++) {
		int64_t document = judge->judged_as[hits[i].document];
		int64_t grade = document < 0
				    ? RANKING_UNJUDGED
				    : qrels_grade(judge->qrels, number, document);
		if (judge->options->judged_only && grade < 0)
			continue;
		judge->similarity[taken] = hits[i].score;
		judge->grades[taken++] = grade;
	}
	return taken;
}

/* Fills in the grades of all judged documents of a query; returns their number. */
static int64_t
take_judgements(struct judge *judge, int64_t number)
{
	const struct qrels *qrels = judge->qrels;
	int64_t count = 0;

	for (int64_t j = qrels->starts[number]; j < qrels->starts[number + 1]; j++) {
		int64_t grade = qrels->judgements[j].grade;
		if (judge->options->exponential && grade > GRADE_MOST)
			die("%s: the grade %lld is beyond an exponential gain (%d); take --gain linear",
			    judge->options->qrels, (long long)grade, GRADE_MOST);
		judge->judged[count++] = grade;
	}
	return count;
}

/* Adds the query to the scores of instructions. */
static void
measure_instructions(
    struct judge *judge, const char *id, size_t length, int64_t found, int64_t judgements)
{
	struct graded_list list = ranking_list(judge->grades, found, judge->judged,
	    judgements, 1, judge->options->exponential);

	if (judge->original)
		ranking_add(
		    instructions_original(id, length) ? judge->original : judge->changed,
		    judge->grades, judge->similarity, found, judge->judged, judgements);
	if (judge->groups)
		instructions_add(judge->groups, id, length, &list);
}

static void
measure_query(struct judge *judge, int64_t number, int64_t found)
{
	const struct strings *judged = judge->qrels->queries;
	const char *id = strings_get(judged, number);
	size_t length = strings_length(judged, number);
	int64_t judgements = take_judgements(judge, number);

	if (judge->trec)
		trec_add(judge->trec, judge->grades, found, judge->judged, judgements);
	else
		ranking_add(judge->ranking, judge->grades, judge->similarity, found,
		    judge->judged, judgements);
	measure_instructions(judge, id, length, found, judgements);
	per_query_add(judge->per_query, id, length);
}

/* Scores the run's queries; with --complete also the judged queries without hits. */
static void
measure_queries(struct judge *judge)
{
	const struct strings *queries = judge->run->queries;
	const struct strings *judged = judge->qrels->queries;

	for (int64_t i = 0; i < strings_count(queries); i++) {
		int64_t number = strings_find_from(judged, queries, i);
		if (number >= 0)
			measure_query(judge, number, take_hits(judge, i, number));
	}
	for (int64_t i = 0; judge->options->complete && i < strings_count(judged); i++)
		if (strings_find_from(queries, judged, i) < 0)
			measure_query(judge, i, 0);
}

static struct ranking *
new_ranking(const struct score_options *options, int64_t main_cut)
{
	return ranking_new(
	    options->protocol, options->exponential, &options->cuts, main_cut);
}

/* The measures of the queries with original or changed instructions, as an object. */
static void
report_queries(struct report *report, const char *name, struct ranking *ranking)
{
	struct report part = report_part(report);

	if (!ranking_queries(ranking))
		die("--changed: no query with judgements has an id %s",
		    name[0] == 'o' ? "that ends with -og"
				   : "that ends otherwise than with -og");
	ranking_report(ranking, &part, NULL, "");
	report_put(report, name, &part);
	ranking_free(ranking);
}

static void
report_instructions(struct judge *judge, struct report *report)
{
	const struct score_options *options = judge->options;

	if (judge->groups) {
		instructions_report(judge->groups, report, options->qrels);
		instructions_free(judge->groups);
	}
	if (options->changed) {
		report_score(
		    report, instructions_p_mrr(judge->run, options->changed), "p-MRR");
		report_queries(report, "og", judge->original);
		report_queries(report, "changed", judge->changed);
		report_main(report, "p-MRR", "there is no query");
	}
}

/* The measures of the queries that are merged from subqueries; the table per query is of them. */
static void
measure_subqueries(struct judge *judge, struct report *report)
{
	struct run *subqueries = judge->run;

	judge->run = subqueries_merge(subqueries, judge->qrels);
	judge->per_query = judge->options->per_query;
	judge->ranking = new_ranking(judge->options, SUBQUERIES_CUT);
	measure_queries(judge);
	ranking_report(judge->ranking, report, judge->per_query, "max_over_subqueries_");
	report_main(report, "max_over_subqueries_map_at_1000", "there is no query");
	ranking_free(judge->ranking);
	run_free(judge->run);
	judge->run = subqueries;
}

/* By MTEB's measures. */
static void
measure_ranking(struct judge *judge, struct report *report)
{
	const struct score_options *options = judge->options;
	bool subqueries = options->groups == INSTRUCTION_SUBQUERIES;

	judge->per_query = subqueries ? NULL : options->per_query;
	judge->ranking = new_ranking(options, MAIN_CUT);
	if (options->changed) {
		judge->original = new_ranking(options, MAIN_CUT);
		judge->changed = new_ranking(options, MAIN_CUT);
	}
	if (options->groups && !subqueries)
		judge->groups = instructions_new(options->groups);
	measure_queries(judge);
	int64_t irrelevant = ranking_irrelevant(judge->ranking);
	if (irrelevant)
		warn(
		    "%s: %lld queries have no relevant document: they count as 0, as in the reference",
		    options->qrels, (long long)irrelevant);
	report_set(report, "queries", "%lld", (long long)ranking_queries(judge->ranking));
	ranking_report(judge->ranking, report, judge->per_query, "");
	report_main(report, "ndcg_at_10", "there is no query");
	report_instructions(judge, report);
	ranking_free(judge->ranking);
	if (subqueries)
		measure_subqueries(judge, report);
}

/* By trec_eval's. */
static void
measure_trec(struct judge *judge, struct report *report)
{
	const struct score_options *options = judge->options;

	int64_t level = options->level ? options->level : 1;

	judge->per_query = options->per_query;
	judge->trec = trec_new(level, options->exponential, &options->cuts);
	measure_queries(judge);
	report_set(report, "relevant from grade", "%lld", (long long)level);
	trec_report(judge->trec, report, judge->per_query);
	report_main(report, "map", "there is no query");
	trec_free(judge->trec);
}

static void
measure(struct judge *judge, struct report *report)
{
	judge->judged = mem_new((size_t)judge->qrels->count, sizeof *judge->judged);
	number_documents(judge);
	if (judge->options->trec)
		measure_trec(judge, report);
	else
		measure_ranking(judge, report);
	free(judge->judged);
	free(judge->judged_as);
	free(judge->grades);
	free(judge->similarity);
}

static void
describe(
    struct report *report, const struct score_options *options, const struct run *run)
{
	const struct run_origin *origin = &run->origin;

	report_set(report, "similarity", "%s",
	    origin->known ? similarity_name(origin->similarity) : "given");
	report_set(report, "ties", "id descending");
	report_set(report, "precision", "float32");
	report_set(report, "rounding", options->trec ? "none" : "5 decimals (mrr none)");
	if (options->judged_only)
		report_set(report, "hits", "judged only");
	report_set(report, "gain", "%s", options->exponential ? "2^grade - 1" : "grade");
	if (origin->known)
		report_set(report, "depth", "%lld", (long long)origin->depth);
	if (origin->known && origin->threshold > -INFINITY)
		report_set(report, "threshold", "%g", (double)origin->threshold);
	if (origin->candidates)
		report_set(report, "candidates", "given");
	report_set(report, "identical ids", "%s", origin->others ? "ignored" : "kept");
	if (options->complete)
		report_set(report, "queries without hits", "0");
	report_set(report, "documents", "%lld",
	    (long long)(origin->known ? origin->documents
				      : strings_count(run->documents)));
}

static struct run *
search(const struct score_options *options, const struct qrels *qrels)
{
	struct search_options wanted = { .queries = options->files[0],
		.corpus = &options->files[1],
		.streams = 1,
		.field = options->fields[0],
		.similarity = options->similarity,
		.any_model = options->any_model,
		.reason = "by which the qrels name the rows",
		.candidates = options->candidates,
		.wanted = qrels ? qrels->queries : NULL,
		.named = qrels,
		.depth = DEPTH,
		.threshold = -INFINITY,
		.memory = options->memory };
	struct corpus_search *searching = corpus_search_open(&wanted);
	struct run *run = corpus_search_next(searching);

	corpus_search_close(searching);
	return run;
}

void
score_retrieval(struct report *report, const struct score_options *options)
{
	struct judge judge = { .options = options };
	const char *found = options->from_run ? options->from_run : options->files[0];

	if (options->qrels)
		judge.qrels = qrels_read(options->qrels);
	if (options->qrels && judge.qrels->repeated)
		warn("%s: %lld pairs are judged more than once: the last grade counts",
		    options->qrels, (long long)judge.qrels->repeated);
	judge.run = options->from_run ? run_read(options->from_run)
				      : search(options, judge.qrels);
	if (options->ignore_identical)
		run_ignore_identical(judge.run);
	describe(report, options, judge.run);
	if (options->qrels) {
		tell_queries(&judge, found);
		if (!options->from_run)
			tell_documents(&judge);
		measure(&judge, report);
		qrels_free(judge.qrels);
	}
	if (options->run) {
		struct output *output = output_open(options->run, false);
		run_write(judge.run, output, options->top ? options->top : 1000);
		output_finish(output);
	}
	run_free(judge.run);
}
