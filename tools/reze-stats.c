/*
 * reze-stats - measure data-set bias in pairs and remove it from targets
 *
 * fit	reads	query.emb, document.emb	f32 [width]	a pair of texts
 *		dataset			text		its source; or an attribute
 *	writes	statistics of relations (reze/statistics_file.h)
 * merge, show	read such statistics
 * apply	reads as fit, and statistics
 *	writes	relation.target		f32 [2 width]	in place of the embeddings
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
#include "papers/reze/debias.h"
#include "papers/reze/statistics_file.h"
#include "papers/reze/statistics_table.h"

enum {
	OPT_ANCHOR = CLI_LONG,
	OPT_POSITIVE,
	OPT_SOURCE,
	OPT_RANK,
	OPT_PARTIAL,
	OPT_COMPONENTS,
	OPT_JSON,
	OPT_KEEP,
	OPT_DTYPE,
	OPT_ANY_MODEL,
	OPT_SHRINKAGE /* and what follows: enum shrinkage_option */
};

static const struct cli_option options[] = {
	{ OPT_ANCHOR, "anchor", "NAME",
	    "embeddings of the anchors: NAME.emb (default: query)" },
	{ OPT_POSITIVE, "positive", "NAME",
	    "embeddings of their positives: NAME.emb\n(default: document)" },
	{ OPT_SOURCE, "source", "NAME",
	    "column, or attribute of the records, that says of which\nsource a pair is (default: dataset)" },
	{ OPT_RANK, "eigenvectors", "N", "eigenvectors to compute (default: all)" },
	{ OPT_PARTIAL, "partial", NULL, "write sums alone, for merge" },
	{ OPT_SHRINKAGE + SHRINKAGE_CENTRE, "centre", "median|mean|zero",
	    "of the sources' means, m (default: median)" },
	{ OPT_SHRINKAGE + SHRINKAGE_BAND, "band", "mean|median",
	    "of their distances from it, equation 5 (default: mean)" },
	{ OPT_SHRINKAGE + SHRINKAGE_EQ6, "eq6", "signed|printed",
	    "equation 6 by a mean's own sign, or as printed\n(default: signed)" },
	{ OPT_SHRINKAGE + SHRINKAGE_GAMMA, "gamma", "X",
	    "width of threshold and band (default: 1)" },
	{ OPT_SHRINKAGE + SHRINKAGE_ETA, "eta", "X", "strength (default: 0.7)" },
	{ OPT_SHRINKAGE + SHRINKAGE_RHO, "rho", "X",
	    "share of the variance that is active (default: 0.99)" },
	{ OPT_SHRINKAGE + SHRINKAGE_LEAST, "alpha-min", "X",
	    "the least factor (default: 0)" },
	{ OPT_SHRINKAGE + SHRINKAGE_MOST, "alpha-max", "X",
	    "the greatest factor (default: 1)" },
	{ OPT_COMPONENTS, "each-component", NULL,
	    "show: a line for each component, not each source" },
	{ OPT_JSON, "json", NULL, "show: both as JSON" },
	{ OPT_KEEP, "keep", NULL, "apply: keep the columns of embeddings" },
	{ OPT_DTYPE, "dtype", "f32|f64", "apply: of the targets (default: f32)" },
	{ OPT_ANY_MODEL, "any-model", NULL,
	    "take embeddings and statistics of several models" },
	CLI_LEVEL, CLI_OUTPUT, CLI_THREADS, { 0 }
};

struct settings {
	struct relation_names names; /* NULL: not given */
	struct shrinkage_options shrinkage;
	enum statistics_view view;
	int rank, level, threads;
	bool partial, keep, any_model;
	enum dtype dtype;
	const char *output;
};

/* What was not said: as the statistics were made, or as tasksample calls it. */
static struct relation_names
names_of(const struct settings *settings, const struct statistics *made)
{
	const struct relation_names *given = &settings->names;

	return (struct relation_names){
		.anchor = given->anchor ? given->anchor
			  : made	? made->anchor
					: "query",
		.positive = given->positive ? given->positive
			    : made	    ? made->positive
					    : "document",
		.source = given->source ? given->source : "dataset",
	};
}

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
	static const char *const standard[] = { "-" };
	const struct settings *settings = with;
	struct relation_names names = names_of(settings, NULL);
	struct shrinkage_settings how =
	    shrinkage_options_complete(&settings->shrinkage, NULL);
	struct reader *first;
	struct statistics *statistics =
	    collect_pairs(count ? (const char *const *)files : standard,
		count ? count : 1, &names, settings->any_model, &first);

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

/* apply ----------------------------------------------------------------------------- */

/* What it takes to make the targets of a stream. */
struct targets {
	struct statistics *statistics;
	struct debias *debias;
	struct relations *relations;
	enum dtype dtype;
	int column; /* of the targets */
	double *exact;
	float *rounded;
	size_t exact_room, rounded_room;
};

static void
put_targets(struct targets *targets, const struct record *record, struct record *made)
{
	struct relations *relations = targets->relations;
	size_t width = (size_t)relations->width;

	relations_load(relations, record);
	size_t count = mem_multiply((size_t)relations->count, width, "targets");
	int *sources = collect_sources(targets->statistics, relations, false);
	targets->exact =
	    mem_grow(targets->exact, &targets->exact_room, count, sizeof *targets->exact);
	debias_relations(targets->debias, targets->exact, relations_all(relations),
	    sources, relations->count);
	free(sources);
	made->columns[targets->column].data = targets->exact;
	if (targets->dtype == DTYPE_F64)
		return;
	targets->rounded = mem_grow(
	    targets->rounded, &targets->rounded_room, count, sizeof *targets->rounded);
	for (size_t i = 0; i < count; i++)
		targets->rounded[i] = (float)targets->exact[i];
	made->columns[targets->column].data = targets->rounded;
}

