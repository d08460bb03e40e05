/*
 * topics - name clusters of texts by their words
 *
 * reads	text	text			the texts, or another column
 *		NAME	text or a number	what cluster each is in, or:
 *		X.emb	f32 [width]		the vectors that k-means puts into clusters
 * writes	a table
 */
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/output.h"
#include "geometry/topics.h"
#include "nn/nn.h"

enum {
	OPT_LABEL = CLI_LONG,
	OPT_TEXT,
	OPT_STOP,
	OPT_NO_STOP,
	OPT_MOST,
	OPT_LEAST,
	OPT_WORDS
};

static const struct cli_option options[] = {
	{ OPT_LABEL, "label", "NAME",
	    "the column of the texts' clusters (default: group)" },
	{ 'k', "clusters", "K", "or: make K clusters of the vectors by k-means" },
	CLI_FIELD, { 's', "seed", "N", "of the random numbers of k-means (default: 42)" },
	{ OPT_TEXT, "text", "NAME", "the column of the texts (default: text)" },
	{ OPT_WORDS, "words", "N", "words of a cluster (default: 20)" },
	{ OPT_MOST, "max-df", "X",
	    "words in a greater share of the texts do not count (default: 1)" },
	{ OPT_LEAST, "min-length", "N", "nor do those of fewer letters (default: 2)" },
	{ OPT_STOP, "stop", "FILE",
	    "nor do the words in this file (default: an English list)" },
	{ OPT_NO_STOP, "no-stop", NULL, "no list of words: all count" }, CLI_THREADS,
	CLI_OUTPUT, { 0 }
};

static const struct cli cli = { "topics", "name clusters of texts by their words",
	"[--label NAME] [OPTION]... [FILE]\n"
	"       topics -k K [-f NAME] [OPTION]... [FILE]",
	options,
	"  group -k 20 titles.mts | topics --words 5\n"
	"  tok -m MODEL --keep -f text texts.jsonl | encode -m MODEL | topics -k 10\n"
	"  mts from jsonl texts.jsonl | topics --label topic --max-df 0.05\n",
	nn_about, NULL, ".mts" };

struct settings {
	struct topics_options topics;
	const char *output;
	int threads;
};

static void
parse(struct settings *settings, int argc, char **argv)
{
	struct topics_options *topics = &settings->topics;
	int option;

	while ((option = cli_next(&cli, argc, argv)) != -1)
		switch (option) {
		case OPT_LABEL: topics->label = optarg; break;
		case 'k':
			topics->clusters = (int)cli_integer("--clusters", 2, 4096);
			break;
		case 'f': topics->field = optarg; break;
		case 's':
			topics->seed = (uint32_t)cli_integer("--seed", 0, UINT32_MAX);
			break;
		case OPT_TEXT: topics->text = optarg; break;
		case OPT_WORDS:
			topics->top = (int)cli_integer("--words", 1, 1000000);
			break;
		case OPT_MOST: topics->most = cli_real("--max-df", 0, 1); break;
		case OPT_LEAST:
			topics->least = (int)cli_integer("--min-length", 1, 1000);
			break;
		case OPT_STOP: topics->stop = optarg; break;
		case OPT_NO_STOP: topics->all = true; break;
		case 'j': settings->threads = cli_threads(); break;
		case 'o': settings->output = optarg; break;
		}
}

int
main(int argc, char **argv)
{
	struct settings settings = { .output = "-",
		.topics = { .seed = 42, .top = 20, .most = 1, .least = 2 } };
	struct topics_options *topics = &settings.topics;

	cli_start(&cli, argc, argv);
	parse(&settings, argc, argv);
	if (topics->label && topics->clusters)
		die_usage("what are the clusters? say --label or, of vectors, -k");
	if (topics->stop && topics->all)
		die_usage("--stop or --no-stop, not both");
	if (!topics->clusters)
		cli_only(&cli, "clusters of a column",
		    "label text words max-df min-length stop no-stop threads output");
	if (argc - optind > 1)
		die_usage("one stream, please; cat joins several");
	nn_start(settings.threads, argv);
	struct output *output = output_print(settings.output);
	topics_print(optind < argc ? argv[optind] : "-", topics);
	output_finish(output);
	return 0;
}
