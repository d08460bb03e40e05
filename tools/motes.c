/*
 * motes - list and start the programs and the pipelines of the suite
 *
 *	motes PROGRAM ...	runs the program of that name beside this one
 *	motes PIPELINE ...	runs make on the installed pipelines, in the current folder
 *	motes get NAME		prints the script that fetches a model, or runs it
 *	motes tune TABLE	trains an adapter on a table of texts and scores it
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "folder/share.h"
#include "folder/hub.h"
#include "folder/model_folder.h"

enum { OPT_LR = CLI_LONG };

struct settings {
	bool run, whole;
	int precision; /* its place in the option's words */
	const char *output, *model, *query, *document, *score, *label, *lr, *query_prompt,
	    *document_prompt;
	int64_t epochs, batch, seed, mine; /* epochs 0: not given */
};

static const struct cli_option options[] = {
	{ 0, "fetch", NULL, "get: run the script, which needs curl and the network",
	    CLI_FLAG(run) },
	CLI_MODEL(model),
	{ 'o', "output", "DIR",
	    "get: folder to write (default: in the local cache)\ntune: folder to write (required)",
	    CLI_TEXT(output) },
	{ 0, "query", "NAME",
	    "tune: column of queries, or of texts (default: found by its name)",
	    CLI_TEXT(query) },
	{ 0, "document", "NAME", "tune: column of documents (default: found by its name)",
	    CLI_TEXT(document) },
	{ 0, "query-prompt", "TEXT",
	    "tune: put TEXT before each query (default: the model's prompt 'query')",
	    CLI_TEXT(query_prompt) },
	{ 0, "document-prompt", "TEXT",
	    "tune: put TEXT before each document (default: the model's 'document' or 'passage')",
	    CLI_TEXT(document_prompt) },
	{ 0, "score", "NAME", "tune: column of the pairs' scores (default: score)",
	    CLI_TEXT(score) },
	{ 0, "label", "NAME",
	    "tune: column of labels, of texts or of pairs (default: label)",
	    CLI_TEXT(label) },
	{ 0, "whole", NULL, "tune: train all weights, not an adapter", CLI_FLAG(whole) },
	{ OPT_LR, "lr", "X,...",
	    "tune: peak learning rate; of several the best on held-out rows (default: 1e-3; --whole: 2e-5)",
	    CLI_CUSTOM },
	{ 0, "epochs", "N",
	    "tune: passes over the pairs (default: for 200 steps, 20 at most)",
	    CLI_INTEGER(epochs, 1, 1 << 20) },
	{ 'b', "batch", "N", "tune: pairs of a batch (default: 32)",
	    CLI_INTEGER(batch, 2, 1 << 20) },
	{ 0, "mine", "N", "tune: find N hard negatives for each pair (default: 0; try 1)",
	    CLI_INTEGER(mine, 0, 100) },
	{ 0, "precision", "f32|bf16",
	    "tune: precision of training's linear layers (default: f32)",
	    CLI_WORD(precision, 0) },
	{ 's', "seed", "N", "tune: seed (default: 0)", CLI_INTEGER(seed, 0, INT64_MAX) },
	{ 0 }
};

static int run_program(void *settings, char **operands, int count);
static int run_pipeline(void *settings, char **operands, int count);
static int get(void *settings, char **operands, int count);
static int tune(void *settings, char **operands, int count);

