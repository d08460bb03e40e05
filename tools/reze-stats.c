/*
 * reze-stats - measure data-set bias in pairs and remove it from targets
 *
 * fit	reads	query.emb, document.emb	f32 [width]	a pair of texts
 *		dataset			text		its source, or the record's attribute
 *	writes	statistics of relations (reze/statistics_file.h)
 * merge, show	read such statistics
 * apply	reads as fit, and statistics
 *	writes	relation.target		f32 [2 width]	instead of the embeddings
 * effect	reads as apply
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/progress.h"
#include "nn/nn.h"
#include "papers/reze/collect.h"
#include "papers/reze/effect.h"
#include "papers/reze/statistics_file.h"
#include "papers/reze/statistics_table.h"
#include "papers/reze/targets.h"

enum { OPT_SHRINKAGE = CLI_LONG }; /* and the values of enum shrinkage_option after it */

struct settings {
	struct relation_names names; /* NULL: not given */
	struct shrinkage_options shrinkage;
	enum statistics_view view;
	int rank, level, threads;
	bool partial, keep, any_model, f64;
	const char *output;
};

static const struct cli_option options[] = {
	{ 0, "anchor", "NAME", "anchor embeddings: NAME.emb (default: query)",
	    CLI_TEXT(names.anchor) },
	{ 0, "positive", "NAME", "positive embeddings: NAME.emb (default: document)",
	    CLI_TEXT(names.positive) },
	{ 0, "source", "NAME",
	    "column, or attribute of records, that names the source of a pair (default: dataset)",
	    CLI_TEXT(names.source) },
	{ 0, "eigenvectors", "N", "eigenvectors to compute (default: all)",
	    CLI_INTEGER(rank, 1, 1 << 20) },
	{ 0, "partial", NULL, "write only sums, for merge", CLI_FLAG(partial) },
	{ OPT_SHRINKAGE + SHRINKAGE_CENTRE, "centre", "median|mean|zero",
	    "centre m of the sources' means (default: median)", CLI_CUSTOM },
	{ OPT_SHRINKAGE + SHRINKAGE_BAND, "band", "mean|median",
	    "of the distances from m, equation 5 (default: mean)", CLI_CUSTOM },
	{ OPT_SHRINKAGE + SHRINKAGE_EQ6, "eq6", "signed|printed",
	    "equation 6 with the sign of mu (default), or as printed", CLI_CUSTOM },
	{ OPT_SHRINKAGE + SHRINKAGE_GAMMA, "gamma", "X",
	    "width of threshold and band (default: 1)", CLI_CUSTOM },
	{ OPT_SHRINKAGE + SHRINKAGE_ETA, "eta", "X",
	    "strength of the shrinkage (default: 0.7)", CLI_CUSTOM },
	{ OPT_SHRINKAGE + SHRINKAGE_RHO, "rho", "X",
	    "variance share of active components (default: 0.99)", CLI_CUSTOM },
	{ OPT_SHRINKAGE + SHRINKAGE_LEAST, "alpha-min", "X",
	    "smallest factor (default: 0)", CLI_CUSTOM },
	{ OPT_SHRINKAGE + SHRINKAGE_MOST, "alpha-max", "X", "largest factor (default: 1)",
	    CLI_CUSTOM },
	{ 0, "each-component", NULL, "show: a line for each component",
	    CLI_SET(view, VIEW_COMPONENTS) },
	{ 0, "json", NULL, "show: all statistics as JSON", CLI_SET(view, VIEW_JSON) },
	{ 0, "keep", NULL, "apply: keep the columns of embeddings", CLI_FLAG(keep) },
	{ 0, "dtype", "f32|f64", "apply: type of the targets (default: f32)",
	    CLI_WORD(f64, 0) },
	{ 0, "any-model", NULL, "accept embeddings of several models",
	    CLI_FLAG(any_model) },
	CLI_LEVEL(level), CLI_OUTPUT(output), CLI_THREADS(threads), { 0 }
};

static int
finish(const struct settings *settings, struct statistics *statistics,
    const struct shrinkage_settings *how, struct reader *first)
{
	statistics_unsolve(statistics);
	if (!settings->partial)
		statistics_solve(statistics, settings->rank, how, stream_name(first));
	statistics_write(statistics, settings->output, settings->level, first);
	statistics_free(statistics);
	stream_close(first);
	return 0;
}

static int
fit(void *with, char **files, int count)
{
	const char *const *streams = cli_inputs(files, &count);
	const struct settings *settings = with;
	struct relation_names names = targets_names(&settings->names, NULL);
	struct shrinkage_settings how =
	    shrinkage_options_complete(&settings->shrinkage, NULL);
	struct reader *first;
	struct statistics *statistics =
	    collect_pairs(streams, count, &names, settings->any_model, &first);

	return finish(settings, statistics, &how, first);
}

static int
merge(void *with, char **files, int count)
{
	const struct settings *settings = with;
	struct shrinkage_settings how;
	struct reader *first;
	struct statistics *statistics = collect_statistics((const char *const *)files,
	    count, &settings->shrinkage, settings->any_model, &how, &first);

	return finish(settings, statistics, &how, first);
}

