/*
 * classify - predict the labels of embeddings from labelled ones
 *
 * reads	FIELD.emb	f32 [width]	in both streams
 *		label		text or number	in the labelled one, or another column
 * writes	prediction	as the labels	the likeliest label
 *		probability	f64		of the prediction
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "nn/nn.h"
#include "score/classifier.h"
#include "score/knn.h"

struct settings {
	struct classifier_options learn;
	const char *train, *save, *load, *input, *output;
	bool any_model;
	int level, threads;
};

static const struct cli_option options[] = {
	{ 0, "train", "FILE", "stream of labelled embeddings to train on",
	    CLI_TEXT(train) },
	{ 0, "label", "NAME", "column of labels (default: label)",
	    CLI_TEXT(learn.label) },
	{ 0, "method", "logistic|knn",
	    "logistic regression (default) or nearest neighbours",
	    CLI_WORD(learn.method, CLASSIFIER_LOGISTIC) },
	{ 'k', "neighbours", "N", "knn: number of neighbours (default: 5)",
	    CLI_INTEGER(learn.neighbours, 1, KNN_MOST) },
	{ 0, "save", "FILE", "save the classifier, and stop", CLI_TEXT(save) },
	{ 0, "load", "FILE", "use a saved classifier instead of --train",
	    CLI_TEXT(load) },
	{ 'f', "field", "NAME", "embeddings are NAME.emb (default: the only ones)",
	    CLI_TEXT(learn.field) },
	{ 0, "any-model", NULL, "accept streams of two models", CLI_FLAG(any_model) },
	CLI_LEVEL(level), CLI_THREADS(threads), CLI_OUTPUT(output), { 0 }
};

static const struct cli cli = { "classify",
	"predict the labels of embeddings from labelled ones",
	"--train FILE [OPTION]... [FILE]\n"
	"       classify --train FILE --save FILE [OPTION]...\n"
	"       classify --load FILE [OPTION]... [FILE]",
	options,
	"  tok -m MODEL labelled.jsonl -f text | encode -m MODEL > labelled.mts\n"
	"  tok -m MODEL --keep new.txt | encode -m MODEL |\n"
	"      classify --train labelled.mts | mts to tsv -c prediction,probability,text\n"
	"  classify --train labelled.mts --save topics.mts\n"
	"  classify --load topics.mts new.mts | mts rows --where 'probability<0.5'\n",
	nn_about, NULL, ".mts" };

static void
check(struct settings *settings, bool given)
{
	bool knn = settings->learn.method == CLASSIFIER_NEIGHBOURS;

	if (!settings->train == !settings->load)
		die_usage("--train or --load is required, and they exclude each other");
	if (settings->save && knn)
		die_usage(
		    "--save does not apply to --method knn, which needs --train each time");
	if (settings->save)
		cli_only(&cli, "--save", "train label method save field threads");
	if (settings->save && given)
		die_usage(
		    "--save classifies nothing: '%s' is for --load", settings->input);
	if (settings->load)
		cli_only(&cli, "--load", "load field any-model level threads output");
	if (settings->learn.neighbours && !knn)
		die_usage("-k does not apply to --method logistic");
	if (!settings->learn.neighbours)
		settings->learn.neighbours = 5;
}

static void
classify(struct classifier *classifier, const char *path, const struct settings *settings)
{
	struct reader *reader = stream_open(path);
	struct vectors *vectors = vectors_open(reader, settings->learn.field, 0);
	struct column column = classifier_column(classifier);
	struct record record;
	double *probability = NULL;
	size_t capacity = 0;

	classifier_agree(classifier, vectors, settings->any_model);
	struct writer *writer = stream_create(settings->output, reader);
	struct progress *progress = stream_progress(reader);
	stream_level(writer, settings->level);
	column.name = "prediction";
	int prediction = stream_add(writer, &column);
	int of_probability = stream_add(
	    writer, &(struct column){ .name = "probability", .dtype = DTYPE_F64 });
	while (stream_next(reader, &record)) {
		vectors_load(vectors, &record);
		probability = mem_grow(
		    probability, &capacity, (size_t)record.rows, sizeof *probability);
		struct record *made = stream_make(writer, &record);
		made->columns[prediction] = classifier_predict(
		    classifier, vectors->raw, record.rows, probability);
		made->columns[of_probability].data = probability;
		stream_put(writer, made);
	}
	stream_finish(writer);
	progress_free(progress);
	vectors_close(vectors);
	stream_close(reader);
	free(probability);
}

int
main(int argc, char **argv)
{
	struct settings settings = { .output = "-", .level = -1 };

	cli_start(&cli, argc, argv);
	cli_next(&cli, argc, argv, &settings);
	settings.input = cli_input(argc, argv);
	check(&settings, optind < argc);
	nn_start(settings.threads, argv);
	struct classifier *classifier =
	    settings.load ? classifier_load(settings.load)
			  : classifier_fit(settings.train, &settings.learn);
	if (settings.save)
		classifier_save(classifier, settings.save);
	else
		classify(classifier, settings.input, &settings);
	classifier_free(classifier);
	return 0;
}
