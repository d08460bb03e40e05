/*
 * mteb-score - score embeddings as MTEB does
 *
 * reads	FIELD.emb (f32 [width]) and, by the type of task, gold scores, ids or labels (lib/score/score.h)
 * writes	one line of settings and "metric<TAB>value" lines, or JSON
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/output.h"
#include "nn/nn.h"
#include "score/score.h"

enum { OPT_AT = CLI_LONG, OPT_DOCUMENTS, OPT_TEST_ROWS, OPT_EARLIER };

struct settings {
	struct score_options score;
	struct cli_list fields;
	enum { SKLEARN_1_8 = 1, SKLEARN_1_9 } sklearn; /* 0: 1.8 by v1, 1.9 by v2 */
	const char *output, *per_query;
	bool json;
	int threads;
};

static const struct cli_option options[] = {
	{ 'f', "field", "NAME",
	    "embeddings are NAME.emb (default: the only ones)\nsts, pairclassification, bitextmining: give it twice (default: sentence1, sentence2)",
	    CLI_LIST(fields) },
	{ 0, "qrels", "FILE", "retrieval: relevance judgements", CLI_TEXT(score.qrels) },
	{ 0, "ignore-identical-ids", NULL,
	    "retrieval: drop the document with the query's id",
	    CLI_FLAG(score.ignore_identical) },
	{ 0, "candidates", "FILE",
	    "retrieval: compare each query with these documents: a TREC run, or MTEB's JSON Lines of reranking",
	    CLI_TEXT(score.candidates) },
	{ 0, "from-run", "FILE", "retrieval: score this run, without embeddings",
	    CLI_TEXT(score.from_run) },
	{ 0, "run", "FILE",
	    "retrieval: write a TREC run; without --qrels nothing is scored",
	    CLI_TEXT(score.run) },
	{ 'k', "top", "N", "retrieval: documents a query in --run (default: 1000)",
	    CLI_INTEGER(score.top, 1, 1000) },
	{ 0, "gain", "linear|exp",
	    "retrieval: gain of nDCG: grade (default) or 2^grade - 1",
	    CLI_WORD(score.exponential, 0) },
	{ OPT_AT, "at", "K,...",
	    "retrieval, reranking: cut-offs (default: 1,3,5,10,20,100,1000)",
	    CLI_CUSTOM },
	{ 0, "complete", NULL, "retrieval: judged queries without hits count as 0",
	    CLI_FLAG(score.complete) },
	{ 0, "judged-only", NULL, "retrieval: drop documents that are not judged",
	    CLI_FLAG(score.judged_only) },
	{ 0, "measures", "mteb|trec",
	    "retrieval: MTEB's measures (default), or trec_eval's, by its names",
	    CLI_WORD(score.trec, 0) },
	{ 0, "changed", "FILE",
	    "retrieval: p-MRR; FILE names the documents that the queries ID-changed make irrelevant",
	    CLI_TEXT(score.changed) },
	{ 0, "groups", "robustness|pairs|levels|subqueries",
	    "retrieval: a further score of queries whose ids begin alike",
	    CLI_WORD(score.groups, INSTRUCTION_ROBUSTNESS) },
	{ 0, "relevant", "N",
	    "retrieval --measures trec: the least grade that is relevant (default: 1)",
	    CLI_INTEGER(score.level, 1, 1000000) },
	{ 0, "per-query", "FILE",
	    "all types but clustering-fast: write the scores of each query, row, text, pair or set, as TSV",
	    CLI_TEXT(per_query) },
	{ 0, "memory", "SIZE",
	    "retrieval: memory for queries, hits and two blocks of documents, 512M or 2G (default: blocks of 16 MB)",
	    CLI_BYTES(score.memory) },
	{ 0, "any-model", NULL,
	    "retrieval, classification, multilabelclassification, regression: accept streams of two models",
	    CLI_FLAG(score.any_model) },
	{ 0, "train", "FILE",
	    "classification, multilabelclassification, regression: training stream",
	    CLI_TEXT(score.train) },
	{ 0, "samples", "N",
	    "classification, multilabelclassification: training rows a label (default: 8)\nclustering-fast: texts an experiment (default: 16384)\nregression: training rows an experiment (default: 2048)",
	    CLI_INTEGER(score.samples, 1, 1000000) },
	{ 0, "experiments", "N",
	    "classification, multilabelclassification, regression, clustering-fast: number of experiments (default: 10)",
	    CLI_INTEGER(score.experiments, 1, 1000) },
	{ 0, "solver", "exact|reference",
	    "classification: fit to the optimum (default), or stop where scikit-learn stops",
	    CLI_WORD(score.reference, 0) },
	{ OPT_DOCUMENTS, "max-documents", "N|SHARE|all",
	    "clustering-fast: texts to draw from (default: 0.04 of all)", CLI_CUSTOM },
	{ OPT_TEST_ROWS, "test-rows", "N|all",
	    "multilabelclassification: test rows, drawn from more (default: 3000)",
	    CLI_CUSTOM },
	{ OPT_EARLIER, "earlier", "N,...",
	    "multilabelclassification: training rows of the subsets that mteb scores before this one",
	    CLI_CUSTOM },
	{ 0, "label", "NAME",
	    "classification, multilabelclassification, clustering, clustering-fast: column (default: label or labels)\nregression: column (default: value or label)",
	    CLI_TEXT(score.label) },
	{ 0, "legacy-sum", "WEIGHT",
	    "classification, clustering: average the predictions of two fields, as MoEE's code",
	    CLI_REAL(score.legacy_sum, 1e-6, 1e6) },
	{ 0, "set", "NAME", "clustering: column of a row's set (default: set)",
	    CLI_TEXT(score.set) },
	{ 'b', "batch", "N",
	    "clustering: rows of a mini-batch (default: 500)\nclustering-fast: rows of a mini-batch (default: 512)",
	    CLI_INTEGER(score.batch, 1, 1000000) },
	{ 0, "sklearn", "1.8|1.9",
	    "clustering, clustering-fast: random numbers of scikit-learn 1.3 to 1.8, or of 1.9\nregression: its least singular value (default: 1.9; --protocol v1: 1.8)",
	    CLI_WORD(sklearn, SKLEARN_1_8) },
	{ 's', "seed", "N",
	    "classification, multilabelclassification, regression, clustering, clustering-fast: seed (default: 42)",
	    CLI_INTEGER(score.seed, 0, UINT32_MAX) },
	{ 0, "similarity", "cosine|dot|maxsim|meanmaxsim|euclidean|manhattan",
	    "similarity function (default: the model's, else cosine); retrieval: cosine, dot, or of vectors of tokens maxsim; bitextmining: cosine or dot",
	    CLI_WORD(score.similarity, SIMILARITY_COSINE) },
	{ 0, "protocol", "v1|v2", "mteb 1.x or 2.x (default)",
	    CLI_WORD(score.protocol, PROTOCOL_V1) },
	{ 0, "json", NULL, "print JSON instead of lines", CLI_FLAG(json) },
	CLI_OUTPUT(output), CLI_THREADS(threads), { 0 }
};

