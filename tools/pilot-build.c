/*
 * pilot-build - fit the pilots that route queries to adapters
 *
 * fit	reads	X.emb		f32 [width]	the base model's embedding of a query
 *		score.GATE	number		how well each gate serves it (pilot-route --oracle)
 *		dataset		text		where it is from; or an attribute, or the file's name
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

enum { OPT_ROUTER = CLI_LONG, OPT_TIES, OPT_CLUSTERS, OPT_SAMPLES, OPT_ANY_MODEL };

static const struct cli_option options[] = {
	{ OPT_ROUTER, "router", "pilots|dataset|experts|head",
	    "what is learned: centroids, queries of each data set, a\n"
	    "classifier for each gate, or one for all (default: pilots)" },
	{ OPT_TIES, "ties", "first|drop|split",
	    "of several best gates, pilots: the first is, none, or each has\n"
	    "its share (default: first)" },
	{ 'k', "clusters", "N", "pilots: centroids of each group (default: 1)" },
	{ OPT_SAMPLES, "samples", "N",
	    "dataset: queries of each data set (default: 100)" },
	{ 's', "seed", "N", "of the random numbers (default: 42)" }, CLI_FIELD,
	{ OPT_ANY_MODEL, "any-model", NULL, "the streams may be of several models" },
	CLI_LEVEL, CLI_OUTPUT, CLI_THREADS, { 0 }
};

struct settings {
	struct fit_options fit;
	const char *field, *output;
	int level, threads;
	bool any_model;
};

static int
fit(void *with, char **files, int count)
{
	static const char *const standard[] = { "-" };
	const struct settings *settings = with;
	struct training_queries *queries = training_queries_read(
	    count ? (const char *const *)files : standard, count ? count : 1,
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
	{ "fit", "pilots from streams of training queries",
	    "router ties clusters samples seed field any-model level output threads", 0,
	    -1, fit },
	{ "show", "the pilots: of which gate, how many queries, how far from others",
	    "output", 0, 1, show },
	{ 0 },
};

static const struct cli cli = { "pilot-build",
	"fit the pilots that route queries to adapters", "fit|show [OPTION]... [FILE]...",
	options,
	"  pilot-route --oracle scores/*.tsv < train.mts | pilot-build fit > pilots.mts\n"
	"  pilot-build show pilots.mts\n"
	"  pilot-build fit --router head a.mts b.mts > head.mts\n",
	nn_about, commands, ".mts" };

static void
take(struct settings *settings, int option)
{
	struct fit_options *how = &settings->fit;

	switch (option) {
	case OPT_ROUTER:
		how->router = (enum router)cli_word("--router", optarg, router_names);
		break;
	case OPT_TIES:
		how->ties = (enum ties)cli_word("--ties", optarg, ties_names);
		break;
	case 'k': how->clusters = cli_integer("--clusters", 1, 1 << 20); break;
	case OPT_SAMPLES: how->samples = cli_integer("--samples", 1, 1 << 30); break;
	case 's': how->seed = (uint64_t)cli_integer("--seed", 0, UINT32_MAX); break;
	case 'f': settings->field = optarg; break;
	case OPT_ANY_MODEL: settings->any_model = true; break;
	default:
		cli_common(
		    option, &settings->output, &settings->level, &settings->threads);
	}
}

/* Dies if an option was given that does not apply to the router. */
static void
check(const struct settings *settings)
{
#define ALWAYS "router field any-model level output threads "
	switch (settings->fit.router) {
	case ROUTER_PILOTS: cli_only(&cli, "pilots", ALWAYS "ties clusters seed"); break;
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
	int option;

	nn_start(0, argv); /* before --version speaks of it */
	cli_start(&cli, argc, argv);
	while ((option = cli_next(&cli, argc, argv)) != -1)
		take(&settings, option);
	const struct cli_command *command = cli_find(&cli, argc, argv);
	check(&settings);
	if (settings.threads)
		nn_start(settings.threads, argv);
	return command->run(&settings, argv + optind + 1, argc - optind - 1);
}
