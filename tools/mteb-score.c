/*
 * mteb-score - score embeddings as MTEB does
 *
 * reads	FIELD.emb (f32 [width]) and, by the type of task, gold scores, ids or labels:
 *		see the table in mteb-score(1) and lib/score/score.h
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

enum {
	OPT_QRELS = CLI_LONG,
	OPT_IDENTICAL,
	OPT_CANDIDATES,
	OPT_FROM_RUN,
	OPT_RUN,
	OPT_GAIN,
	OPT_AT,
	OPT_COMPLETE,
	OPT_PER_QUERY,
	OPT_MEMORY,
	OPT_ANY_MODEL,
	OPT_TRAIN,
	OPT_SAMPLES,
	OPT_EXPERIMENTS,
	OPT_LABEL,
	OPT_LEGACY,
	OPT_SET,
	OPT_SKLEARN,
	OPT_SIMILARITY,
	OPT_SOLVER,
	OPT_DOCUMENTS,
	OPT_PROTOCOL,
	OPT_JSON
};

static const struct cli_option options[] = {
	{ 'f', "field", "NAME",
	    "take the embeddings from NAME.emb (default: the only ones)\n"
	    "sts, pairclassification: twice (default: sentence1, sentence2)" },
	{ OPT_QRELS, "qrels", "FILE", "retrieval: the relevance judgements" },
	{ OPT_IDENTICAL, "ignore-identical-ids", NULL,
	    "retrieval: a document called as the query is no hit" },
	{ OPT_CANDIDATES, "candidates", "FILE",
	    "retrieval: compare a query with these only: a TREC run, or\n"
	    "MTEB's JSON Lines of reranking" },
	{ OPT_FROM_RUN, "from-run", "FILE",
	    "retrieval: score this TREC run, without embeddings" },
	{ OPT_RUN, "run", "FILE",
	    "retrieval: write what was found, as TREC does, tabs between;\n"
	    "without --qrels nothing is scored" },
	{ 'k', "top", "N", "retrieval: documents a query in --run (default: 1000)" },
	{ OPT_GAIN, "gain", "linear|exp",
	    "retrieval: gain of nDCG: the grade (default) or 2^grade - 1" },
	{ OPT_AT, "at", "K,...",
	    "retrieval, reranking: the cut-offs, and that of the main score\n"
	    "(default: 1,3,5,10,20,100,1000)" },
	{ OPT_COMPLETE, "complete", NULL,
	    "retrieval: judged queries without hits count as 0" },
	{ OPT_PER_QUERY, "per-query", "FILE",
	    "all types but clustering-fast: write the scores of each query,\n"
	    "row, text, pair or set, as TSV" },
	{ OPT_MEMORY, "memory", "SIZE",
	    "retrieval: what queries, hits and two blocks of documents may take\n"
	    "(512M, 2G (default: 16 MB for a block))" },
	{ OPT_ANY_MODEL, "any-model", NULL,
	    "retrieval, classification: the two streams may be of two models" },
	{ OPT_TRAIN, "train", "FILE", "classification: the training stream" },
	{ OPT_SAMPLES, "samples", "N",
	    "classification: training rows a label (default: 8)\n"
	    "clustering-fast: texts of an experiment (default: 16384)" },
	{ OPT_EXPERIMENTS, "experiments", "N",
	    "classification, clustering-fast: samples drawn (default: 10)" },
	{ OPT_SOLVER, "solver", "exact|reference",
	    "classification: fit to the optimum (default), or stop where\n"
	    "scikit-learn stops" },
	{ OPT_DOCUMENTS, "max-documents", "N|SHARE|all",
	    "clustering-fast: texts to draw from (default: 0.04 of all)" },
	{ OPT_LABEL, "label", "NAME",
	    "classification, clustering, clustering-fast: the column\n"
	    "(default: label or labels)" },
	{ OPT_LEGACY, "legacy-sum", "WEIGHT",
	    "classification, clustering: average two fields' answers (audit)" },
	{ OPT_SET, "set", "NAME",
	    "clustering: the column that names a row's set (default: set, if any)" },
	{ 'b', "batch", "N",
	    "clustering: rows of a mini-batch (default: 500)\n"
	    "clustering-fast: rows of a mini-batch (default: 512)" },
	{ OPT_SKLEARN, "sklearn", "1.8|1.9",
	    "clustering, clustering-fast: whose random stream: that of\n"
	    "scikit-learn 1.3 to 1.8 (default) or of 1.9" },
	{ 's', "seed", "N",
	    "classification, clustering, clustering-fast: of the random\n"
	    "numbers (default: 42)" },
	{ OPT_SIMILARITY, "similarity", "cosine|dot|euclidean|manhattan",
	    "how vectors are compared (default: the model's way, else\n"
	    "cosine); retrieval: cosine or dot" },
	{ OPT_PROTOCOL, "protocol", "v1|v2", "that of mteb 1.x (default) or 2.x" },
	{ OPT_JSON, "json", NULL, "print JSON instead of lines" }, CLI_OUTPUT,
	CLI_THREADS, { 0 }
};

#define ALL "protocol json output threads "
static const struct cli_command commands[] = {
	{ "sts", "how well similarity follows people's judgement",
	    ALL "field similarity per-query", 0, 1, NULL },
	{ "pairclassification", "whether similarity tells pairs from others",
	    ALL "field similarity per-query", 0, 1, NULL },
	{ "reranking", "whether a query is nearest to its own texts",
	    ALL "similarity at per-query", 0, 1, NULL },
	{ "summarization", "whether similarity follows people's judgement of summaries",
	    ALL "similarity per-query", 0, 1, NULL },
	{ "retrieval", "find the documents of a corpus that answer a query",
	    ALL
	    "field qrels ignore-identical-ids candidates from-run run top gain at complete per-query memory any-model similarity",
	    0, 2, NULL },
	{ "classification", "how well a linear classifier tells the labels",
	    ALL
	    "field train samples experiments label seed solver any-model per-query legacy-sum",
	    0, 1, NULL },
	{ "clustering", "whether k-means finds the labels again",
	    ALL "field label set batch sklearn seed per-query legacy-sum", 0, 1, NULL },
	{ "clustering-fast", "k-means on samples of a sample, as MTEB does since 2024",
	    ALL "field label max-documents samples experiments batch sklearn seed", 0, 1,
	    NULL },
	{ 0 },
};

static const struct cli cli = { "mteb-score", "score embeddings as MTEB does",
	"sts|pairclassification|reranking|summarization [OPTION]... [FILE]\n"
	"       mteb-score retrieval --qrels QRELS [OPTION]... QUERIES CORPUS\n"
	"       mteb-score retrieval --qrels QRELS --from-run RUN [OPTION]...\n"
	"       mteb-score classification --train TRAIN [OPTION]... [TEST]\n"
	"       mteb-score clustering|clustering-fast [OPTION]... [FILE]",
	options,
	"  tok -m DIR pairs.jsonl | encode -m DIR | mteb-score sts\n"
	"  mteb-score pairclassification --protocol v2 labelled.mts\n"
	"  mteb-score reranking --protocol v2 candidates.mts\n"
	"  mteb-score summarization summaries.mts\n"
	"  mteb-score retrieval --qrels test.tsv q.mts c.mts\n"
	"  mteb-score classification --train train.mts test.mts\n"
	"  mteb-score clustering --json sets.mts\n"
	"  mteb-score clustering-fast --max-documents all rows.mts\n",
	nn_about, commands, ".mts" };

static void
check_reranking(const struct score_options *score)
{
	if (score->protocol == PROTOCOL_V1)
		cli_only(&cli, "reranking by protocol v1", ALL "similarity per-query");
}

static void
check_retrieval(const struct score_options *score)
{
	const char *const *files = score->files;

	if (!score->qrels && (score->from_run || !score->run))
		die_usage("retrieval needs --qrels FILE%s",
		    score->from_run ? "" : " or --run FILE");
	if (!score->qrels)
		cli_only(&cli, "retrieval without --qrels",
		    "field ignore-identical-ids candidates run top memory any-model similarity threads");
	if (score->from_run)
		cli_only(&cli, "retrieval --from-run",
		    "qrels from-run ignore-identical-ids run top gain at complete per-query protocol json output threads");
	if (score->qrels && score->run && strcmp(score->run, "-") == 0)
		die_usage("standard output is for the scores: give --run a file");
	if (score->from_run && files[0])
		die_usage("with --from-run there is nothing to compare");
	if (!score->from_run && (!files[0] || !files[1]))
		die_usage("retrieval takes two streams: queries and corpus");
	if (score->similarity > SIMILARITY_DOT)
		die_usage("--similarity: retrieval knows cosine and dot");
}

static void
check_classification(const struct score_options *score)
{
	if (!score->train)
		die_usage("classification needs --train FILE");
	if (score->legacy_sum > 0 &&
	    (!strcmp(score->train, "-") || !strcmp(score->files[0], "-")))
		die_usage("--legacy-sum reads both streams twice: name the files");
}

/* What does each of them. */
static const struct {
	void (*score)(struct report *, const struct score_options *);
	int fields; /* that it compares */
	void (*check)(const struct score_options *);
} types[] = { { score_sts, 2, NULL }, { score_pairclassification, 2, NULL },
	{ score_reranking, 0, check_reranking }, { score_summarization, 0, NULL },
	{ score_retrieval, 1, check_retrieval },
	{ score_classification, 1, check_classification }, { score_clustering, 1, NULL },
	{ score_clustering_fast, 1, NULL } };