#define ALL "protocol json output threads "
static const struct cli_command commands[] = {
	{ "sts", "correlation of similarity with gold scores",
	    ALL "field similarity per-query", 0, 1, NULL },
	{ "pairclassification", "separate matching pairs from others by similarity",
	    ALL "field similarity per-query", 0, 1, NULL },
	{ "bitextmining", "find the translation of a sentence among all",
	    ALL "field similarity per-query", 0, 1, NULL },
	{ "reranking", "rank the positive and negative texts of a query",
	    ALL "similarity at per-query", 0, 1, NULL },
	{ "summarization", "correlation of similarity with ratings of summaries",
	    ALL "similarity per-query", 0, 1, NULL },
	{ "retrieval", "find the relevant documents of a query in a corpus",
	    ALL
	    "field qrels ignore-identical-ids candidates from-run run top gain at complete judged-only measures changed groups relevant per-query memory any-model similarity",
	    0, 2, NULL },
	{ "classification", "accuracy of a linear classifier",
	    ALL
	    "field train samples experiments label seed solver any-model per-query legacy-sum",
	    0, 1, NULL },
	{ "multilabelclassification", "accuracy of the labels of nearest neighbours",
	    ALL
	    "field train samples experiments label seed test-rows earlier any-model per-query",
	    0, 1, NULL },
	{ "regression", "error of numbers predicted by a linear regression",
	    ALL "field train samples experiments label seed sklearn any-model per-query",
	    0, 1, NULL },
	{ "clustering", "V-measure of k-means against labels",
	    ALL "field label set batch sklearn seed per-query legacy-sum", 0, 1, NULL },
	{ "clustering-fast", "k-means on samples, as in MTEB since 2024",
	    ALL "field label max-documents samples experiments batch sklearn seed", 0, 1,
	    NULL },
	{ 0 },
};

