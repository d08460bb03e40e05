/*
 * classify - predict the labels of embeddings from labelled ones
 *
 * reads	FIELD.emb	f32 [width]	in both streams
 *		label		text or number	in the labelled one, or another column
 * writes	prediction	as the labels	the likeliest label
 *		probability	f64		its own
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

enum { OPT_TRAIN = CLI_LONG, OPT_LABEL, OPT_METHOD, OPT_SAVE, OPT_LOAD, OPT_ANY_MODEL };

static const struct cli_option options[] = {
	{ OPT_TRAIN, "train", "FILE", "learn from this stream of labelled embeddings" },
	{ OPT_LABEL, "label", "NAME", "the column of its labels (default: label)" },
	{ OPT_METHOD, "method", "logistic|knn",
	    "logistic regression (default), or the label that most\n"
	    "of the nearest have" },
	{ 'k', "neighbours", "N", "knn: how many are nearest (default: 5)" },
	{ OPT_SAVE, "save", "FILE", "keep there what was learnt, and stop" },
	{ OPT_LOAD, "load", "FILE", "use what was kept; without --train" }, CLI_FIELD,
	{ OPT_ANY_MODEL, "any-model", NULL, "the streams may be of two models" },
	CLI_LEVEL, CLI_THREADS, CLI_OUTPUT, { 0 }
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

struct settings {
	struct classifier_options learn;
	const char *train, *save, *load, *output;
	bool any_model;
	int level, threads;
};

static void
parse(struct settings *settings, int argc, char **argv)
{
	static const char *const methods[] = { "logistic", "knn", NULL };
	int option;

	while ((option = cli_next(&cli, argc, argv)) != -1)
		switch (option) {
		case OPT_TRAIN: settings->train = optarg; break;
		case OPT_LABEL: settings->learn.label = optarg; break;
		case OPT_METHOD:
			settings->learn.method =
			    (enum classifier_method)cli_word("--method", optarg, methods);
			break;
		case 'k':
			settings->learn.neighbours =
			    (int)cli_integer("--neighbours", 1, KNN_MOST);
			break;
		case OPT_SAVE: settings->save = optarg; break;
		case OPT_LOAD: settings->load = optarg; break;
		case 'f': settings->learn.field = optarg; break;
		case OPT_ANY_MODEL: settings->any_model = true; break;
		default:
			cli_common(option, &settings->output, &settings->level,
			    &settings->threads);
		}
}

static void
check(struct settings *settings, char **operands, int count)
{
	bool knn = settings->learn.method == CLASSIFIER_NEIGHBOURS;

	if (!settings->train == !settings->load)
		die_usage(
		    "what are the labels learnt from? say --train, or --load what --save kept");
	if (settings->save && knn)
		die_usage(
		    "--save: nearest neighbours learn nothing beside the labelled stream: name it with --train each time");
	if (settings->save)
		cli_only(&cli, "--save", "train label method save field threads");
	if (settings->save && count)
		die_usage(
		    "--save keeps what was learnt, and classifies nothing: '%s' is for --load",
		    operands[0]);
	if (settings->load)
		cli_only(&cli, "--load", "load field any-model level threads output");
	if (settings->learn.neighbours && !knn)
		die_usage("-k does not apply to --method logistic");
	if (!settings->learn.neighbours)
		settings->learn.neighbours = 5;
	if (count > 1)
		die_usage("one stream, please; cat joins several");
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
	if (settings->level >= 0)
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
	parse(&settings, argc, argv);
	check(&settings, argv + optind, argc - optind);
	nn_start(settings.threads, argv);
	struct classifier *classifier =
	    settings.load ? classifier_load(settings.load)
			  : classifier_fit(settings.train, &settings.learn);
	if (settings.save)
		classifier_save(classifier, settings.save);
	else
		classify(classifier, optind < argc ? argv[optind] : "-", &settings);
	classifier_free(classifier);
	return 0;
}