struct settings {
	struct score_options score;
	int fields; /* how many were named */
	const char *output, *per_query;
	bool json;
	int threads;
};

/* Whether the second of an option's two values was given. */
static bool
second(const char *option, const char *one, const char *other)
{
	const char *const words[] = { one, other, NULL };

	return cli_word(option, optarg, words) == 1;
}

static void
take(struct settings *settings, int option)
{
	struct score_options *score = &settings->score;

	switch (option) {
	case OPT_QRELS: score->qrels = optarg; break;
	case OPT_IDENTICAL: score->ignore_identical = true; break;
	case OPT_CANDIDATES: score->candidates = optarg; break;
	case OPT_FROM_RUN: score->from_run = optarg; break;
	case OPT_RUN: score->run = optarg; break;
	case 'k': score->top = cli_integer("--top", 1, 1000); break;
	case OPT_GAIN: score->exponential = second("--gain", "linear", "exp"); break;
	case OPT_AT:
		score->cuts.count =
		    cli_integers("--at", 1, 1000, score->cuts.at, RANKING_CUTS);
		break;
	case OPT_COMPLETE: score->complete = true; break;
	case OPT_MEMORY: score->memory = (size_t)cli_bytes("--memory"); break;
	case OPT_ANY_MODEL: score->any_model = true; break;
	case OPT_TRAIN: score->train = optarg; break;
	case OPT_SAMPLES:
		score->samples = (int)cli_integer("--samples", 1, 1000000);
		break;
	case OPT_EXPERIMENTS:
		score->experiments = (int)cli_integer("--experiments", 1, 1000);
		break;
	case OPT_LABEL: score->label = optarg; break;
	case OPT_LEGACY: score->legacy_sum = cli_real("--legacy-sum", 1e-6, 1e6); break;
	case OPT_SET: score->set = optarg; break;
	case 'b': score->batch = (int)cli_integer("--batch", 1, 1000000); break;
	case OPT_SKLEARN: score->by_choice = second("--sklearn", "1.8", "1.9"); break;
	case OPT_SIMILARITY:
		if (!similarity_parse(optarg, &score->similarity))
			die_usage("--similarity: '%s' is none that --help lists", optarg);
		break;
	case OPT_SOLVER:
		score->reference = second("--solver", "exact", "reference");
		break;
	case OPT_DOCUMENTS:
		score->documents = strcmp(optarg, "all") == 0
				       ? 0
				       : cli_real("--max-documents", 1e-9, 1e12);
		break;
	case 's': score->seed = (uint32_t)cli_integer("--seed", 0, UINT32_MAX); break;
	}
}