static const struct cli cli = { "mteb-score", "score embeddings as MTEB does",
	"sts|pairclassification|bitextmining [OPTION]... [FILE]\n"
	"       mteb-score reranking|summarization [OPTION]... [FILE]\n"
	"       mteb-score retrieval --qrels QRELS [OPTION]... QUERIES CORPUS\n"
	"       mteb-score retrieval --qrels QRELS --from-run RUN [OPTION]...\n"
	"       mteb-score classification|regression --train TRAIN [OPTION]... [TEST]\n"
	"       mteb-score multilabelclassification --train TRAIN [OPTION]... [TEST]\n"
	"       mteb-score clustering|clustering-fast [OPTION]... [FILE]",
	options,
	"  tok -m DIR pairs.jsonl | encode -m DIR | mteb-score sts\n"
	"  mteb-score pairclassification labelled.mts\n"
	"  mteb-score bitextmining translations.mts\n"
	"  mteb-score reranking --protocol v1 candidates.mts\n"
	"  mteb-score summarization summaries.mts\n"
	"  mteb-score retrieval --qrels test.tsv q.mts c.mts\n"
	"  mteb-score classification --train train.mts test.mts\n"
	"  mteb-score multilabelclassification --train topics.mts test-topics.mts\n"
	"  mteb-score regression --train years.mts test-years.mts\n"
	"  mteb-score clustering --json sets.mts\n"
	"  mteb-score clustering-fast --max-documents all rows.mts\n",
	nn_about, commands, ".mts" };

/* Dies on a cut-off beyond the ranks that a search keeps. */
static void
check_cuts(const struct score_options *score)
{
	for (int i = 0; i < score->cuts.count; i++)
		if (score->cuts.at[i] > 1000)
			die_usage(
			    "--at: a search keeps 1000 documents a query; 'near -k %lld --run' keeps more, for retrieval --from-run",
			    (long long)score->cuts.at[i]);
}

static void
check_reranking(const struct score_options *score)
{
	if (score->protocol == PROTOCOL_V1)
		cli_only(&cli, "reranking by protocol v1", ALL "similarity per-query");
	check_cuts(score);
}

/* Dies on a similarity that search.h does not compute. */
static void
check_search(const struct score_options *score)
{
	if (score->similarity > SIMILARITY_MEANMAXSIM)
		die_usage("--similarity: retrieval and bitextmining know cosine and dot");
}

static void
check_retrieval(const struct score_options *score)
{
	if (!score->qrels && (score->from_run || !score->run))
		die_usage("retrieval needs --qrels FILE%s",
		    score->from_run ? "" : " or --run FILE");
	if (!score->qrels)
		cli_only(&cli, "retrieval without --qrels",
		    "field ignore-identical-ids candidates run top memory any-model similarity threads");
	if (score->from_run)
		cli_only(&cli, "retrieval --from-run",
		    "qrels from-run ignore-identical-ids run top gain at complete judged-only measures changed groups relevant per-query protocol json output threads");
	if (score->top && !score->run)
		die_usage("-k needs --run; --at sets the cut-offs of the scores");
	if (score->level && !score->trec)
		die_usage("--relevant needs --measures trec");
	if (score->trec && (score->changed || score->groups))
		die_usage("--changed and --groups need --measures mteb");
	if (score->complete && score->groups == INSTRUCTION_SUBQUERIES)
		die_usage("--complete has no meaning with --groups subqueries");
	if (!score->from_run)
		check_cuts(score);
	if (score->qrels && score->run && strcmp(score->run, "-") == 0)
		die_usage("standard output is for the scores: give --run a file");
	if (score->from_run && score->files[0])
		die_usage("--from-run takes no streams");
	if (!score->from_run && (!score->files[0] || !score->files[1]))
		die_usage("retrieval takes two streams: queries and corpus");
	check_search(score);
}

