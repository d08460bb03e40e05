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
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/input.h"
#include "base/mem.h"
#include "base/output.h"
#include "mteb/benchmark.h"
#include "mteb/board.h"
#include "mteb/drawn.h"
#include "mteb/identity.h"
#include "mteb/layout.h"
#include "mteb/plan.h"
#include "mteb/results.h"
#include "score/qrels.h"
#include "text/datafile.h"
#include "text/json.h"

enum { OPT_TASK = CLI_LONG, OPT_TYPE, OPT_NAME, OPT_PROTOCOL, OPT_FORMAT, OPT_SAMPLES };
enum { REGISTRIES = 8 };

static const struct cli_option options[] = { { 'm', "model", "DIR",
						 "plan, model: the model folder" },
	{ 'r', "registry", "FILE",
	    "plan, result, table: the data sets there are, share/tasks.yaml;\n"
	    "repeatable, a later file goes over an earlier one" },
	{ OPT_NAME, "name", "NAME",
	    "plan, model: the model's name in results (default: its folder's)" },
	{ OPT_TYPE, "type", "TYPE",
	    "fields: the type of task; queries or corpus for retrieval\n"
	    "result: the type of a task that is not in the registry" },
	{ OPT_TASK, "task", "TASK", "result: the data set that was scored" },
	{ OPT_SAMPLES, "samples", "N", "drawn: rows of a label (default: 8)" },
	{ OPT_PROTOCOL, "protocol", "v1|v2", "whose main scores (default: v1)" },
	{ OPT_FORMAT, "format", "tsv|markdown|html", "table: default tsv" },
	{ 'o', "output", "FILE", "write there, whole or not at all" }, { 0 } };

static const struct cli cli = { "leaderboard", "data sets in, a table of scores out",
	"plan -m DIR -r FILE [OPTION]... DATA [TASK]...\n"
	"       leaderboard fields --type TYPE FILE\n"
	"       leaderboard judged QRELS QUERIES\n"
	"       leaderboard drawn [--samples N] FILE\n"
	"       leaderboard model -m DIR [-o FILE]\n"
	"       leaderboard result -r FILE --task TASK [-o FILE] [REPORT]\n"
	"       leaderboard table -r FILE [--format NAME] [-o FILE] FOLDER...",
	options,
	"  leaderboard plan -m MODEL -r share/tasks.yaml data STS12 > plan.mk\n"
	"  mteb-score sts --json x.mts | leaderboard result -r share/tasks.yaml --task "
	"STS12\n"
	"  leaderboard table -r share/tasks.yaml --format markdown results/*/*\n",
	NULL };

struct settings {
	const char *model, *name, *type, *task, *format, *output;
	const char *registries[REGISTRIES];
	int registry_count, samples;
	bool v2;
};

static struct benchmark *
open_registry(const struct settings *settings)
{
	struct benchmark *benchmark = benchmark_new(settings->v2);

	if (!settings->registry_count)
		die_usage("-r FILE is missing: the registry of data sets, "
			  "share/tasks.yaml");
	for (int i = 0; i < settings->registry_count; i++)
		benchmark_read(benchmark, settings->registries[i]);
	return benchmark;
}

static void
write_json(const struct settings *settings, const struct tree *tree)
{
	struct output *out = output_open(settings->output, false);
	char *text = json_text(tree, 2);

	output_write(out, text, strlen(text));
	output_write(out, "\n", 1);
	output_finish(out);
	free(text);
}

static void
plan(const struct settings *settings, char **files, int count)
{
	if (!settings->model)
		die_usage("-m DIR is missing: the model");
	struct benchmark *benchmark = open_registry(settings);
	char *own = mem_format("%s/tasks.yaml", files[0]);
	if (access(own, F_OK) == 0)
		benchmark_read(benchmark, own);
	free(own);
	struct layout *layout = layout_find(benchmark, files[0]);
	if (!layout->count)
		die("%s: there are no data sets in it; motes(7) says how they lie",
		    files[0]);
	plan_print(
	    layout, files[0], settings->model, settings->name, files + 1, count - 1);
	layout_free(layout);
	benchmark_free(benchmark);
}

static void
fields(const struct settings *settings, char **files, int count)
{
	(void)count;
	if (!settings->type)
		die_usage("fields: --type TYPE is missing");
	char *found = layout_fields(settings->type, files[0]);
	puts(found);
	free(found);
}

static bool
is_judged(
    const struct qrels *qrels, const struct datafile *file, const struct tree *query)
{
	const struct tree *id = tree_get(query, "_id");
	char number[24];

	id = id ? id : tree_get(query, "id");
	if (!id || (id->kind != TREE_STRING && id->kind != TREE_INTEGER))
		die("%s:%lld: there is no '_id' or 'id'", datafile_name(file),
		    (long long)datafile_line(file));
	if (id->kind == TREE_STRING)
		return strings_find(qrels->queries, id->string, id->length) >= 0;
	int length = snprintf(number, sizeof number, "%lld", (long long)id->integer);
	return strings_find(qrels->queries, number, (size_t)length) >= 0;
}

static void
judged(const struct settings *settings, char **files, int count)
{
	(void)settings;
	(void)count;
	struct qrels *qrels = qrels_read(files[0]);
	struct datafile *file = datafile_open(files[1], DATAFILE_GUESS);
	const struct tree *query;

	while ((query = datafile_next(file))) {
		if (!is_judged(qrels, file, query))
			continue;
		char *text = json_text(query, 0);
		puts(text);
		free(text);
	}
	datafile_close(file);
	qrels_free(qrels);
}

