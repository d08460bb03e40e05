/*
 * geom - measure and change the geometry of embeddings
 *
 * similarity	reads FIELD.emb (f32 [width]) of the same texts under several tasks; task or FIELD.expert
 *		(text), _id or id (text or i64) and FIELD or text (text), optional; writes a table
 * isoscore	reads FIELD.emb, vectors or lists of them; writes a table
 * pca, drift	read FIELD.emb, one vector a row; _id or id, dataset, optional; write a table
 * agreement	reads FIELD.emb, one vector a row, or columns of labels (text or numbers); writes a table
 * correlation	reads a numeric column of streams or tables; writes a matrix
 * whiten fit	reads FIELD.emb, vectors or lists of them; writes a whitening, or a model with it
 * whiten apply	reads a whitening and FIELD.emb; writes FIELD.emb, other columns pass
 * flow fit	reads FIELD.emb, vectors or lists of them; writes the parameters of a normalizing flow
 * flow apply	reads a flow and FIELD.emb; writes FIELD.emb, other columns pass
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "geometry/fit_apply.h"
#include "geometry/drift.h"
#include "geometry/isotropy.h"
#include "geometry/principal.h"
#include "geometry/whitening.h"
#include "nn/nn.h"
#include "papers/moee/agreement.h"
#include "papers/moee/rank_correlation.h"
#include "papers/mote/inter_task_table.h"
#include "papers/reze/flow_command.h"

struct settings {
	struct cli_list against, fields, labels;
	struct embeddings_options columns;
	int threads, level, components; /* 0: the default */
	const char *per_text, *output, *model, *basis;
	bool json, inverse;
	struct whitening_options whitening;
	struct flow_shape shape;
	struct flow_training training;
	struct agreement_options agreement;
	struct rank_correlation_options correlation;
};

static const struct cli_option options[] = {
	{ 0, "against", "FILE",
	    "similarity: embeddings of another model to compare with; repeatable",
	    CLI_LIST(against) },
	{ 0, "per-text", "FILE", "similarity, drift: write the values of each text",
	    CLI_TEXT(per_text) },
	{ 'f', "field", "NAME",
	    "embeddings are NAME.emb (default: the only ones); repeatable",
	    CLI_LIST(fields) },
	{ 0, "any-model", NULL, "accept streams of several models",
	    CLI_FLAG(columns.any_model) },
	{ 0, "relations", NULL, "isoscore, pca, drift: concatenate a row's columns",
	    CLI_FLAG(columns.relations) },
	{ 0, "components", "K", "pca, drift: principal components (default: 2; 10)",
	    CLI_INTEGER(components, 1, 1 << 20) },
	{ 0, "basis", "FILE",
	    "pca: stream of the principal components (default: all streams together)",
	    CLI_TEXT(basis) },
	{ 0, "kind", "zca|pca|scale",
	    "whiten fit: nearest to the input (default), along principal components, or each component divided by its deviation",
	    CLI_WORD(whitening.kind, WHITENING_ZCA) },
	{ 0, "eps", "X",
	    "whiten fit: smallest eigenvalue, as a share of the greatest (default: 1e-12)",
	    CLI_REAL(whitening.least, 1e-300, 1) },
	{ 0, "power", "X",
	    "whiten fit: partial whitening, eigenvalues to the power -X/2 (default: 1)",
	    CLI_REAL(whitening.power, 0, 1) },
	{ 0, "centre", "mean|zero", "whiten fit: subtract the mean (default), or nothing",
	    CLI_WORD(whitening.centre, WHITENING_MEAN) },
	{ 0, "dim", "K", "whiten fit --kind pca: keep the first K components",
	    CLI_INTEGER(whitening.width, 1, 1 << 20) },
	{ 'm', "model", "MODEL", "whiten fit: write this model, whitened, to -o DIR",
	    CLI_TEXT(model) },
	{ 0, "flow-steps", "N", "flow fit: steps of the flow (default: 6)",
	    CLI_INTEGER(shape.steps, 1, 1000) },
	{ 0, "hidden", "N", "flow fit: width of hidden layers (default: 512)",
	    CLI_INTEGER(shape.hidden, 1, 1 << 15) },
	{ 0, "epochs", "N", "flow fit: passes over the data (default: 10)",
	    CLI_INTEGER(training.epochs, 0, 1000000) },
	{ 'b', "batch", "N", "flow fit: vectors of a batch (default: 16)",
	    CLI_INTEGER(training.batch, 1, 1 << 20) },
	{ 0, "lr", "X", "flow fit: Adam's learning rate (default: 1e-4)",
	    CLI_REAL(training.rate, 1e-12, 10) },
	{ 's', "seed", "N", "agreement, flow fit: seed (default: 42)",
	    CLI_INTEGER(training.seed, 0, INT64_MAX) },
	{ 0, "label", "NAME", "agreement: column of labels; repeatable",
	    CLI_LIST(labels) },
	{ 'k', "clusters", "K", "agreement: clusters of k-means",
	    CLI_INTEGER(agreement.columns.clusters, 2, 4096) },
	{ 0, "runs", "N", "agreement: runs of k-means (default: 5)",
	    CLI_INTEGER(agreement.runs, 1, 1000) },
	{ 0, "column", "NAME", "correlation: column (default: similarity)",
	    CLI_TEXT(correlation.column) },
	{ 0, "blocks", NULL, "correlation: means over the files of each folder",
	    CLI_FLAG(correlation.blocks) },
	{ 0, "inverse", NULL, "flow apply: map back", CLI_FLAG(inverse) },
	{ 0, "json", NULL, "print JSON instead of TSV", CLI_FLAG(json) },
	CLI_LEVEL(level), CLI_THREADS(threads), CLI_OUTPUT(output), { 0 }
};