static void
parse(struct settings *settings, int argc, char **argv)
{
	struct score_options *score = &settings->score;
	int option;

	while ((option = cli_next(&cli, argc, argv)) != -1) {
		switch (option) {
		case 'f':
			if (settings->fields == 2)
				die_usage("--field was given more than twice");
			score->fields[settings->fields++] = optarg;
			break;
		case 'o': settings->output = optarg; break;
		case OPT_PER_QUERY: settings->per_query = optarg; break;
		case OPT_JSON: settings->json = true; break;
		case OPT_PROTOCOL:
			score->protocol = PROTOCOL_V1 + second("--protocol", "v1", "v2");
			break;
		case 'j': settings->threads = cli_threads(); break;
		default: take(settings, option);
		}
	}
}

int
main(int argc, char **argv)
{
	struct settings settings = { .score = { .protocol = PROTOCOL_V1,
					 .top = 1000,
					 .documents = 0.04,
					 .experiments = 10,
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
	if (settings.fields != fields && (settings.fields || score->legacy_sum > 0))
		die_usage(fields == 2 ? "%s compares two fields: give --field twice"
				      : "%s takes one --field",
		    type->name);
	for (int i = 0; i < count; i++)
		score->files[i] = argv[optind + 1 + i];
	if (type->most == 1 && count == 0)
		score->files[0] = "-";
	if (types[number].check)
		types[number].check(score);
	if (settings.per_query && !strcmp(settings.per_query, "-"))
		die_usage("standard output is for the scores: give --per-query a file");
	if (settings.per_query)
		score->per_query = per_query_create(settings.per_query);
	nn_start(settings.threads, argv);
	struct report *report = report_new(type->name);
	report_set(report, "protocol", "v%d", score->protocol);
	types[number].score(report, score);
	if (score->per_query)
		per_query_finish(score->per_query);
	if (!score->run || score->qrels) {
		struct output *output = output_print(settings.output);
		report_print(report, settings.json);
		output_finish(output);
	}
	report_free(report);
	return 0;
}
