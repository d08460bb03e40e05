/*
 * geom - how the embeddings of streams lie to each other
 *
 * similarity	reads FIELD.emb (f32 [width]) of the same texts under several tasks; task or FIELD.expert
 *		(text), _id or id (text or i64) and FIELD or text (text), where there are; writes a table
 * isoscore	reads FIELD.emb, vectors or lists of them; writes a table
 * pca, drift	read FIELD.emb, a vector a row, _id or id, dataset, where there are; write a table
 * agreement	reads FIELD.emb, a vector a row, or columns of labels (text or numbers); writes a table
 * correlation	reads a column of numbers, of streams or tables; writes a matrix
 * whiten fit	reads FIELD.emb, vectors or lists of them; writes a whitening, or a model with it
 * whiten apply	reads this and FIELD.emb; writes FIELD.emb, and passes all other columns
 * flow fit	reads FIELD.emb, vectors or lists of them; writes the parameters of a normalizing flow
 * flow apply	reads these and FIELD.emb; writes FIELD.emb, and passes all other columns
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

enum { OPT_AGAINST = CLI_LONG, OPT_PER_TEXT, OPT_JSON, OPT_ANY_MODEL, OPT_RELATIONS };
enum { OPT_COMPONENTS = OPT_RELATIONS + 1, OPT_BASIS, OPT_KIND, OPT_EPS, OPT_DIM };
enum { OPT_STEPS = OPT_DIM + 1, OPT_HIDDEN, OPT_EPOCHS, OPT_BATCH, OPT_RATE };
enum { OPT_INVERSE = OPT_RATE + 1, OPT_LABEL, OPT_RUNS };
enum { OPT_COLUMN = OPT_RUNS + 1, OPT_BLOCKS };

static const struct cli_option options[] = {
	{ OPT_AGAINST, "against", "FILE",
	    "similarity: another model's embeddings, to compare with; repeatable" },
	{ OPT_PER_TEXT, "per-text", "FILE", "similarity, drift: each text's cosines" },
	{ 'f', "field", "NAME",
	    "the embeddings are NAME.emb (default: the only one); repeatable" },
	{ OPT_ANY_MODEL, "any-model", NULL, "streams may be of several models" },
	{ OPT_RELATIONS, "relations", NULL,
	    "isoscore, pca, drift: a row's vectors of all columns are one" },
	{ OPT_COMPONENTS, "components", "K",
	    "pca, drift: components to tell of (default: 2; 10)" },
	{ OPT_BASIS, "basis", "FILE",
	    "pca: the stream whose components they are (default: all)" },
	{ OPT_KIND, "kind", "zca|pca",
	    "whiten fit: near to x, or along components (default: zca)" },
	{ OPT_EPS, "eps", "X",
	    "whiten fit: the least share of the greatest eigenvalue\n(default: 1e-12)" },
	{ OPT_DIM, "dim", "K", "whiten fit --kind pca: keep the first K components" },
	{ 'm', "model", "MODEL",
	    "whiten fit: write to -o DIR this model with the whitening in it" },
	{ OPT_STEPS, "flow-steps", "N", "flow fit: steps of the flow (default: 6)" },
	{ OPT_HIDDEN, "hidden", "N",
	    "flow fit: values of a hidden layer (default: 512)" },
	{ OPT_EPOCHS, "epochs", "N", "flow fit: times through the data (default: 10)" },
	{ 'b', "batch", "N", "flow fit: vectors of a batch (default: 16)" },
	{ OPT_RATE, "lr", "X", "flow fit: Adam's learning rate (default: 1e-4)" },
	{ 's', "seed", "N", "agreement, flow fit: of the random numbers (default: 42)" },
	{ OPT_LABEL, "label", "NAME", "agreement: a column of labels; repeatable" },
	{ 'k', "clusters", "K", "agreement: clusters that k-means makes of vectors" },
	{ OPT_RUNS, "runs", "N",
	    "agreement: of k-means, to take the means of (default: 5)" },
	{ OPT_COLUMN, "column", "NAME",
	    "correlation: of this column (default: similarity)" },
	{ OPT_BLOCKS, "blocks", NULL, "correlation: means of the files of each folder" },
	{ OPT_INVERSE, "inverse", NULL, "flow apply: back to what the flow was given" },
	{ OPT_JSON, "json", NULL, "print JSON instead of TSV" }, CLI_LEVEL, CLI_THREADS,
	CLI_OUTPUT, { 0 }
};

static const struct cli cli;

struct settings {
	const char **against; /* paths */
	int against_count;
	struct embeddings_options columns;
	const char **fields, **labels;	/* the columns', to be filled */
	int threads, level, components; /* 0: the default */
	const char *per_text, *output, *model, *basis;
	bool json, inverse;
	struct whitening_options whitening;
	struct flow_shape shape;
	struct flow_training training;
	struct agreement_options agreement;
	struct rank_correlation_options correlation;
};

static void
check_outputs(const struct settings *settings)
{
	if (settings->per_text && !strcmp(settings->per_text, settings->output))
		die_usage(
		    "--per-text and the table cannot both go to '%s'", settings->output);
}

static int
similarity(void *with, char **files, int count)
{
	const struct settings *settings = with;

	if (settings->columns.count > 1)
		die_usage("similarity takes one --field");
	check_outputs(settings);
	inter_task_compare(fit_apply_streams(files, count), count ? count : 1,
	    settings->against, settings->against_count,
	    &(struct inter_task_options){
		settings->columns.count ? settings->fields[0] : NULL,
		settings->columns.any_model, settings->json, settings->per_text });
	return 0;
}

