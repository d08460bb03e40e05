/*
 * mteb-score - score embeddings as MTEB does
 *
 * reads	FIELD.emb (f32 [width]) and, by the type of task, gold scores, ids or labels:
 *		see the table in mteb-score(1) and each lib/score_*.h
 * writes	one line of settings and "metric<TAB>value" lines, or JSON
 */
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "err.h"
#include "nn.h"
#include "score.h"
#include "score_classification.h"
#include "score_clustering.h"
#include "score_clustering_fast.h"
#include "score_pairclassification.h"
#include "score_reranking.h"
#include "score_retrieval.h"
#include "score_sts.h"
#include "score_summarization.h"
#include "stream.h"

enum {
	OPT_QRELS = CLI_LONG,
	OPT_IDENTICAL,
	OPT_FROM_RUN,
	OPT_RUN,
	OPT_TOP,
	OPT_GAIN,
	OPT_TRAIN,
	OPT_SAMPLES,
	OPT_EXPERIMENTS,
	OPT_LABEL,
	OPT_SET,
	OPT_BATCH,
	OPT_SKLEARN,
	OPT_SEED,
	OPT_SIMILARITY,
	OPT_SOLVER,
	OPT_DOCUMENTS,
	OPT_PROTOCOL,
	OPT_JSON
};

static const struct cli_option options[] = {
	{ 'f', "field", "NAME",
	    "take the embeddings from NAME.emb; of pairs give it twice\n"
	    "(default: sentence1 and sentence2; else the only one)" },
	{ OPT_QRELS, "qrels", "FILE", "retrieval: the relevance judgements" },
	{ OPT_IDENTICAL, "ignore-identical-ids", NULL,
	    "retrieval: a document called as the query is no hit" },
	{ OPT_FROM_RUN, "from-run", "FILE",
	    "retrieval: score this TREC run, without embeddings" },
	{ OPT_RUN, "run", "FILE",
	    "retrieval: write what was found, as TREC does, tabs between;\n"
	    "without --qrels nothing is scored" },
	{ OPT_TOP, "top", "N", "retrieval: documents a query in --run (default: 1000)" },
	{ OPT_GAIN, "gain", "linear|exp",
	    "retrieval: gain of nDCG: the grade (default) or 2^grade - 1" },
	{ OPT_TRAIN, "train", "FILE", "classification: the training stream" },
	{ OPT_SAMPLES, "samples", "N",
	    "classification: training rows a label (default: 8);\n"
	    "clustering-fast: texts of an experiment (default: 16384)" },
	{ OPT_EXPERIMENTS, "experiments", "N",
	    "classification, clustering-fast: samples drawn (default: 10)" },
	{ OPT_SOLVER, "solver", "exact|reference",
	    "classification: fit to the optimum (default), or stop where\n"
	    "scikit-learn stops" },
	{ OPT_DOCUMENTS, "documents", "N|SHARE|all",
	    "clustering-fast: texts to draw from (default: 0.04 of all)" },
	{ OPT_LABEL, "label", "NAME",
	    "classification, clustering: the column of labels\n(default: label or "
	    "labels)" },
	{ OPT_SET, "set", "NAME",
	    "clustering: the column that names a row's set (default: set,\n"
	    "if there is one)" },
	{ OPT_BATCH, "batch", "N",
	    "clustering: rows of a mini-batch (default: 500; fast: 512)" },
	{ OPT_SKLEARN, "sklearn", "1.8|1.9",
	    "clustering: whose random stream: that of scikit-learn\n"
	    "1.3 to 1.8 (default) or of 1.9" },
	{ OPT_SEED, "seed", "N", "classification, clustering: seed (default: 42)" },
	{ OPT_SIMILARITY, "similarity", "KIND",
	    "the model's own: cosine (default), dot, euclidean or manhattan;\n"
	    "retrieval: cosine or dot" },
	{ OPT_PROTOCOL, "protocol", "v1|v2", "that of mteb 1.x (default) or 2.x" },
	{ OPT_JSON, "json", NULL, "print JSON instead of lines" },
	{ 'j', "threads", "N", "threads (default: all cores)" }, { 0 }
};

static const struct cli cli = { "mteb-score", "score embeddings as MTEB does",
	"sts|pairclassification|reranking|summarization [OPTION]... [FILE]\n"
	"       mteb-score retrieval --qrels QRELS [OPTION]... QUERIES CORPUS\n"
	"       mteb-score retrieval --qrels QRELS --from-run RUN [OPTION]...\n"
	"       mteb-score classification --train TRAIN [OPTION]... [TEST]\n"
	"       mteb-score clustering|clustering-fast [OPTION]... [FILE]",
	options,
	"  tok -m DIR pairs.jsonl | encode -m DIR | mteb-score sts\n"
	"  mteb-score retrieval --qrels test.tsv q.mts c.mts\n",
	nn_about };

