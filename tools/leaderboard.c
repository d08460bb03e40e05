/*
 * leaderboard - from folders of data sets to a table of scores: what 'make mteb' goes by
 *
 * plan	reads a folder of data sets, writes rules of make: what there is to encode and to score
 * fields	reads a text file, writes the options of tok that take its texts
 * judged	reads queries and judgements, writes the queries that are judged, as JSON Lines
 * drawn	reads a training file, writes it with those texts alone that classification draws
 * model	reads a model folder, writes model_meta.json
 * result	reads what 'mteb-score --json' printed, writes TASK.json
 * table	reads folders of TASK.json, writes a table
 * compare	reads two such folders or more, or tables of scores per query, writes what of their
 *	differences may be chance
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "mteb/model_comparison.h"
#include "mteb/data_folder.h"
#include "mteb/plan.h"
#include "mteb/model_meta.h"
#include "mteb/rows_to_encode.h"
#include "mteb/query_comparison.h"
#include "mteb/registry.h"
#include "mteb/results.h"
#include "mteb/score_table.h"
#include "mteb/text_fields.h"
#include "text/json.h"

enum {
	OPT_TASK = CLI_LONG,
	OPT_TYPE,
	OPT_NAME,
	OPT_GATES,
	OPT_PILOTS,
	OPT_WAY,
	OPT_PROTOCOL,
	OPT_FORMAT,
	OPT_SAMPLES,
	OPT_RESAMPLES,
	OPT_PER_QUERY,
	OPT_REGISTRY
};
enum { REGISTRIES = 8 };

static const struct cli_option options[] = {
	{ 'm', "model", "MODEL",
	    "plan, model: the model folder, or its name on the Hugging\n"
	    "Face Hub (default: $MOTES_MODEL)" },
	{ OPT_REGISTRY, "registry", "FILE",
	    "plan, result, table, compare: the data sets there are,\n"
	    "share/tasks.yaml; repeatable, a later file goes over an\n"
	    "earlier one" },
	{ OPT_NAME, "name", "NAME",
	    "plan, model: the model's name in results (default: its folder's)" },
	{ OPT_GATES, "gates", "DIR", "plan, model: adapters that queries go through" },
	{ OPT_PILOTS, "pilots", "FILE",
	    "plan, model: the library that chooses among them" },
	{ OPT_WAY, "way", "NAME", "plan, model: results are of MODEL+NAME" },
	{ OPT_TYPE, "type", "TYPE",
	    "fields: the type of task; queries or corpus for retrieval\n"
	    "result: the type of a task that is not in the registry" },
	{ OPT_TASK, "dataset", "NAME", "result: the data set that was scored" },
	{ OPT_SAMPLES, "samples", "N", "drawn: rows of a label (default: 8)" },
	{ OPT_PROTOCOL, "protocol", "v1|v2",
	    "whose main scores, and whose sets of their own (default: v1)" },
	{ OPT_FORMAT, "format", "tsv|markdown|html",
	    "table, compare: tsv (default), markdown; table: html" },
	{ OPT_PER_QUERY, "from-per-query", NULL,
	    "compare: files that mteb-score --per-query has written" },
	{ OPT_RESAMPLES, "resamples", "N",
	    "compare: draws of the bootstrap, and of the randomisation\ntest (default: 10000)" },
	{ 's', "seed", "N", "compare: of the random draws (default: 42)" }, CLI_OUTPUT,
	{ 0 }
};

static const struct cli cli;

struct settings {
	struct model_meta model;
	const char *type, *task, *output;
	enum { TSV, MARKDOWN, HTML } format;
	const char *registries[REGISTRIES];
	int registry_count, samples;
	struct comparison_options comparison;
	bool v2, per_query;
};

static void
need(const char *value, const char *option)
{
	if (!value)
		die_usage("%s is missing", option);
}

static struct registry *
open_registry(const struct settings *settings)
{
	struct registry *registry = registry_new(settings->v2);

	for (int i = 0; i < settings->registry_count; i++)
		registry_read(registry, settings->registries[i]);
	return registry;
}

static struct registry *
need_registry(const struct settings *settings)
{
	need(settings->registries[0], "--registry FILE, the registry of data sets,");
	return open_registry(settings);
}

static int
plan(void *with, char **files, int count)
{
	const struct settings *settings = with;
	struct model_meta model = settings->model;

	model_meta_find(&model);
	struct registry *registry = need_registry(settings);
	char *own = mem_format("%s/tasks.yaml", files[0]);
	if (access(own, F_OK) == 0)
		registry_read(registry, own);
	free(own);
	struct data_folder *folder = data_folder_read(registry, files[0]);
	if (!folder->count)
		die("%s: there are no data sets in it; motes(7) says how they lie",
		    files[0]);
	plan_print(folder, files[0], &model, files + 1, count - 1, stdout);
	data_folder_free(folder);
	free(model.folder);
	registry_free(registry);
	return 0;
}

static int
fields(void *with, char **files, int count)
{
	const struct settings *settings = with;

	(void)count;
	need(settings->type, "fields: --type TYPE");
	char *found = text_fields_options(settings->type, files[0]);
	puts(found);
	free(found);
	return 0;
}

static int
judged(void *with, char **files, int count)
{
	(void)with;
	(void)count;
	rows_to_encode_queries(files[0], files[1], stdout);
	return 0;
}

static int
drawn(void *with, char **files, int count)
{
	const struct settings *settings = with;

	(void)count;
	int64_t left = rows_to_encode_training(files[0], settings->samples, stdout);
	inform("%s: %lld texts are drawn", files[0], (long long)left);
	return 0;
}

static int
model(void *with, char **files, int count)
{
	const struct settings *settings = with;

	(void)files;
	(void)count;
	struct model_meta of = settings->model;
	model_meta_find(&of);
	struct tree *meta = model_meta_json(&of);
	json_print(meta);
	tree_free(meta);
	free(of.folder);
	return 0;
}

static int
result(void *with, char **files, int count)
{
	const struct settings *settings = with;

	need(settings->task, "result: --dataset TASK");
	struct registry *registry = need_registry(settings);
	struct tree *report = results_report(count ? files[0] : "-");
	const struct registry_task *task = registry_find(registry, settings->task);
	const char *type = tree_string(report, "task_type", "");
	if (!task)
		task = registry_add(
		    registry, settings->task, settings->type ? settings->type : type);
	struct tree *file = results_of(task, report);
	json_print(file);
	tree_free(file);
	tree_free(report);
	registry_free(registry);
	return 0;
}

static int
table(void *with, char **files, int count)
{
	static void (*const prints[])(const struct score_table *,
	    FILE *) = { score_table_tsv, score_table_markdown, score_table_html };
	const struct settings *settings = with;
	struct registry *registry = need_registry(settings);

	score_table_print(registry, files, count, prints[settings->format], stdout);
	registry_free(registry);
	return 0;
}

static int
compare(void *with, char **files, int count)
{
	const struct settings *settings = with;

	if (settings->format == HTML)
		die_usage("compare: --format is tsv or markdown");
	if (settings->per_query) {
		cli_only(&cli, "compare --from-per-query",
		    "from-per-query format resamples seed output");
		query_comparison_print(files, count, &settings->comparison, stdout);
		return 0;
	}
	struct registry *registry = open_registry(settings);
	model_comparison_print(registry, files, count, &settings->comparison, stdout);
	registry_free(registry);
	return 0;
}

static const struct cli_command commands[] = {
	{ "plan", "rules of make: what there is to encode and to score",
	    "model registry name gates pilots way protocol output", 1, -1, plan },
	{ "fields", "options of tok that take a file's texts", "type output", 1, 1,
	    fields },
	{ "judged", "the queries that have judgements", "output", 2, 2, judged },
	{ "drawn", "a training file with the texts alone that are trained on",
	    "samples output", 1, 1, drawn },
	{ "model", "model_meta.json of a model folder",
	    "model name gates pilots way output", 0, 0, model },
	{ "result", "what mteb-score --json printed as TASK.json",
	    "registry type dataset protocol output", 0, 1, result },
	{ "table", "folders of TASK.json as a table", "registry protocol format output",
	    1, -1, table },
	{ "compare", "what of the differences between models may be chance",
	    "registry from-per-query protocol format resamples seed output", 2, -1,
	    compare },
	{ 0 },
};

static const struct cli cli = { "leaderboard", "list data sets, tabulate and compare scores",
	"plan [-m MODEL] --registry FILE [OPTION]... DATA [TASK]...\n"
	"       leaderboard fields --type TYPE FILE\n"
	"       leaderboard judged QRELS QUERIES\n"
	"       leaderboard drawn [--samples N] FILE\n"
	"       leaderboard model [-m MODEL] [--name NAME]\n"
	"       leaderboard result --registry FILE --dataset TASK [OPTION]... [REPORT]\n"
	"       leaderboard table --registry FILE [OPTION]... FOLDER...\n"
	"       leaderboard compare [OPTION]... FOLDER FOLDER...\n"
	"       leaderboard compare --from-per-query [OPTION]... FILE FILE...",
	options,
	"  leaderboard plan -m MODEL --registry share/tasks.yaml data STS12 > plan.mk\n"
	"  leaderboard fields --type STS test.jsonl\n"
	"  leaderboard judged qrels/test.tsv queries.jsonl > judged.jsonl\n"
	"  leaderboard drawn --samples 16 train.jsonl > drawn.jsonl\n"
	"  leaderboard model -m MODEL -o model_meta.json\n"
	"  mteb-score sts --json x.mts | leaderboard result --registry tasks.yaml --dataset STS12\n"
	"  leaderboard table --registry share/tasks.yaml --format markdown results/*/*\n"
	"  leaderboard compare results/base/* results/mote/*\n"
	"  leaderboard compare --from-per-query base.tsv mote.tsv\n",
	NULL, commands, "FILE\nplan: DIR NAME\ntable: DIR" };