static const struct cli cli;

static int
similarity(void *with, char **files, int count)
{
	const struct settings *settings = with;

	if (settings->columns.count > 1)
		die_usage("similarity takes one --field");
	cli_apart((const char *const[]){
	    "per-text", settings->per_text, "output", settings->output, NULL });
	const char *const *streams = cli_inputs(files, &count);
	inter_task_compare(streams, count, settings->against.items,
	    settings->against.count,
	    &(struct inter_task_options){
		settings->columns.count ? settings->columns.fields[0] : NULL,
		settings->columns.any_model, settings->json, settings->per_text });
	return 0;
}

static int
isoscore(void *with, char **files, int count)
{
	const struct settings *settings = with;

	const char *const *streams = cli_inputs(files, &count);

	isotropy_print(streams, count, &settings->columns, settings->json);
	return 0;
}

static int
pca(void *with, char **files, int count)
{
	const struct settings *settings = with;

	principal_print((const char *const *)files, count, &settings->columns,
	    &(struct principal_options){
		settings->components ? settings->components : 2, settings->basis });
	return 0;
}

static int
drift(void *with, char **files, int count)
{
	const struct settings *settings = with;

	(void)count;
	cli_apart((const char *const[]){
	    "per-text", settings->per_text, "output", settings->output, NULL });
	drift_print(files[0], files[1], &settings->columns,
	    &(struct drift_options){
		settings->components, settings->json, settings->per_text });
	return 0;
}

static int
agreement(void *with, char **files, int count)
{
	struct settings *settings = with;
	struct agreement_options *how = &settings->agreement;

	how->columns.labels = settings->labels.items;
	how->columns.label_count = settings->labels.count;
	how->columns.fields = settings->fields.items;
	how->columns.field_count = settings->fields.count;
	how->seed = settings->training.seed;
	how->json = settings->json;
	if (settings->labels.count && !settings->fields.count)
		cli_only(&cli, "labels, which are clusters", "label json threads output");
	const char *const *streams = cli_inputs(files, &count);
	agreement_print(streams, count, how);
	return 0;
}

static int
correlation(void *with, char **files, int count)
{
	const struct settings *settings = with;

	rank_correlation_print((const char *const *)files, count, &settings->correlation);
	return 0;
}

static int
whiten(void *with, char **files, int count)
{
	static const char *const known[] = {
		"field any-model kind eps power centre dim model threads output",
		"field any-model level threads output"
	};
	const struct settings *settings = with;
	struct fit_apply words = fit_apply_words(&cli, "whiten", known, files, count);

	if (words.fit)
		whitening_fit(words.streams, words.count, &settings->columns,
		    &settings->whitening, settings->model, settings->output);
	else
		whitening_apply(words.map, words.streams[0],
		    &(struct transform_options){
			&settings->columns, settings->output, settings->level });
	return 0;
}

