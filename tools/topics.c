/*
 * topics - name clusters of texts by their words
 *
 * reads	text	text			the texts, or another column
 *		NAME	text or a number	the cluster of each text, or:
 *		X.emb	f32 [width]		vectors to cluster by k-means
 * writes	a table
 */
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/output.h"
#include "geometry/topics.h"
#include "nn/nn.h"

struct settings {
	struct topics_options topics;
	const char *output;
	int threads;
};

static const struct cli_option options[] = {
	{ 0, "label", "NAME", "column of the clusters (default: group)",
	    CLI_TEXT(topics.label) },
	{ 'k', "clusters", "K", "or: cluster the embeddings by k-means",
	    CLI_INTEGER(topics.clusters, 2, 4096) },
	{ 'f', "field", "NAME", "embeddings are NAME.emb (default: the only ones)",
	    CLI_TEXT(topics.field) },
	{ 's', "seed", "N", "seed of k-means (default: 42)",
	    CLI_INTEGER(topics.seed, 0, UINT32_MAX) },
	{ 0, "text", "NAME", "column of the texts (default: text)",
	    CLI_TEXT(topics.text) },
	{ 0, "words", "N", "words of a cluster (default: 20)",
	    CLI_INTEGER(topics.top, 1, 1000000) },
	{ 0, "max-df", "X", "ignore words in a greater share of texts (default: 1)",
	    CLI_REAL(topics.most, 0, 1) },
	{ 0, "min-length", "N", "ignore words of fewer letters (default: 2)",
	    CLI_INTEGER(topics.least, 1, 1000) },
	{ 0, "stop", "FILE", "ignore the words in FILE (default: an English list)",
	    CLI_TEXT(topics.stop) },
	{ 0, "no-stop", NULL, "ignore no words", CLI_FLAG(topics.all) },
	CLI_THREADS(threads), CLI_OUTPUT(output), { 0 }
};

static const struct cli cli = { "topics", "name clusters of texts by their words",
	"[--label NAME] [OPTION]... [FILE]\n"
	"       topics -k K [-f NAME] [OPTION]... [FILE]",
	options,
	"  group -k 20 titles.mts | topics --words 5\n"
	"  tok -m MODEL --keep -f text texts.jsonl | encode -m MODEL | topics -k 10\n"
	"  mts from jsonl texts.jsonl | topics --label topic --max-df 0.05\n",
	nn_about, NULL, ".mts" };

int
main(int argc, char **argv)
{
	struct settings settings = { .output = "-",
		.topics = { .seed = 42, .top = 20, .most = 1, .least = 2 } };
	struct topics_options *topics = &settings.topics;

	cli_start(&cli, argc, argv);
	cli_next(&cli, argc, argv, &settings);
	if (topics->label && topics->clusters)
		die_usage("--label and -k exclude each other");
	if (topics->stop && topics->all)
		die_usage("--stop and --no-stop exclude each other");
	if (!topics->clusters)
		cli_only(&cli, "clusters of a column",
		    "label text words max-df min-length stop no-stop threads output");
	nn_start(settings.threads, argv);
	struct output *output = output_print(settings.output);
	topics_print(cli_input(argc, argv), topics);
	output_finish(output);
	return 0;
}