struct settings {
	struct score_options common;
	int field_count;
	struct retrieval_options retrieval;
	struct classification_options classification;
	struct clustering_options clustering;
	bool json;
	int threads;
	int given[32], given_count; /* options that not every type knows */
};

static void
clustering(struct report *report, struct settings *settings, char **file)
{
	struct reader *reader = stream_open(file[0] ? file[0] : "-");

	settings->clustering.field = settings->common.fields[0];
	score_clustering(report, reader, &settings->clustering);
	stream_close(reader);
}

static void
retrieval(struct report *report, struct settings *settings, char **file)
{
	struct retrieval_options *own = &settings->retrieval;

	if (!own->qrels && (own->found || !own->run))
		die_usage(
		    "retrieval needs --qrels FILE%s", own->found ? "" : " or --run FILE");
	if (own->qrels && own->run && strcmp(own->run, "-") == 0)
		die_usage("standard output is for the scores: give --run a file");
	if (own->found && file[0])
		die_usage("with --from-run there are no streams to read");
	if (!own->found && (!file[0] || !file[1]))
		die_usage("retrieval takes two streams: queries and corpus");
	if (!own->found && strcmp(file[0], "-") == 0 && strcmp(file[1], "-") == 0)
		die_usage("only one of the two streams can be standard input");
	if (settings->common.similarity > SIMILARITY_DOT)
		die_usage("--similarity: retrieval knows cosine and dot");
	own->field = settings->common.fields[0];
	own->queries = file[0];
	own->corpus = file[0] ? file[1] : NULL;
	own->similarity = settings->common.similarity;
	own->protocol = settings->common.protocol;
	score_retrieval(report, own);
}

static void
classification(struct report *report, struct settings *settings, char **file)
{
	struct classification_options *own = &settings->classification;

	own->field = settings->common.fields[0];
	own->test = file[0] ? file[0] : "-";
	own->protocol = settings->common.protocol;
	if (!own->train)
		die_usage("classification needs --train FILE");
	if (strcmp(own->train, "-") == 0 && strcmp(own->test, "-") == 0)
		die_usage("only one of the two streams can be standard input");
	score_classification(report, own);
}

static void
clustering_fast(struct report *report, struct settings *settings, char **file)
{
	settings->clustering.field = settings->common.fields[0];
	score_clustering_fast(report, file[0] ? file[0] : "-", &settings->clustering);
}

struct type {
	const char *name;
	/* one of the two: a stream is all it needs; or there is more to it */
	void (*score)(struct report *, struct reader *, const struct score_options *);
	void (*run)(struct report *, struct settings *, char **file);
	int files, fields; /* at most; pairs have two fields */
	int options[8];	   /* beside those that all types know */
};

static const struct type types[] = {
	{ "sts", score_sts, NULL, 1, 2, { OPT_SIMILARITY } },
	{ "pairclassification", score_pairclassification, NULL, 1, 2,
	    { OPT_SIMILARITY } },
	{ "reranking", score_reranking, NULL, 1, 0, { OPT_SIMILARITY } },
	{ "summarization", score_summarization, NULL, 1, 0, { OPT_SIMILARITY } },
	{ "retrieval", NULL, retrieval, 2, 1,
	    { OPT_QRELS, OPT_IDENTICAL, OPT_FROM_RUN, OPT_RUN, OPT_TOP, OPT_GAIN,
		OPT_SIMILARITY } },
	{ "classification", NULL, classification, 1, 1,
	    { OPT_TRAIN, OPT_SAMPLES, OPT_EXPERIMENTS, OPT_LABEL, OPT_SEED,
		OPT_SOLVER } },
	{ "clustering", NULL, clustering, 1, 1,
	    { OPT_LABEL, OPT_SET, OPT_BATCH, OPT_SKLEARN, OPT_SEED } },
	{ "clustering-fast", NULL, clustering_fast, 1, 1,
	    { OPT_LABEL, OPT_DOCUMENTS, OPT_SAMPLES, OPT_EXPERIMENTS, OPT_BATCH,
		OPT_SKLEARN, OPT_SEED } },
};
enum { TYPES = sizeof types / sizeof types[0] };
static const char type_names[] =
    "sts, pairclassification, reranking, summarization, "
    "retrieval, classification, clustering or clustering-fast";

/* Whether the second of an option's two values was given. */
static bool
second(const char *option, const char *one, const char *other)
{
	if (strcmp(optarg, one) != 0 && strcmp(optarg, other) != 0)
		die_usage("--%s: '%s' is neither %s nor %s", option, optarg, one, other);
	return strcmp(optarg, other) == 0;
}

