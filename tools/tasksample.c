/*
 * tasksample - draw training batches from a mix of tasks
 *
 * reads	a recipe (YAML) and the text files that it names
 * writes	query, document	text	one record a batch, one row an example
 *		negatives	text, depth 2	if a data set has them
 *		document.score, negatives.score	f32	with the recipe's 'score'
 *		query.key, document.key, negatives.key	i64	hashes of the texts
 *		dataset, task, query.expert, document.expert	text	where they vary by row
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/progress.h"
#include "sample/collate.h"
#include "sample/pairs.h"
#include "sample/recipe.h"
#include "sample/sampler.h"
#include "stream/stream.h"
#include "text/datafile.h"

struct settings {
	int64_t batch, seed, epochs, steps, skip, level;
	struct rank_slice slice;
	struct examples_options files;
	int duplicates, batching; /* -1: the recipe's */
	bool drop_last, all, plan;
	struct cli_list tasks;
	const char *output, *recipe;
};

static const struct cli_option options[] = {
	{ 'b', "batch", "N", "rows of a batch (default: the recipe's, else 512)",
	    CLI_INTEGER(batch, 1, 1 << 30) },
	{ 's', "seed", "N", "seed (default: the recipe's, else 0)",
	    CLI_INTEGER(seed, 0, INT64_MAX) },
	{ 0, "epochs", "N", "passes over the data (default: the recipe's, else 1)",
	    CLI_INTEGER(epochs, 1, INT32_MAX) },
	{ 0, "steps", "N", "stop before batch N", CLI_INTEGER(steps, 0, INT64_MAX) },
	{ 0, "skip", "N", "skip the first N batches", CLI_INTEGER(skip, 0, INT64_MAX) },
	{ 0, "rank", "R", "write only slice R of each batch (default: 0)",
	    CLI_INTEGER(slice.rank, 0, 1 << 20) },
	{ 0, "ranks", "W", "number of slices (default: 1)",
	    CLI_INTEGER(slice.ranks, 1, 1 << 20) },
	{ 0, "drop-last", NULL, "drop batches that are not full", CLI_FLAG(drop_last) },
	{ 0, "duplicates", "mark|apart|keep",
	    "equal texts in a batch: mark by keys (default), move to other batches, or keep without keys",
	    CLI_WORD(duplicates, 0) },
	{ 0, "batching", "homogeneous|heterogeneous|static",
	    "overrides the recipe for all tasks", CLI_WORD(batching, 0) },
	{ 0, "task", "NAME", "only this task; repeatable", CLI_LIST(tasks) },
	{ 0, "all", NULL, "every example once, in order", CLI_FLAG(all) },
	{ 0, "plan", NULL, "write a table of the batches instead of texts",
	    CLI_FLAG(plan) },
	{ 0, "index", "DIR", "keep an index of the files in DIR, for later runs",
	    CLI_TEXT(files.index) },
	{ 'C', "directory", "DIR", "folder of relative file names in the recipe",
	    CLI_TEXT(files.folder) },
	{ 0, "tmpdir", "DIR",
	    "where compressed files are unpacked (default: $TMPDIR, else /tmp)",
	    CLI_TEXT(files.tmpdir) },
	{ 0, "max-line", "BYTES", "refuse longer lines (default: 64M)",
	    CLI_BYTES(files.max_line) },
	CLI_LEVEL(level), CLI_OUTPUT(output), { 0 }
};

static const struct cli cli = { "tasksample", "draw training batches from a mix of tasks",
	"[OPTION]... RECIPE", options,
	"  tasksample --plan mix.yaml\n"
	"  tasksample mix.yaml | tok -m MODEL | train -m MODEL -o trained\n",
	NULL, NULL, ".yaml|.yml" };

static struct settings
parse(int argc, char **argv)
{
	struct settings to = { .seed = -1,
		.steps = -1,
		.level = -1,
		.slice.ranks = 1,
		.duplicates = -1,
		.batching = -1,
		.files = { .tmpdir = getenv("TMPDIR"), .max_line = DATAFILE_LINE },
		.output = "-" };

	cli_next(&cli, argc, argv, &to);
	if (optind + 1 != argc)
		die_usage(optind == argc ? "a recipe is needed" : "one recipe at a time");
	if (to.slice.rank >= to.slice.ranks)
		die_usage("--rank: %lld is not below --ranks, %lld",
		    (long long)to.slice.rank, (long long)to.slice.ranks);
	if (to.plan)
		cli_only(&cli, "--plan",
		    "plan all batch seed epochs steps skip rank ranks drop-last duplicates batching task index directory tmpdir max-line output");
	if (to.all)
		cli_only(&cli, "--all",
		    "all plan batch steps skip rank ranks task index directory tmpdir max-line level output");
	to.recipe = argv[optind];
	return to;
}