static struct settings
parse(int argc, char **argv)
{
	static const char *const formats[] = { "tsv", "markdown", "html", NULL };
	static const char *const protocols[] = { "v1", "v2", NULL };
	struct settings settings = { .output = "-",
		.samples = 8,
		.comparison = { .resamples = 10000, .seed = 42 } };
	int option;

	while ((option = cli_next(&cli, argc, argv)) != -1)
		switch (option) {
		case 'm': settings.model.model = optarg; break;
		case 'o': settings.output = optarg; break;
		case OPT_REGISTRY:
			if (settings.registry_count == REGISTRIES)
				die_usage("--registry was given too often");
			settings.registries[settings.registry_count++] = optarg;
			break;
		case OPT_NAME: settings.model.name = optarg; break;
		case OPT_GATES: settings.model.gates = optarg; break;
		case OPT_PILOTS: settings.model.pilots = optarg; break;
		case OPT_WAY: settings.model.method = optarg; break;
		case OPT_TYPE: settings.type = optarg; break;
		case OPT_TASK: settings.task = optarg; break;
		case OPT_SAMPLES:
			settings.samples = (int)cli_integer("--samples", 1, 1000000);
			break;
		case OPT_PER_QUERY: settings.per_query = true; break;
		case OPT_RESAMPLES:
			settings.comparison.resamples =
			    cli_integer("--resamples", 100, 10000000);
			break;
		case 's':
			settings.comparison.seed =
			    (uint32_t)cli_integer("--seed", 0, UINT32_MAX);
			break;
		case OPT_FORMAT:
			settings.format = cli_word("--format", optarg, formats);
			settings.comparison.markdown = settings.format == MARKDOWN;
			break;
		case OPT_PROTOCOL:
			settings.v2 = cli_word("--protocol", optarg, protocols) == 1;
			break;
		}
	return settings;
}

int
main(int argc, char **argv)
{
	cli_start(&cli, argc, argv);
	struct settings settings = parse(argc, argv);
	const struct cli_command *command = cli_find(&cli, argc, argv);
	struct output *output = output_print(settings.output);
	command->run(&settings, argv + optind + 1, argc - optind - 1);
	output_finish(output);
	return 0;
}