static void
take(struct settings *settings, int option)
{
	struct classification_options *classes = &settings->classification;
	struct clustering_options *clusters = &settings->clustering;

	switch (option) {
	case OPT_QRELS: settings->retrieval.qrels = optarg; break;
	case OPT_IDENTICAL: settings->retrieval.ignore_identical = true; break;
	case OPT_FROM_RUN: settings->retrieval.found = optarg; break;
	case OPT_RUN: settings->retrieval.run = optarg; break;
	case OPT_TOP: settings->retrieval.top = cli_integer("--top", 1, 1000); break;
	case OPT_GAIN:
		settings->retrieval.exponential = second("gain", "linear", "exp");
		break;
	case OPT_TRAIN: classes->train = optarg; break;
	case OPT_SAMPLES:
		classes->samples = clusters->samples =
		    (int)cli_integer("--samples", 1, 1000000);
		break;
	case OPT_EXPERIMENTS:
		classes->experiments = clusters->experiments =
		    (int)cli_integer("--experiments", 1, 1000);
		break;
	case OPT_LABEL: classes->label = clusters->label = optarg; break;
	case OPT_SET: clusters->set = optarg; break;
	case OPT_BATCH: clusters->batch = (int)cli_integer("--batch", 1, 1000000); break;
	case OPT_SKLEARN: clusters->by_choice = second("sklearn", "1.8", "1.9"); break;
	case OPT_SIMILARITY:
		if (!similarity_parse(optarg, &settings->common.similarity))
			die_usage("--similarity: '%s' is none that --help lists", optarg);
		break;
	case OPT_SOLVER:
		classes->reference = second("solver", "exact", "reference");
		break;
	case OPT_DOCUMENTS:
		clusters->documents =
		    strcmp(optarg, "all") == 0 ? 0 : cli_real("--documents", 1e-9, 1e12);
		break;
	case OPT_SEED:
		classes->seed = clusters->seed =
		    (uint32_t)cli_integer("--seed", 0, UINT32_MAX);
		break;
	}
	if (settings->given_count < 32)
		settings->given[settings->given_count++] = option;
}

static void
parse(struct settings *settings, int argc, char **argv)
{
	int option;

	while ((option = cli_next(&cli, argc, argv)) != -1) {
		switch (option) {
		case 'f':
			if (settings->field_count == 2)
				die_usage("--field was given more than twice");
			settings->common.fields[settings->field_count++] = optarg;
			break;
		case OPT_JSON: settings->json = true; break;
		case OPT_PROTOCOL:
			settings->common.protocol =
			    PROTOCOL_V1 + second("protocol", "v1", "v2");
			break;
		case 'j':
			settings->threads = (int)cli_integer("--threads", 1, 4096);
			break;
		default: take(settings, option);
		}
	}
}

static const struct type *
find_type(const char *name)
{
	for (int i = 0; i < TYPES; i++)
		if (strcmp(types[i].name, name) == 0)
			return &types[i];
	die_usage("'%s' is no type of task: %s", name, type_names);
}

/* An option that means nothing to a type is a mistake that must not go unseen. */
static void
check(const struct type *type, const struct settings *settings, int files)
{
	for (int i = 0; i < settings->given_count; i++) {
		const struct cli_option *option = options;
		bool known = false;
		for (int j = 0; j < 8; j++)
			known |= type->options[j] == settings->given[i];
		while (option->letter != settings->given[i])
			option++;
		if (!known)
			die_usage("--%s says nothing to %s", option->name, type->name);
	}
	if (files > type->files)
		die_usage("%s takes %d stream%s, %d were given", type->name, type->files,
		    type->files > 1 ? "s" : "", files);
	if (settings->field_count > type->fields)
		die_usage("%s takes %s --field", type->name, type->fields ? "one" : "no");
	if (type->fields == 2 && settings->field_count == 1)
		die_usage("%s compares two fields: give --field twice", type->name);
}

int
main(int argc, char **argv)
{
	struct settings settings = {
		.common = { .protocol = PROTOCOL_V1 },
		.retrieval = { .top = 1000 },
		.classification = { .samples = 8, .experiments = 10, .seed = 42 },
		.clustering = { .documents = 0.04, .experiments = 10, .seed = 42 },
	};

	cli_start(&cli, argc, argv);
	parse(&settings, argc, argv);
	if (optind == argc)
		die_usage("which type of task: %s?", type_names);
	const struct type *type = find_type(argv[optind]);
	check(type, &settings, argc - optind - 1);
	nn_start(settings.threads, argv);
	struct report *report = report_new(type->name);
	report_set(report, "protocol", "v%d", settings.common.protocol);
	char **file = argv + optind + 1;
	if (type->score) {
		struct reader *reader = stream_open(file[0] ? file[0] : "-");
		type->score(report, reader, &settings.common);
		stream_close(reader);
	} else {
		type->run(report, &settings, file);
	}
	if (!settings.retrieval.run || settings.retrieval.qrels)
		report_print(report, settings.json);
	report_free(report);
	return 0;
}
