/*
 * leaderboard - list data sets, tabulate and compare scores: the bookkeeping of 'make mteb'
 *
 * list	writes the known benchmarks, or the data sets of some
 * plan	reads a folder of data sets, writes make variables: the files to encode and to score
 * fields	reads a text file, writes the options of tok for its texts
 * judged	reads queries and judgements, writes the judged queries, as JSON Lines
 * drawn	reads a training file, writes it without the texts that classification does not draw
 * model	reads a model folder, writes model_meta.json
 * result	reads a report of mteb-score --json, writes TASK.json
 * table	reads folders of TASK.json, writes a table
 * compare	reads such folders, or tables of scores per query, writes differences with tests
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "mteb/benchmark.h"
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

struct settings {
	struct model_meta model;
	const char *type, *task, *benchmark, *instruct, *output;
	enum { TSV, MARKDOWN, HTML } format;
	struct cli_list registries;
	int samples, experiments;
	struct comparison_options comparison;
	bool v2, per_query;
};

static const struct cli_option options[] = {
	{ 'm', "model", "MODEL",
	    "plan, model: model folder, or its name on the Hugging Face Hub (default: $MOTES_MODEL)",
	    CLI_TEXT(model.model) },
	{ 0, "registry", "FILE",
	    "list, plan, result, table, compare: the known data sets, share/tasks.yaml; repeatable, later files override",
	    CLI_LIST(registries) },
	{ 0, "name", "NAME",
	    "plan, model: the model's name in results (default: its folder's)",
	    CLI_TEXT(model.name) },
	{ 0, "gates", "DIR", "plan, model: LoRA adapters of queries",
	    CLI_TEXT(model.gates) },
	{ 0, "pilots", "FILE", "plan, model: the pilots that choose adapters",
	    CLI_TEXT(model.pilots) },
	{ 0, "way", "NAME", "plan, model: results are of MODEL+NAME",
	    CLI_TEXT(model.method) },
	{ 0, "type", "TYPE",
	    "fields: type of task; queries or corpus of retrieval\nresult: type of a task that the registry lacks",
	    CLI_TEXT(type) },
	{ 0, "dataset", "NAME", "result: the data set", CLI_TEXT(task) },
	{ 0, "benchmark", "NAME",
	    "plan, table, compare: the sets of a benchmark alone, such as 'MTEB(eng, v2)'",
	    CLI_TEXT(benchmark) },
	{ 0, "instruct", "TEXT|no",
	    "plan: template of instructions, with {instruction} (default: of share/known-models.tsv)",
	    CLI_TEXT(instruct) },
	{ 0, "samples", "N", "drawn: rows of a label (default: 8)",
	    CLI_INTEGER(samples, 1, 1000000) },
	{ 0, "experiments", "N", "drawn: how often they are drawn (default: 10)",
	    CLI_INTEGER(experiments, 1, 1000) },
	{ 0, "protocol", "v1|v2", "MTEB's protocol: that of mteb 1.x, or 2.x (default)",
	    CLI_WORD(v2, 0) },
	{ 0, "format", "tsv|markdown|html",
	    "table, compare: tsv (default), markdown\ntable: html",
	    CLI_WORD(format, TSV) },
	{ 0, "from-per-query", NULL, "compare: files of mteb-score --per-query",
	    CLI_FLAG(per_query) },
	{ 0, "resamples", "N",
	    "compare: draws of the bootstrap and of the randomisation test (default: 10000)",
	    CLI_INTEGER(comparison.resamples, 100, 10000000) },
	{ 's', "seed", "N", "compare: seed (default: 42)",
	    CLI_INTEGER(comparison.seed, 0, UINT32_MAX) },
	CLI_OUTPUT(output), { 0 }
};

static const struct cli cli;

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

	for (int i = 0; i < settings->registries.count; i++)
		registry_read(registry, settings->registries.items[i]);
	return registry;
}

static void
choose(struct registry *registry, const struct settings *settings)
{
	if (settings->benchmark)
		registry->benchmark = benchmark_need(registry, settings->benchmark);
}

static struct registry *
need_registry(const struct settings *settings)
{
	if (!settings->registries.count)
		die_usage("--registry FILE, the registry of data sets, is missing");
	return open_registry(settings);
}

static int
list(void *with, char **files, int count)
{
	struct registry *registry = need_registry(with);

	benchmark_list(registry, files, count, stdout);
	registry_free(registry);
	return 0;
}

static int
plan(void *with, char **files, int count)
{
	const struct settings *settings = with;
	struct model_meta model = settings->model;
	struct registry *registry = need_registry(settings);

	model_meta_find(&model);
	char *own = mem_format("%s/tasks.yaml", files[0]);
	if (access(own, F_OK) == 0)
		registry_read(registry, own);
	free(own);
	choose(registry, settings);
	const struct tree *first = registry->benchmark;
	for (int i = 1; i < count && !first; i++)
		first = benchmark_find(registry, files[i]);
	struct data_folder *folder = data_folder_read(registry, first, files[0]);
	const struct plan_choice choice = { registry, registry->benchmark, files + 1,
		count - 1, settings->instruct };
	if (registry->benchmark && !plan_missing(folder, files[0], &choice, stderr))
		die("%s: it has none of the data sets of %s", files[0],
		    registry->benchmark->key);
	if (!folder->count)
		die("%s: it has no data sets; motes(7) describes their folders",
		    files[0]);
	plan_print(folder, files[0], &model, &choice, stdout);
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
	int64_t left = rows_to_encode_training(
	    files[0], settings->samples, settings->experiments, stdout);
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
	struct part_reports *parts =
	    part_reports_read(registry, settings->task, settings->type, files, count);
	struct tree *file = results_of(parts);
	json_print(file);
	tree_free(file);
	part_reports_free(parts);
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

	choose(registry, settings);
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
	choose(registry, settings);
	model_comparison_print(registry, files, count, &settings->comparison, stdout);
	registry_free(registry);
	return 0;
}

static const struct cli_command commands[] = {
	{ "list", "the known benchmarks, or their data sets", "registry output", 0, -1,
	    list },
	{ "plan", "make variables: files to encode and to score",
	    "model registry name gates pilots way protocol benchmark instruct output", 1,
	    -1, plan },
	{ "fields", "the options of tok for a file's texts", "type output", 1, 1,
	    fields },
	{ "judged", "the queries that have judgements", "output", 2, 2, judged },
	{ "drawn", "a training file without texts that are not drawn",
	    "samples experiments output", 1, 1, drawn },
	{ "model", "model_meta.json of a model folder",
	    "model name gates pilots way output", 0, 0, model },
	{ "result", "TASK.json of a report of mteb-score --json",
	    "registry type dataset protocol output", 0, -1, result },
	{ "table", "folders of TASK.json as a table",
	    "registry protocol benchmark format output", 1, -1, table },
	{ "compare", "differences between models, with tests",
	    "registry from-per-query protocol benchmark format resamples seed output", 2,
	    -1, compare },
	{ 0 },
};

static const struct cli cli = { "leaderboard",
	"list data sets, tabulate and compare scores",
	"list --registry FILE [BENCHMARK|TASK]...\n"
	"       leaderboard plan [-m MODEL] --registry FILE [OPTION]... DATA [TASK]...\n"
	"       leaderboard fields --type TYPE FILE\n"
	"       leaderboard judged QRELS QUERIES\n"
	"       leaderboard drawn [--samples N] [--experiments N] FILE\n"
	"       leaderboard model [-m MODEL] [--name NAME]\n"
	"       leaderboard result --registry FILE --dataset TASK [OPTION]... [REPORT]...\n"
	"       leaderboard table --registry FILE [OPTION]... FOLDER...\n"
	"       leaderboard compare [OPTION]... FOLDER FOLDER...\n"
	"       leaderboard compare --from-per-query [OPTION]... FILE FILE...",
	options,
	"  leaderboard list --registry share/tasks.yaml 'MTEB(eng, v2)'\n"
	"  leaderboard plan -m MODEL --registry share/tasks.yaml data STS12 > plan.mk\n"
	"  leaderboard fields --type STS test.jsonl\n"
	"  leaderboard judged qrels/test.tsv queries.jsonl > judged.jsonl\n"
	"  leaderboard drawn --samples 16 train.jsonl > drawn.jsonl\n"
	"  leaderboard model -m MODEL -o model_meta.json\n"
	"  mteb-score sts --json x.mts |\n"
	"      leaderboard result --registry tasks.yaml --dataset STS12\n"
	"  leaderboard table --registry share/tasks.yaml --format markdown results/*/*\n"
	"  leaderboard compare results/base/* results/mote/*\n"
	"  leaderboard compare out/A out/B\n"
	"  leaderboard compare --from-per-query base.tsv mote.tsv\n",
	NULL, commands, "FILE\nplan: DIR NAME\ntable: DIR" };

int
main(int argc, char **argv)
{
	cli_start(&cli, argc, argv);
	struct settings settings = { .output = "-",
		.samples = 8,
		.experiments = 10,
		.v2 = true,
		.comparison = { .resamples = 10000, .seed = 42 } };
	cli_next(&cli, argc, argv, &settings);
	settings.comparison.markdown = settings.format == MARKDOWN;
	const struct cli_command *command = cli_find(&cli, argc, argv);
	struct output *output = output_print(settings.output);
	command->run(&settings, argv + optind + 1, argc - optind - 1);
	output_finish(output);
	return 0;
}