static void
check_train(const struct score_options *score)
{
	if (!score->train)
		die_usage("classifications and regression need --train FILE");
}

static void
check_classification(const struct score_options *score)
{
	check_train(score);
	if (score->legacy_sum > 0 &&
	    (!strcmp(score->train, "-") || !strcmp(score->files[0], "-")))
		die_usage("--legacy-sum reads both streams twice: name the files");
}

/* The functions of each type, in the order of the commands. */
static const struct {
	void (*score)(struct report *, const struct score_options *);
	int fields; /* number of --field */
	void (*check)(const struct score_options *);
} types[] = { { score_sts, 2, NULL }, { score_pairclassification, 2, NULL },
	{ score_bitextmining, 2, check_search }, { score_reranking, 0, check_reranking },
	{ score_summarization, 0, NULL }, { score_retrieval, 1, check_retrieval },
	{ score_classification, 1, check_classification },
	{ score_multilabelclassification, 1, check_train },
	{ score_regression, 1, check_train }, { score_clustering, 1, NULL },
	{ score_clustering_fast, 1, NULL } };

/* An option that takes a list, or a number or "all". */
static void
take_option(struct score_options *score, int option)
{
	bool all = strcmp(optarg, "all") == 0;

	switch (option) {
	case OPT_AT:
		score->cuts.count =
		    cli_integers("--at", 1, 1000000, score->cuts.at, RANKING_CUTS);
		break;
	case OPT_EARLIER:
		score->earlier.count = cli_integers(
		    "--earlier", 1, 100000000, score->earlier.at, RANKING_CUTS);
		break;
	case OPT_TEST_ROWS:
		score->test_rows = all ? 0 : cli_integer("--test-rows", 1, INT64_MAX);
		break;
	default: score->documents = all ? 0 : cli_real("--max-documents", 1e-9, 1e12);
	}
}

static void
parse(struct settings *settings, int argc, char **argv)
{
	struct score_options *score = &settings->score;
	int option;

	while ((option = cli_next(&cli, argc, argv, settings)) != -1)
		take_option(score, option);
	score->by_choice = settings->sklearn ? settings->sklearn == SKLEARN_1_9
					     : score->protocol == PROTOCOL_V2;
	for (int i = 0; i < settings->fields.count && i < 2; i++)
		score->fields[i] = settings->fields.items[i];
}

int
main(int argc, char **argv)
{
	struct settings settings = { .score = { .protocol = PROTOCOL_V2,
					 .documents = 0.04,
					 .experiments = 10,
					 .test_rows = 3000,
					 .seed = 42 },
		.output = "-" };
	struct score_options *score = &settings.score;

	cli_start(&cli, argc, argv);
	if (argc > 1 && !strcmp(argv[1], "compare"))
		die_usage("models are compared by 'leaderboard compare'");
	parse(&settings, argc, argv);
	const struct cli_command *type = cli_find(&cli, argc, argv);
	int number = (int)(type - commands), count = argc - optind - 1;
	int fields = score->legacy_sum > 0 ? 2 : types[number].fields;
	if (settings.fields.count != fields &&
	    (settings.fields.count || score->legacy_sum > 0))
		die_usage(fields == 2 ? "%s compares two fields: give --field twice"
				      : "%s takes one --field",
		    type->name);
	for (int i = 0; i < count; i++)
		score->files[i] = argv[optind + 1 + i];
	if (type->most == 1 && count == 0)
		score->files[0] = "-";
	if (types[number].check)
		types[number].check(score);
	bool scores = !score->run || score->qrels;
	cli_apart((const char *const[]){ "run", score->run, "per-query",
	    settings.per_query, "output", scores ? settings.output : NULL, NULL });
	if (settings.per_query)
		score->per_query = per_query_create(settings.per_query);
	nn_start(settings.threads, argv);
	struct report *report = report_new(type->name);
	report_set(report, "protocol", "v%d", score->protocol);
	types[number].score(report, score);
	if (score->per_query)
		per_query_finish(score->per_query);
	if (scores) {
		struct output *output = output_print(settings.output);
		report_print(report, settings.json);
		output_finish(output);
	}
	report_free(report);
	return 0;
}
