/*
 * geom - how the embeddings of streams lie to each other
 *
 * similarity	reads FIELD.emb (f32 [width]) of the same texts under several tasks; task or FIELD.expert
 *		(text), _id or id (text or i64) and FIELD or text (text), where there are; writes a table
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/status_line.h"
#include "geometry/inter_task_table.h"

enum { OPT_AGAINST = CLI_LONG, OPT_PER_TEXT, OPT_JSON, OPT_ANY_MODEL };

static const struct cli_option options[] = {
	{ OPT_AGAINST, "against", "FILE",
	    "similarity: another model's embeddings of the texts, to compare\nwith; "
	    "repeatable" },
	{ OPT_PER_TEXT, "per-text", "FILE", "similarity: each text's cosines there" },
	{ 'f', "field", "NAME",
	    "take the embeddings from NAME.emb (default: the only one)" },
	{ OPT_ANY_MODEL, "any-model", NULL,
	    "similarity: a model's streams may be of several" },
	{ OPT_JSON, "json", NULL, "print JSON instead of TSV" },
	{ 'o', "output", "FILE", "write there, whole or not at all" }, { 0 }
};

struct settings {
	const char **against; /* paths */
	int against_count;
	const char *per_text, *field, *output;
	bool any_model, json;
};

static void
check_files(const struct settings *settings, char *const *files, int count)
{
	int inputs = 0;

	for (int i = 0; i < count; i++)
		inputs += strcmp(files[i], "-") == 0;
	for (int i = 0; i < settings->against_count; i++)
		inputs += strcmp(settings->against[i], "-") == 0;
	if (inputs > 1)
		die_usage("only one of the streams can be standard input");
	if (settings->per_text && !strcmp(settings->per_text, settings->output))
		die_usage(
		    "--per-text and the table cannot both go to '%s'", settings->output);
}

static int
similarity(void *with, char **files, int count)
{
	const struct settings *settings = with;
	char dash[] = "-", *standard[] = { dash };
	struct inter_task *against = NULL;

	files = count ? files : standard;
	count = count ? count : 1;
	check_files(settings, files, count);
	struct output *output = output_print(settings->output);
	struct per_query *per_text =
	    settings->per_text ? per_query_create(settings->per_text) : NULL;
	struct inter_task *inter_task = inter_task_read(
	    (const char *const *)files, count, settings->field, settings->any_model);
	if (settings->against_count)
		against = inter_task_read(settings->against, settings->against_count,
		    settings->field, settings->any_model);
	struct inter_task_table *table = inter_task_table_new(inter_task, against);
	status_line_stop();
	if (per_text)
		inter_task_table_write(table, per_text);
	inter_task_table_print(table, settings->json);
	output_finish(output);
	inter_task_table_free(table);
	if (against)
		inter_task_free(against);
	inter_task_free(inter_task);
	return 0;
}

static const struct cli_command commands[] = {
	{ "similarity", "how alike the embeddings of a text are under its tasks",
	    "against per-text field any-model json output", 0, -1, similarity },
	{ 0 },
};

static const struct cli cli = { "geom", "measure how embeddings lie to each other",
	"similarity [OPTION]... [FILE]...", options,
	"  geom similarity classification.mts clustering.mts search_query.mts\n"
	"  geom similarity --against dense.mts mote.mts -o similarity.tsv\n",
	NULL, commands, ".mts" };

static void
parse(struct settings *settings, int argc, char **argv)
{
	int option;

	while ((option = cli_next(&cli, argc, argv)) != -1)
		switch (option) {
		case OPT_AGAINST:
			settings->against[settings->against_count++] = optarg;
			break;
		case OPT_PER_TEXT: settings->per_text = optarg; break;
		case 'f': settings->field = optarg; break;
		case OPT_ANY_MODEL: settings->any_model = true; break;
		case OPT_JSON: settings->json = true; break;
		case 'o': settings->output = optarg; break;
		}
}

int
main(int argc, char **argv)
{
	struct settings settings = { .output = "-" };

	cli_start(&cli, argc, argv);
	settings.against = mem_new((size_t)argc, sizeof *settings.against);
	parse(&settings, argc, argv);
	int status = cli_find(&cli, argc, argv)
			 ->run(&settings, argv + optind + 1, argc - optind - 1);
	free(settings.against);
	return status;
}