static int
isoscore(void *with, char **files, int count)
{
	const struct settings *settings = with;

	isotropy_print(fit_apply_streams(files, count), count ? count : 1,
	    &settings->columns, settings->json);
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
	check_outputs(settings);
	drift_print(files[0], files[1], &settings->columns,
	    &(struct drift_options){ settings->components ? settings->components : 10,
		settings->json, settings->per_text });
	return 0;
}

static int
agreement(void *with, char **files, int count)
{
	struct settings *settings = with;
	struct agreement_options *how = &settings->agreement;

	how->columns.labels = settings->labels;
	how->columns.fields = settings->fields;
	how->columns.field_count = settings->columns.count;
	how->seed = settings->training.seed;
	how->json = settings->json;
	agreement_print(fit_apply_streams(files, count), count ? count : 1, how);
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
		"field any-model kind eps dim model threads output",
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
	{ "similarity", "how alike the embeddings of a text are under its tasks",
	    "against per-text field any-model json threads output", 0, -1, similarity },
	{ "isoscore", "how evenly embeddings use their dimensions",
	    "field relations any-model json threads output", 0, -1, isoscore },
	{ "pca", "principal coordinates of several streams in one basis",
	    "field relations components basis threads output", 1, -1, pca },
	{ "drift", "how far, and where to, texts moved from one model to another",
	    "field relations components per-text json threads output", 2, 2, drift },
	{ "agreement", "how clusterings of the same texts agree",
	    "field label clusters runs seed json threads output", 0, -1, agreement },
	{ "correlation", "how alike models rank the same pairs of texts",
	    "column blocks output", 2, -1, correlation },
	{ "whiten", "give embeddings mean 0 and the identity as covariance",
	    "field any-model kind eps dim model level threads output", 1, -1, whiten },
	{ "flow", "make embeddings normally distributed by an invertible map",
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
	"  geom flow fit train.mts -o flow.mts && geom flow apply flow.mts test.mts > z.mts\n",
	nn_about, commands,
	".mts\ncorrelation: .mts|.tsv\nwhiten: fit|apply .mts\nflow: fit|apply .mts" };

static int
number(const char *option, int most)
{
	return (int)cli_integer(option, 1, most);
}

static void
parse(struct settings *s, int argc, char **argv)
{
	static const char *const kinds[] = { "zca", "pca", NULL };
	int option;

	while ((option = cli_next(&cli, argc, argv)) != -1)
		switch (option) {
		case OPT_AGAINST: s->against[s->against_count++] = optarg; break;
		case OPT_PER_TEXT: s->per_text = optarg; break;
		case 'f': s->fields[s->columns.count++] = optarg; break;
		case OPT_COMPONENTS:
			s->components = number("--components", 1 << 20);
			break;
		case OPT_BASIS: s->basis = optarg; break;
		case OPT_RELATIONS: s->columns.relations = true; break;
		case OPT_KIND:
			s->whitening.kind =
			    (enum whitening_kind)cli_word("--kind", optarg, kinds);
			break;
		case OPT_EPS: s->whitening.least = cli_real("--eps", 1e-300, 1); break;
		case OPT_DIM: s->whitening.width = number("--dim", 1 << 20); break;
		case 'm': s->model = optarg; break;
		case OPT_STEPS: s->shape.steps = number("--flow-steps", 1000); break;
		case OPT_HIDDEN: s->shape.hidden = number("--hidden", 1 << 15); break;
		case OPT_EPOCHS:
			s->training.epochs = cli_integer("--epochs", 0, 1000000);
			break;
		case 'b': s->training.batch = number("--batch", 1 << 20); break;
		case 'k':
			s->agreement.columns.clusters =
			    (int)cli_integer("--clusters", 2, 4096);
			break;
		case OPT_RUNS: s->agreement.runs = number("--runs", 1000); break;
		case OPT_COLUMN: s->correlation.column = optarg; break;
		case OPT_BLOCKS: s->correlation.blocks = true; break;
		case OPT_LABEL:
			s->labels[s->agreement.columns.label_count++] = optarg;
			break;
		case OPT_RATE: s->training.rate = cli_real("--lr", 1e-12, 10); break;
		case 's':
			s->training.seed = (uint64_t)cli_integer("--seed", 0, INT64_MAX);
			break;
		case OPT_INVERSE: s->inverse = true; break;
		case OPT_ANY_MODEL: s->columns.any_model = true; break;
		case OPT_JSON: s->json = true; break;
		default: cli_common(option, &s->output, &s->level, &s->threads);
		}
}

int
main(int argc, char **argv)
{
	struct settings settings = { .output = "-",
		.level = -1,
		.whitening = { .least = 1e-12 },
		.shape = { .steps = 6, .hidden = 512 },
		.training = { .epochs = 10, .batch = 16, .rate = 1e-4, .seed = 42 } };

	cli_start(&cli, argc, argv);
	settings.against = mem_new((size_t)argc, sizeof *settings.against);
	settings.fields = mem_new((size_t)argc, sizeof *settings.fields);
	settings.labels = mem_new((size_t)argc, sizeof *settings.labels);
	settings.columns.fields = settings.fields;
	parse(&settings, argc, argv);
	const struct cli_command *command = cli_find(&cli, argc, argv);
	nn_start(settings.threads, argv);
	bool table = command->run != whiten && command->run != flow;
	struct output *output = table ? output_print(settings.output) : NULL;
	int status = command->run(&settings, argv + optind + 1, argc - optind - 1);
	if (output)
		output_finish(output);
	free(settings.against);
	free(settings.fields);
	free(settings.labels);
	return status;
}