/* `run` tells programs from pipelines. */
static const struct cli_command words[] = { { "tok", "turn text into token ids", "", 0,
						-1, run_program },
	{ "encode", "turn tokens into embeddings", "", 0, -1, run_program },
	{ "near", "find the nearest neighbours of one stream in another", "", 0, -1,
	    run_program },
	{ "rerank", "score pairs of texts with a cross-encoder", "", 0, -1, run_program },
	{ "classify", "predict the labels of embeddings from labelled ones", "", 0, -1,
	    run_program },
	{ "group", "cluster texts by their embeddings", "", 0, -1, run_program },
	{ "topics", "name clusters of texts by their words", "", 0, -1, run_program },
	{ "tasksample", "draw training batches from a mix of tasks", "", 0, -1,
	    run_program },
	{ "upcycle", "give a dense model task experts", "", 0, -1, run_program },
	{ "reze-stats", "measure data-set bias in pairs and remove it from targets", "",
	    0, -1, run_program },
	{ "train", "train a model on batches of tokens", "", 0, -1, run_program },
	{ "pilot-build", "fit the pilots that route queries to adapters", "", 0, -1,
	    run_program },
	{ "pilot-route", "choose an adapter for each query", "", 0, -1, run_program },
	{ "moee-sim", "combine hidden states and routing weights", "", 0, -1,
	    run_program },
	{ "mteb-score", "score embeddings as MTEB does", "", 0, -1, run_program },
	{ "leaderboard", "list data sets, tabulate and compare scores", "", 0, -1,
	    run_program },
	{ "mts", "look at, cut, join, compare and convert tensor streams", "", 0, -1,
	    run_program },
	{ "geom", "measure and change the geometry of embeddings", "", 0, -1,
	    run_program },
	{ "mteb", "score a MODEL on the data sets of DATA", "", 0, -1, run_pipeline },
	{ "demo", "search, adapt and route, with scores, in five minutes", "", 0, -1,
	    run_pipeline },
	{ "descriptions", "find words by everyday descriptions of them", "", 0, -1,
	    run_pipeline },
	{ "text", "dictionaries as training pairs and held-out tests", "", 0, -1,
	    run_pipeline },
	{ "mote", "MoTE: its tables and figures", "", 0, -1, run_pipeline },
	{ "reze", "REZE: its tables and figures", "", 0, -1, run_pipeline },
	{ "routerretriever", "RouterRetriever: its tables and figures", "", 0, -1,
	    run_pipeline },
	{ "moee-model", "a mixture of experts trained on dictionaries", "", 0, -1,
	    run_pipeline },
	{ "moee", "MoEE: its tables and figures for that mixture", "", 0, -1,
	    run_pipeline },
	{ "picture", "the log of train as a picture", "", 0, -1, run_pipeline },
	{ "get", "print the script that fetches a model, or run it", "fetch output", 1, 1,
	    get },
	{ "tune", "train an adapter on a table of texts, and score it",
	    "model output query document query-prompt document-prompt score label whole lr epochs batch mine precision seed",
	    1, 1, tune },
	{ 0 } };

/* The headings of the list, by the first word of each group. */
static const struct {
	const char *first, *title;
} groups[] = {
	{ "tok", "encode and search" },
	{ "tasksample", "train" },
	{ "pilot-build", "route" },
	{ "moee-sim", "score" },
	{ "mts", "look" },
	{ "mteb", "pipelines, which write to out/ and results/ in the current folder" },
};

static struct cli cli = { "motes",
	"list and start the programs and pipelines of the suite", NULL, options,
	"  motes encode --help\n"
	"  motes mteb MODEL=~/models/all-MiniLM-L6-v2 DATA=~/data TASKS='STS12 SciFact'\n"
	"  motes mteb --help\n"
	"  motes get --fetch sentence-transformers/all-MiniLM-L6-v2\n"
	"  motes tune -m sentence-transformers/all-MiniLM-L6-v2 pairs.tsv -o tuned\n",
	NULL, words, NULL };

/* Whether the arguments after the word belong to another program. */
static bool
starts(const struct cli_command *word)
{
	return word->run == run_program || word->run == run_pipeline;
}

/* The synopsis of --help: the command lines, then the list of programs and pipelines; to be freed. */
static char *
synopsis(void)
{
	char *text = mem_string("PROGRAM [ARGUMENT]...\n"
				"       motes PIPELINE [VARIABLE=VALUE]...\n"
				"       motes get [--fetch] [-o DIR] NAME[@REVISION]\n"
				"       motes tune [-m MODEL] -o DIR [OPTION]... TABLE");

	for (const struct cli_command *word = words; starts(word); word++) {
		for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
			if (!strcmp(groups[i].first, word->name))
				text = mem_format("%s\n\n%s:", text, groups[i].title);
		text = mem_format("%s\n    %-16s %s", text, word->name, word->purpose);
	}
	return text;
}

/* Does not return.  operands[0] is the program's name; a NULL ends them. */
static int
run_program(void *settings, char **operands, int count)
{
	char *folder = share_programs();
	char *beside = mem_format("%s/%s", folder, operands[0]);
	char *behind = mem_format("%s/../libexec/motes/%s", folder, operands[0]);

	(void)settings;
	(void)count;
	execv(beside, operands);
	if (errno == ENOENT)
		execv(behind, operands);
	die("%s: it does not start, nor does %s; install motes again:", beside, behind);
}

/* Does not return.  --help shows the comment at the head of the pipeline, --completion the variables that it names,
 * --list runs the pipeline's rule NAME-list: that of mteb prints the benchmarks. */
