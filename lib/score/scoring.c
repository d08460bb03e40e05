#include "score/scoring.h"

#include <string.h>

#include "base/err.h"
#include "score/clustering_fast.h"
#include "score/pairclassification.h"
#include "score/reranking.h"
#include "score/sts.h"
#include "score/summarization.h"

static void
clustering(struct report *report, struct scoring *scoring, char **file)
{
	struct reader *reader = stream_open(file[0] ? file[0] : "-");

	scoring->clustering.field = scoring->common.fields[0];
	score_clustering(report, reader, &scoring->clustering);
	stream_close(reader);
}

static void
retrieval(struct report *report, struct scoring *scoring, char **file)
{
	struct retrieval_options *own = &scoring->retrieval;

	if (!own->qrels && (own->found || !own->run))
		die_usage(
		    "retrieval needs --qrels FILE%s", own->found ? "" : " or --run FILE");
	if (own->qrels && own->run && strcmp(own->run, "-") == 0)
		die_usage("standard output is for the scores: give --run a file");
	if (own->found && (file[0] || own->candidates))
		die_usage("with --from-run there is nothing to compare");
	if (!own->found && (!file[0] || !file[1]))
		die_usage("retrieval takes two streams: queries and corpus");
	if (!own->found && strcmp(file[0], "-") == 0 && strcmp(file[1], "-") == 0)
		die_usage("only one of the two streams can be standard input");
	if (scoring->common.similarity > SIMILARITY_DOT)
		die_usage("--similarity: retrieval knows cosine and dot");
	own->field = scoring->common.fields[0];
	own->queries = file[0];
	own->corpus = file[0] ? file[1] : NULL;
	own->similarity = scoring->common.similarity;
	own->protocol = scoring->common.protocol;
	score_retrieval(report, own);
}

static void
classification(struct report *report, struct scoring *scoring, char **file)
{
	struct classification_options *own = &scoring->classification;

	own->field = scoring->common.fields[0];
	own->test = file[0] ? file[0] : "-";
	own->protocol = scoring->common.protocol;
	if (!own->train)
		die_usage("classification needs --train FILE");
	if (strcmp(own->train, "-") == 0 && strcmp(own->test, "-") == 0)
		die_usage("only one of the two streams can be standard input");
	score_classification(report, own);
}

static void
clustering_fast(struct report *report, struct scoring *scoring, char **file)
{
	scoring->clustering.field = scoring->common.fields[0];
	score_clustering_fast(report, file[0] ? file[0] : "-", &scoring->clustering);
}

enum { OPTIONS = 10 };

struct scoring_type {
	const char *name;
	/* one of the two: a stream is all it needs; or there is more to it */
	void (*score)(struct report *, struct reader *, const struct score_options *);
	void (*run)(struct report *, struct scoring *, char **file);
	int files, fields;	      /* at most; pairs have two fields */
	const char *options[OPTIONS]; /* beside those that all types know */
};

static const struct scoring_type types[] = {
	{ "sts", score_sts, NULL, 1, 2, { "similarity" } },
	{ "pairclassification", score_pairclassification, NULL, 1, 2, { "similarity" } },
	{ "reranking", score_reranking, NULL, 1, 0, { "similarity" } },
	{ "summarization", score_summarization, NULL, 1, 0, { "similarity" } },
	{ "retrieval", NULL, retrieval, 2, 1,
	    { "qrels", "ignore-identical-ids", "from-run", "run", "top", "gain", "memory",
		"similarity", "candidates", "any-model" } },
	{ "classification", NULL, classification, 1, 1,
	    { "train", "samples", "experiments", "label", "seed", "solver",
		"any-model" } },
	{ "clustering", NULL, clustering, 1, 1,
	    { "label", "set", "batch", "sklearn", "seed" } },
	{ "clustering-fast", NULL, clustering_fast, 1, 1,
	    { "label", "documents", "samples", "experiments", "batch", "sklearn",
		"seed" } },
};
enum { TYPES = sizeof types / sizeof types[0] };

const char scoring_types[] = "sts, pairclassification, reranking, summarization, "
			     "retrieval, classification, clustering or clustering-fast";

struct scoring
scoring_defaults(void)
{
	return (struct scoring){
		.common = { .protocol = PROTOCOL_V1 },
		.retrieval = { .top = 1000 },
		.classification = { .samples = 8, .experiments = 10, .seed = 42 },
		.clustering = { .documents = 0.04, .experiments = 10, .seed = 42 },
	};
}

const struct scoring_type *
scoring_find(const char *name)
{
	for (int i = 0; i < TYPES; i++)
		if (strcmp(types[i].name, name) == 0)
			return &types[i];
	return NULL;
}

const char *
scoring_name(const struct scoring_type *type)
{
	return type->name;
}

bool
scoring_knows(const struct scoring_type *type, const char *option)
{
	for (int i = 0; i < OPTIONS && type->options[i]; i++)
		if (strcmp(type->options[i], option) == 0)
			return true;
	return false;
}

static void
check(const struct scoring_type *type, const struct scoring *scoring, int files)
{
	if (files > type->files)
		die_usage("%s takes %d stream%s, %d were given", type->name, type->files,
		    type->files > 1 ? "s" : "", files);
	if (scoring->fields > type->fields)
		die_usage("%s takes %s --field", type->name, type->fields ? "one" : "no");
	if (type->fields == 2 && scoring->fields == 1)
		die_usage("%s compares two fields: give --field twice", type->name);
}

struct report *
scoring_run(
    const struct scoring_type *type, struct scoring *scoring, char **files, int count)
{
	check(type, scoring, count);
	struct report *report = report_new(type->name);
	report_set(report, "protocol", "v%d", scoring->common.protocol);
	if (type->score) {
		struct reader *reader = stream_open(count ? files[0] : "-");
		type->score(report, reader, &scoring->common);
		stream_close(reader);
	} else {
		type->run(report, scoring, files);
	}
	if (scoring->retrieval.run && !scoring->retrieval.qrels) {
		report_free(report);
		return NULL;
	}
	return report;
}