static struct statistics *
read_statistics(const char *path)
{
	struct reader *reader = stream_open(path);
	struct statistics *statistics = statistics_read(reader, true);

	stream_close(reader);
	return statistics;
}

static struct writer *
open_output(const struct settings *settings, const struct reader *in,
    const struct relations *relations)
{
	struct writer *out = stream_create(settings->output, in);

	if (settings->level >= 0)
		stream_level(out, settings->level);
	if (settings->keep)
		return out;
	stream_drop(out, stream_column(in, relations_anchor_column(relations))->name);
	stream_drop(out, stream_column(in, relations_positive_column(relations))->name);
	return out;
}

static int
apply(void *with, char **files, int count)
{
	const struct settings *settings = with;
	const char *path = count > 1 ? files[1] : "-";

	struct reader *in = stream_open(path);
	struct targets targets = { .statistics = read_statistics(files[0]),
		.dtype = settings->dtype };
	struct statistics *statistics = targets.statistics;
	struct relation_names names = names_of(settings, statistics);
	struct record record;

	if (!settings->any_model)
		collect_check_model(stream_name(in),
		    tree_string(stream_properties(in), "model", NULL), files[0],
		    statistics->model);
	targets.relations = relations_open(in, &names);
	if (targets.relations->width != statistics->width)
		die("%s: its embeddings have width %d, those of %s %d", stream_name(in),
		    targets.relations->width / 2, files[0], statistics->width / 2);
	targets.debias = debias_new(statistics);
	struct writer *out = open_output(settings, in, targets.relations);
	targets.column = stream_add(out, &(struct column){ .name = "relation.target",
					     .dtype = settings->dtype,
					     .rank = 1,
					     .shape = { statistics->width } });
	struct progress *progress = stream_progress(in);
	while (stream_next(in, &record)) {
		struct record *made = stream_make(out, &record);
		put_targets(&targets, &record, made);
		stream_put(out, made);
	}
	progress_free(progress);
	stream_finish(out);
	relations_close(targets.relations);
	debias_free(targets.debias);
	statistics_free(statistics);
	free(targets.exact);
	free(targets.rounded);
	stream_close(in);
	return 0;
}

#define SHRINKAGE                                                                        \
	"eigenvectors partial centre band eq6 gamma eta rho alpha-min alpha-max "
static const struct cli_command commands[] = {
	{ "fit", "statistics of the relations of a stream",
	    SHRINKAGE "anchor positive source any-model level output threads", 0, -1,
	    fit },
	{ "merge", "statistics of parts to those of the whole",
	    SHRINKAGE "any-model level output threads", 1, -1, merge },
	{ "show", "what is shrunk in which source, and by how much",
	    "each-component json output", 0, 1, show },
	{ "apply", "append debiased targets to a stream of pairs",
	    "anchor positive source keep dtype any-model level output threads", 1, 2,
	    apply },
	{ 0 },
};

static const struct cli cli = { "reze-stats",
	"measure data-set bias in pairs and remove it from targets",
	"fit|merge|show|apply [OPTION]... [FILE]...", options,
	"  tasksample --all mix.yaml | tok -m BASE | encode -m BASE |\n"
	"      reze-stats fit > reze.mts\n"
	"  tasksample mix.yaml | tok -m BASE | encode -m BASE --keep |\n"
	"      reze-stats apply reze.mts | train -m BASE --reze 1 -o out/\n",
	nn_about, commands, ".mts" };

static void
take(struct settings *settings, int option)
{
	switch (option) {
	case OPT_ANCHOR: settings->names.anchor = optarg; break;
	case OPT_POSITIVE: settings->names.positive = optarg; break;
	case OPT_SOURCE: settings->names.source = optarg; break;
	case OPT_RANK:
		settings->rank = (int)cli_integer("--eigenvectors", 1, 1 << 20);
		break;
	case OPT_PARTIAL: settings->partial = true; break;
	case OPT_COMPONENTS: settings->view = VIEW_COMPONENTS; break;
	case OPT_JSON: settings->view = VIEW_JSON; break;
	case OPT_KEEP: settings->keep = true; break;
	case OPT_DTYPE:
		settings->dtype = cli_word("--dtype", optarg,
				      (const char *const[]){ "f32", "f64", NULL })
				      ? DTYPE_F64
				      : DTYPE_F32;
		break;
	case OPT_ANY_MODEL: settings->any_model = true; break;
	case CLI_OPT_LEVEL: settings->level = cli_level(); break;
	case 'o': settings->output = optarg; break;
	case 'j': settings->threads = cli_threads(); break;
	default:
		shrinkage_option_take(&settings->shrinkage,
		    (enum shrinkage_option)(option - OPT_SHRINKAGE));
	}
}

int
main(int argc, char **argv)
{
	struct settings settings = { .output = "-", .level = -1, .dtype = DTYPE_F32 };
	int option;

	nn_start(0, argv); /* before --version speaks of it */
	cli_start(&cli, argc, argv);
	while ((option = cli_next(&cli, argc, argv)) != -1)
		take(&settings, option);
	if (settings.partial)
		cli_only(&cli, "--partial",
		    "partial anchor positive source any-model level output threads");
	const struct cli_command *command = cli_find(&cli, argc, argv);
	if (settings.threads)
		nn_start(settings.threads, argv);
	return command->run(&settings, argv + optind + 1, argc - optind - 1);
}