static int
show(void *with, char **files, int count)
{
	const struct settings *settings = with;
	struct reader *reader = stream_open(count ? files[0] : "-");
	struct statistics *statistics = statistics_read(reader, true);
	struct output *output = output_print(settings->output);

	if (settings->view == VIEW_SOURCES && verbosity >= 0)
		fprintf(stderr,
		    "%lld relations of 2 x %d, %lld sources; %d of %d components are active\n",
		    (long long)statistics->sums->count, statistics->width / 2,
		    (long long)strings_count(statistics->sources),
		    statistics->shrinkage->active, statistics->width);
	statistics_print(statistics, settings->view);
	output_finish(output);
	statistics_free(statistics);
	stream_close(reader);
	return 0;
}

/* apply, effect ---------------------------------------------------------------------- */

/* The targets as the column that `apply` writes. */
struct target_column {
	enum dtype dtype;
	int number;
	float *rounded;
	size_t room;
};

static void
put_targets(
    struct target_column *column, const struct targets *targets, struct record *made)
{
	size_t count =
	    (size_t)targets->relations->count * (size_t)targets->relations->width;

	made->columns[column->number].data = targets->exact;
	if (column->dtype == DTYPE_F64)
		return;
	column->rounded =
	    mem_grow(column->rounded, &column->room, count, sizeof *column->rounded);
	for (size_t i = 0; i < count; i++)
		column->rounded[i] = (float)targets->exact[i];
	made->columns[column->number].data = column->rounded;
}

static struct writer *
open_output(const struct settings *settings, const struct reader *in,
    const struct relations *relations)
{
	struct writer *out = stream_create(settings->output, in);

	stream_level(out, settings->level);
	if (settings->keep)
		return out;
	stream_drop(out, stream_column(in, relations->anchor->column)->name);
	stream_drop(out, stream_column(in, relations->positive->column)->name);
	return out;
}

static int
apply(void *with, char **files, int count)
{
	const struct settings *settings = with;
	struct reader *in = stream_open(count > 1 ? files[1] : "-");
	struct targets *targets =
	    targets_open(in, files[0], &settings->names, settings->any_model);
	struct writer *out = open_output(settings, in, targets->relations);
	struct target_column column = { .dtype = settings->f64 ? DTYPE_F64 : DTYPE_F32 };
	struct record record;

	column.number = stream_add(out, &(struct column){ .name = "relation.target",
					    .dtype = column.dtype,
					    .rank = 1,
					    .shape = { targets->statistics->width } });
	struct progress *progress = stream_progress(in);
	while (stream_next(in, &record)) {
		struct record *made = stream_make(out, &record);
		targets_compute(targets, &record);
		put_targets(&column, targets, made);
		stream_put(out, made);
	}
	progress_free(progress);
	stream_finish(out);
	targets_close(targets);
	free(column.rounded);
	stream_close(in);
	return 0;
}

static int
tell_effect(void *with, char **files, int count)
{
	const struct settings *settings = with;
	struct reader *in = stream_open(count > 1 ? files[1] : "-");
	struct targets *targets =
	    targets_open(in, files[0], &settings->names, settings->any_model);
	struct output *output = output_print(settings->output);
	struct effect *effect = effect_new(targets->statistics);
	struct progress *progress = stream_progress(in);
	struct record record;

	while (stream_next(in, &record)) {
		targets_compute(targets, &record);
		effect_add(effect, relations_all(targets->relations), targets->exact,
		    targets->sources, targets->relations->count);
	}
	progress_free(progress);
	effect_print(effect);
	output_finish(output);
	effect_free(effect);
	targets_close(targets);
	stream_close(in);
	return 0;
}

#define SHRINKAGE                                                                        \
	"eigenvectors partial centre band eq6 gamma eta rho alpha-min alpha-max "
static const struct cli_command commands[] = {
	{ "fit", "statistics of the relations of a stream",
	    SHRINKAGE "anchor positive source any-model level output threads", 0, -1,
	    fit },
	{ "merge", "merge the statistics of parts",
	    SHRINKAGE "any-model level output threads", 1, -1, merge },
	{ "show", "the shrinkage of each source", "each-component json output", 0, 1,
	    show },
	{ "apply", "append debiased targets to a stream of pairs",
	    "anchor positive source keep dtype any-model level output threads", 1, 2,
	    apply },
	{ "effect", "how far the targets of pairs are from their embeddings",
	    "anchor positive source any-model output threads", 1, 2, tell_effect },
	{ 0 },
};

static const struct cli cli = { "reze-stats",
	"measure data-set bias in pairs and remove it from targets",
	"fit|merge|show|apply|effect [OPTION]... [FILE]...", options,
	"  tasksample --all mix.yaml | tok -m BASE | encode -m BASE |\n"
	"      reze-stats fit > reze.mts\n"
	"  tasksample mix.yaml | tok -m BASE | encode -m BASE --keep |\n"
	"      reze-stats apply reze.mts | train -m BASE --reze 1 -o out/\n",
	nn_about, commands, ".mts" };

int
main(int argc, char **argv)
{
	struct settings settings = { .output = "-", .level = -1 };
	int option;

	nn_start(0, argv); /* --version prints it */
	cli_start(&cli, argc, argv);
	while ((option = cli_next(&cli, argc, argv, &settings)) != -1)
		shrinkage_option_take(
		    &settings.shrinkage, (enum shrinkage_option)(option - OPT_SHRINKAGE));
	if (settings.partial)
		cli_only(&cli, "--partial",
		    "partial anchor positive source any-model level output threads");
	const struct cli_command *command = cli_find(&cli, argc, argv);
	if (settings.threads)
		nn_start(settings.threads, argv);
	return command->run(&settings, argv + optind + 1, argc - optind - 1);
}