enum { EXPERIMENTS = 10, SEED = 42 }; /* mteb's */

static void
drawn(const struct settings *settings, char **files, int count)
{
	(void)count;
	char *option = layout_fields("Classification", files[0]);
	int64_t left = drawn_print(files[0], option + strlen("-f "), "label",
	    settings->samples, EXPERIMENTS, SEED);
	inform("%s: %lld texts are drawn", files[0], (long long)left);
	free(option);
}

static void
model(const struct settings *settings, char **files, int count)
{
	(void)files;
	(void)count;
	if (!settings->model)
		die_usage("-m DIR is missing: the model");
	struct tree *meta = identity_meta(settings->model, settings->name);
	write_json(settings, meta);
	tree_free(meta);
}

/* What mteb-score printed, from a pipe too. */
static struct tree *
read_report(const char *path)
{
	struct input *input = input_open(path);
	char *text = NULL;
	size_t room = 0, length = 0, got;

	do {
		text = mem_grow(text, &room, length + (1 << 16), 1);
		got = input_read(input, text + length, room - length);
		length += got;
	} while (got);
	struct tree *report =
	    json_parse(text, length, strcmp(path, "-") != 0 ? path : "<stdin>", 1);
	input_close(input);
	free(text);
	return report;
}

static void
result(const struct settings *settings, char **files, int count)
{
	if (!settings->task)
		die_usage("result: --task TASK is missing");
	struct benchmark *benchmark = open_registry(settings);
	struct tree *report = read_report(count ? files[0] : "-");
	const struct benchmark_task *task = benchmark_find(benchmark, settings->task);
	const char *type = tree_string(report, "task_type", "");
	if (!task)
		task = benchmark_add(
		    benchmark, settings->task, settings->type ? settings->type : type);
	struct tree *file = results_of(task, report);
	write_json(settings, file);
	tree_free(file);
	tree_free(report);
	benchmark_free(benchmark);
}

typedef void table_writer(const struct board *board, FILE *out);

static table_writer *
table_format(const char *name)
{
	if (!strcmp(name, "tsv"))
		return board_tsv;
	if (!strcmp(name, "markdown"))
		return board_markdown;
	if (!strcmp(name, "html"))
		return board_html;
	die_usage("--format: '%s' is none of tsv, markdown, html", name);
}

static void
table(const struct settings *settings, char **files, int count)
{
	table_writer *print = table_format(settings->format);
	struct benchmark *benchmark = open_registry(settings);
	struct results **models = mem_new((size_t)count, sizeof *models);
	char *text = NULL;
	size_t length = 0;

	for (int i = 0; i < count; i++)
		models[i] = results_read(files[i]);
	struct board *board =
	    board_new(benchmark, (const struct results *const *)models, (size_t)count);
	FILE *page = open_memstream(&text, &length);
	if (!page)
		die("memory for the table:");
	print(board, page);
	fclose(page);
	struct output *out = output_open(settings->output, false);
	output_write(out, text, length);
	output_finish(out);
	free(text);
	board_free(board);
	for (int i = 0; i < count; i++)
		results_free(models[i]);
	free(models);
	benchmark_free(benchmark);
}

static const struct command {
	const char *name;
	void (*run)(const struct settings *settings, char **files, int count);
	int least, most; /* operands; most -1: any number */
} commands[] = {
	{ "plan", plan, 1, -1 },
	{ "fields", fields, 1, 1 },
	{ "judged", judged, 2, 2 },
	{ "drawn", drawn, 1, 1 },
	{ "model", model, 0, 0 },
	{ "result", result, 0, 1 },
	{ "table", table, 1, -1 },
};

static struct settings
parse(int argc, char **argv)
{
	struct settings settings = { .format = "tsv", .output = "-", .samples = 8 };
	int option;

	while ((option = cli_next(&cli, argc, argv)) != -1)
		switch (option) {
		case 'm': settings.model = optarg; break;
		case 'o': settings.output = optarg; break;
		case 'r':
			if (settings.registry_count == REGISTRIES)
				die_usage("--registry was given too often");
			settings.registries[settings.registry_count++] = optarg;
			break;
		case OPT_NAME: settings.name = optarg; break;
		case OPT_TYPE: settings.type = optarg; break;
		case OPT_TASK: settings.task = optarg; break;
		case OPT_SAMPLES:
			settings.samples = (int)cli_integer("--samples", 1, 1000000);
			break;
		case OPT_FORMAT: settings.format = optarg; break;
		case OPT_PROTOCOL:
			settings.v2 = !strcmp(optarg, "v2");
			if (!settings.v2 && strcmp(optarg, "v1") != 0)
				die_usage("--protocol: %s is neither v1 nor v2", optarg);
			break;
		}
	return settings;
}

int
main(int argc, char **argv)
{
	cli_start(&cli, argc, argv);
	struct settings settings = parse(argc, argv);
	int count = argc - optind - 1;
	if (count < 0)
		die_usage("which command: plan, fields, judged, drawn, model, result or "
			  "table?");
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		const struct command *command = &commands[i];
		if (strcmp(command->name, argv[optind]) != 0)
			continue;
		if (count < command->least ||
		    (command->most >= 0 && count > command->most))
			die_usage("%s: %s operands", command->name,
			    count < command->least ? "too few" : "too many");
		command->run(&settings, argv + optind + 1, count);
		if (fflush(stdout) || ferror(stdout))
			die("<stdout>: cannot be written:");
		return 0;
	}
	die_usage("'%s' is no command: plan, fields, judged, drawn, model, result, table",
	    argv[optind]);
}
