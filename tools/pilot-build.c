/*
 * pilot-build - fit the pilots that route queries to adapters
 *
 * fit	reads	X.emb		f32 [width]	the base model's embedding of a query
 *		score.GATE	number		its score with each adapter (pilot-route --oracle)
 *		dataset		text		its data set; else an attribute, or the file's name
 *	writes	a library of pilots (papers/routing/pilot_library.h)
 * show	reads	such a library
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/output.h"
#include "nn/nn.h"
#include "papers/routing/fit.h"

struct settings {
	struct fit_options fit;
	const char *field, *output;
	int level, threads;
	bool any_model;
};

static const struct cli_option options[] = {
	{ 0, "router", "pilots|dataset|experts|head",
	    "centroids (default), queries of each data set, one classifier for each gate, or one for all gates",
	    CLI_WORD(fit.router, ROUTER_PILOTS) },
	{ 0, "ties", "first|drop|split",
	    "pilots: give a query with several best gates to the first (default), to none, or in shares to each",
	    CLI_WORD(fit.ties, TIES_FIRST) },
	{ 'k', "clusters", "N",
	    "pilots: centroids for each data set and gate (default: 1)",
	    CLI_INTEGER(fit.clusters, 1, 1 << 20) },
	{ 0, "least", "N",
	    "pilots: none for a data set and gate with fewer queries (default: 0)",
	    CLI_INTEGER(fit.least, 0, INT64_MAX) },
	{ 0, "own", NULL, "pilots: only of the data set that has the gate's name",
	    CLI_FLAG(fit.own) },
	{ 0, "samples", "N", "dataset: queries of each data set (default: 100)",
	    CLI_INTEGER(fit.samples, 1, 1 << 30) },
	{ 's', "seed", "N", "seed (default: 42)", CLI_INTEGER(fit.seed, 0, UINT32_MAX) },
	{ 'f', "field", "NAME", "embeddings are NAME.emb (default: the only ones)",
	    CLI_TEXT(field) },
	{ 0, "any-model", NULL, "accept streams of several models", CLI_FLAG(any_model) },
	CLI_LEVEL(level), CLI_OUTPUT(output), CLI_THREADS(threads), { 0 }
};

static int
fit(void *with, char **files, int count)
{
	const char *const *streams = cli_inputs(files, &count);
	const struct settings *settings = with;
	struct training_queries *queries = training_queries_read(streams, count,
	    settings->field, settings->fit.router != ROUTER_DATASET, settings->any_model);
	struct pilot_library *library = fit_library(queries, &settings->fit);

	pilot_library_write(library, settings->output, settings->level,
	    settings->fit.seed, queries->first);
	pilot_library_free(library);
	training_queries_free(queries);
	return 0;
}

static int
show(void *with, char **files, int count)
{
	const struct settings *settings = with;
	struct pilot_library *library = pilot_library_read(count ? files[0] : "-");
	struct output *output = output_print(settings->output);

	pilot_library_print(library);
	output_finish(output);
	pilot_library_free(library);
	return 0;
}

static const struct cli_command commands[] = {
	{ "fit", "fit pilots to streams of training queries",
	    "router ties clusters least own samples seed field any-model level output threads",
	    0, -1, fit },
	{ "show", "the pilots: gate, number of queries, nearest other pilot", "output", 0,
	    1, show },
	{ 0 },
};

static const struct cli cli = { "pilot-build",
	"fit the pilots that route queries to adapters", "fit|show [OPTION]... [FILE]...",
	options,
	"  pilot-route --oracle scores/*.tsv < train.mts | pilot-build fit > pilots.mts\n"
	"  pilot-build show pilots.mts\n"
	"  pilot-build fit --router head a.mts b.mts > head.mts\n",
	nn_about, commands, ".mts" };

/* Dies if an option was given that does not apply to the router. */
static void
check(const struct settings *settings)
{
#define ALWAYS "router field any-model level output threads "
	switch (settings->fit.router) {
	case ROUTER_PILOTS:
		cli_only(&cli, "pilots", ALWAYS "ties clusters least own seed");
		break;
	case ROUTER_DATASET:
		cli_only(&cli, "--router dataset", ALWAYS "samples seed");
		break;
	case ROUTER_EXPERTS: cli_only(&cli, "--router experts", ALWAYS "seed"); break;
	case ROUTER_HEAD: cli_only(&cli, "--router head", ALWAYS "seed"); break;
	}
}

int
main(int argc, char **argv)
{
	struct settings settings = { .output = "-",
		.level = -1,
		.fit = { .clusters = 1, .samples = 100, .seed = 42 } };

	nn_start(0, argv); /* --version prints it */
	cli_start(&cli, argc, argv);
	cli_next(&cli, argc, argv, &settings);
	const struct cli_command *command = cli_find(&cli, argc, argv);
	check(&settings);
	if (settings.threads)
		nn_start(settings.threads, argv);
	return command->run(&settings, argv + optind + 1, argc - optind - 1);
}