static int
flow(void *with, char **files, int count)
{
	static const char *const known[] = {
		"field any-model flow-steps hidden epochs batch lr seed threads output",
		"field any-model inverse level threads output"
	};
	const struct settings *settings = with;
	struct fit_apply words = fit_apply_words(&cli, "flow", known, files, count);

	if (words.fit)
		flow_fit(words.streams, words.count, &settings->columns, &settings->shape,
		    &settings->training, settings->output);
	else
		flow_apply(words.map, words.streams[0], settings->inverse,
		    &(struct transform_options){
			&settings->columns, settings->output, settings->level });
	return 0;
}

static const struct cli_command commands[] = {
	{ "similarity", "similarity of a text's embeddings between tasks",
	    "against per-text field any-model json threads output", 0, -1, similarity },
	{ "isoscore", "how evenly embeddings use their dimensions",
	    "field relations any-model json threads output", 0, -1, isoscore },
	{ "pca", "principal coordinates of several streams in one basis",
	    "field relations components basis threads output", 1, -1, pca },
	{ "drift", "how far texts moved from one model to another",
	    "field relations components per-text json threads output", 2, 2, drift },
	{ "agreement", "agreement of clusterings of the same texts",
	    "field label clusters runs seed json threads output", 0, -1, agreement },
	{ "correlation", "correlation of models' rankings of the same pairs",
	    "column blocks output", 2, -1, correlation },
	{ "whiten", "whiten embeddings: mean 0, covariance the identity",
	    "field any-model kind eps power centre dim model level threads output", 1, -1,
	    whiten },
	{ "flow", "map embeddings to a normal distribution, and back",
	    "field any-model flow-steps hidden epochs batch lr seed inverse level threads output",
	    1, -1, flow },
	{ 0 },
};

static const struct cli cli = { "geom", "measure and change the geometry of embeddings",
	"similarity [OPTION]... [FILE]...\n"
	"       geom isoscore [OPTION]... [FILE]...\n"
	"       geom pca [OPTION]... FILE...\n"
	"       geom drift [OPTION]... BEFORE AFTER\n"
	"       geom agreement [-k K] [OPTION]... [FILE]...\n"
	"       geom correlation [--column NAME] [--blocks] FILE...\n"
	"       geom whiten fit [-m MODEL -o DIR] [OPTION]... [FILE]...\n"
	"       geom whiten apply [OPTION]... WHITENING [FILE]\n"
	"       geom flow fit [OPTION]... [FILE]...\n"
	"       geom flow apply [--inverse] [OPTION]... FLOW [FILE]",
	options,
	"  geom similarity classification.mts clustering.mts search_query.mts\n"
	"  geom similarity --against dense.mts mote.mts -o similarity.tsv\n"
	"  geom pca base.mts pft.mts reze.mts > pca.tsv\n"
	"  geom drift base.mts reze.mts\n"
	"  geom agreement -k 100 -f text.hs -f text.rw texts.mts\n"
	"  geom whiten fit train.mts | geom whiten apply - test.mts > white.mts\n"
	"  geom whiten fit --power 0.4 --centre zero -m MODEL -o BETTER texts.mts\n"
	"  geom flow fit train.mts -o flow.mts\n"
	"  geom flow apply flow.mts test.mts > z.mts\n",
	nn_about, commands,
	".mts\ncorrelation: .mts|.tsv\nwhiten: fit|apply .mts\nflow: fit|apply .mts" };

int
main(int argc, char **argv)
{
	struct settings settings = { .output = "-",
		.level = -1,
		.whitening = { .least = 1e-12, .power = 1 },
		.shape = { .steps = 6, .hidden = 512 },
		.training = { .epochs = 10, .batch = 16, .rate = 1e-4, .seed = 42 } };

	cli_start(&cli, argc, argv);
	cli_next(&cli, argc, argv, &settings);
	settings.columns.fields = settings.fields.items;
	settings.columns.count = settings.fields.count;
	const struct cli_command *command = cli_find(&cli, argc, argv);
	nn_start(settings.threads, argv);
	bool table = command->run != whiten && command->run != flow;
	struct output *output = table ? output_print(settings.output) : NULL;
	int status = command->run(&settings, argv + optind + 1, argc - optind - 1);
	if (output)
		output_finish(output);
	free(settings.against.items);
	free(settings.fields.items);
	free(settings.labels.items);
	return status;
}