/* The command line overrides the recipe. */
static struct recipe *
open_recipe(const struct settings *settings)
{
	struct recipe *recipe = recipe_open(settings->recipe);

	if (settings->tasks.count)
		recipe_choose(recipe, settings->tasks.items, settings->tasks.count);
	if (settings->batching >= 0)
		recipe_batch_as(recipe, (enum recipe_batching)settings->batching);
	if (settings->duplicates >= 0)
		recipe->duplicates = (enum recipe_duplicates)settings->duplicates;
	if (settings->batch)
		recipe->batch = settings->batch;
	if (settings->seed >= 0)
		recipe->seed = (uint64_t)settings->seed;
	if (settings->epochs)
		recipe->epochs = settings->epochs;
	else if (!recipe->epochs && settings->steps < 0)
		recipe->epochs = 1;
	recipe->drop_last |= settings->drop_last;
	if (!settings->all)
		recipe_tell_unused(recipe);
	if (settings->all) {
		recipe->epochs = 1;
		recipe->drop_last = false;
		recipe->duplicates = DUPLICATES_KEEP;
	}
	return recipe;
}

/* Batches of the whole run; -1: unknown. */
static int64_t
total_of(const struct settings *settings, const struct recipe *recipe, int64_t batches)
{
	int64_t total = settings->steps;

	/* without duplicates there may be more batches */
	if (recipe->epochs && recipe->duplicates != DUPLICATES_APART &&
	    (total < 0 || batches * recipe->epochs < total))
		total = batches * recipe->epochs;
	return total;
}

static void
write_property(struct writer *out, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	stream_property(out, key, text);
}

/* The batches, as records or as a table. */
static void
sample(const struct settings *settings, const struct recipe *recipe,
    struct pairs *const *sets, const int64_t *counts, struct writer *out)
{
	struct sampler *sampler = sampler_new(recipe, counts, settings->all);
	struct collate *collate = collate_new(recipe, sets, out, settings->all);
	int64_t total = total_of(settings, recipe, sampler_batches(sampler));
	struct progress *progress = progress_new("batches", total > 0 ? total : 0);

	if (recipe->duplicates == DUPLICATES_APART)
		sampler_no_duplicates(sampler, collate_keys, collate);
	if (out && total >= 0)
		write_property(out, "batches", total);
	if (out && settings->slice.ranks > 1 && !settings->all) {
		write_property(out, "rank", settings->slice.rank);
		write_property(out, "ranks", settings->slice.ranks);
	}
	for (int64_t step = 0; total < 0 || step < total; step++) {
		progress_add(progress, 1);
		if (step < settings->skip) {
			if (!sampler_skip(sampler))
				break;
			continue;
		}
		const struct draw *draw = sampler_next(sampler);
		if (!draw)
			break;
		if (out)
			collate_put(collate, draw, &settings->slice);
		else
			sampler_print(recipe, draw, &settings->slice);
	}
	progress_free(progress);
	collate_free(collate);
	sampler_free(sampler);
}

int
main(int argc, char **argv)
{
	cli_start(&cli, argc, argv);
	struct settings settings = parse(argc, argv);
	struct recipe *recipe = open_recipe(&settings);
	if (settings.files.index && mkdir(settings.files.index, 0777) && errno != EEXIST)
		die("%s:", settings.files.index);
	size_t sources = (size_t)recipe->source_count;
	struct pairs **sets = mem_new(sources, sizeof *sets);
	int64_t *counts = mem_new(sources, sizeof *counts);
	for (size_t s = 0; s < sources; s++) {
		const struct recipe_source *source = recipe->sources + s;
		sets[s] = pairs_open(source, &settings.files);
		counts[s] = pairs_count(sets[s]);
		inform("data set %s: %lld examples", source->name, (long long)counts[s]);
	}

	struct writer *out = NULL;
	struct output *table = NULL;
	if (!settings.plan) {
		out = stream_create(settings.output, NULL);
		stream_level(out, (int)settings.level);
		stream_seed(out, recipe->seed);
	} else {
		table = output_print(settings.output);
		printf("step\tepoch\ttask\tdatasets\trows\tchecksum\n");
	}
	sample(&settings, recipe, sets, counts, out);
	if (out)
		stream_finish(out);
	else
		output_finish(table);

	for (size_t s = 0; s < sources; s++) {
		if (pairs_repaired(sets[s]))
			warn("data set %s: has invalid UTF-8; it was replaced by U+FFFD",
			    recipe->sources[s].name);
		pairs_close(sets[s]);
	}
	free(sets);
	free(counts);
	free(settings.tasks.items);
	recipe_close(recipe);
	return 0;
}