static int
run_pipeline(void *settings, char **operands, int count)
{
	char **command = mem_zero((size_t)count + 6, sizeof *command);
	const char *first = count > 1 ? operands[1] : "";
	const char *asked = !strcmp(first, "--help") || !strcmp(first, "-h") ? "about"
			    : !strcmp(first, "--completion") ? "completion"
							     : NULL;
	bool listed = !strcmp(first, "--list");

	(void)settings;
	command[0] = mem_string("make");
	command[1] = mem_string("-f");
	command[2] = share_path("pipelines/Makefile");
	command[3] = mem_format("X=%s", share_programs());
	command[4] = asked    ? mem_format("%s-%s", asked, operands[0])
		     : listed ? mem_format("%s-list", operands[0])
			      : operands[0];
	if (listed)
		memcpy(command + 5, operands + 2, (size_t)(count - 2) * sizeof *command);
	else if (!asked)
		memcpy(command + 5, operands + 1, (size_t)(count - 1) * sizeof *command);
	execvp("make", command);
	die("make: the pipelines need it; install it:");
}

static int
get(void *context, char **operands, int count)
{
	const struct settings *settings = context;
	const char *given = operands[0], *endpoint = getenv("HF_ENDPOINT");
	size_t length = strcspn(given, "@");

	(void)count;
	if (!hub_is_name(given))
		die_usage(
		    "'%s' is not a name on the Hugging Face Hub; a name is ORG/NAME or ORG/NAME@REVISION",
		    given);
	char *whole = strchr(given, '/') ? NULL : hub_whole_name(given, length);
	char *name = whole ? whole : mem_format("%.*s", (int)length, given);
	char *script = share_script("get.sh",
	    (const char *[]){ "endpoint",
		endpoint && *endpoint ? endpoint : "https://huggingface.co", "name", name,
		"revision", given[length] ? given + length + 1 : "main", "cache",
		hub_folder(hub_cache(), name, (int)strlen(name)), "to",
		settings->output ? settings->output : "", NULL });
	if (settings->run) {
		execlp("sh", "sh", "-c", script, (char *)NULL);
		die("sh:");
	}
	if (fputs(script, stdout) == EOF || fflush(stdout))
		die("standard output:");
	return 0;
}

/* Does not return. */
static int
tune(void *context, char **operands, int count)
{
	const struct settings *s = context;

	(void)count;
	if (!s->output)
		die_usage("tune: -o DIR is missing: the folder to write");
	char *script = share_script("tune.sh",
	    (const char *[]){ "bin", share_programs(), "model", model_folder(s->model),
		"pairs", operands[0], "to", s->output, "query", s->query ? s->query : "",
		"document", s->document ? s->document : "", "prompts",
		s->query_prompt || s->document_prompt ? "given" : "", "query_prompt",
		s->query_prompt ? s->query_prompt : "", "document_prompt",
		s->document_prompt ? s->document_prompt : "", "score",
		s->score ? s->score : "", "label", s->label ? s->label : "", "whole",
		s->whole ? "1" : "", "lr", s->lr ? s->lr : "", "epochs",
		s->epochs ? mem_format("%" PRId64, s->epochs) : "", "batch",
		mem_format("%" PRId64, s->batch), "seed", mem_format("%" PRId64, s->seed),
		"mine", s->mine ? mem_format("%" PRId64, s->mine) : "", "precision",
		s->precision ? "bf16" : "", "quiet", verbosity < 0 ? "1" : "", NULL });
	execlp("bash", "bash", "-c", script, (char *)NULL);
	die("bash:");
}

/* Replaces the earlier name of a program. */
static char *
present_name(char *word)
{
	static char route[] = "pilot-route";

	if (strcmp(word, "route") != 0)
		return word;
	warn("'route' is now called pilot-route");
	return route;
}

/* Runs a program or a pipeline with its arguments; returns if the word is neither. */
static void
start(char **operands, int count)
{
	operands[0] = present_name(operands[0]);
	for (const struct cli_command *word = words; word->name; word++)
		if (!strcmp(word->name, operands[0]) && starts(word))
			word->run(NULL, operands, count);
}

int
main(int argc, char **argv)
{
	struct settings settings = { .batch = 32 };
	char help[] = "--help", *alone[] = { argv[0], help, NULL };

	cli.synopsis = synopsis();
	cli_start(&cli, argc, argv);
	if (argc > 1)
		start(argv + 1, argc - 1);
	else
		argv = alone, argc = 2;
	while (cli_next(&cli, argc, argv, &settings) != -1) {
		settings.lr = optarg;
		char *rates = mem_string(optarg);
		while ((optarg = strsep(&rates, ",")))
			cli_real("--lr", 1e-12, 10);
	}
	const struct cli_command *word = cli_find(&cli, argc, argv);
	if (starts(word))
		die_usage("the options of %s come after its name", word->name);
	return word->run(&settings, argv + optind + 1, argc - optind - 1);
}
