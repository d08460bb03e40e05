/*
 * upcycle - give a dense model task experts
 *
 * Also: token experts, the mean of experts or of models, a LoRA adapter merged, fewer or more blocks, a table of static
 * embeddings.
 * reads and writes model folders
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/lock.h"
#include "folder/folder.h"
#include "folder/model_folder.h"
#include "edit/blocks.h"
#include "edit/distil.h"
#include "edit/group_neurons.h"
#include "model/experts.h"
#include "edit/mean.h"
#include "edit/merge.h"
#include "edit/upcycle.h"
#include "edit/upcycle_tokens.h"
#include "model/model.h"
#include "nn/nn.h"
#include "text/tree.h"

enum { OPT_EXPERTS = CLI_LONG, OPT_TASK, OPT_PROMPT };

enum { MEAN = 64 }; /* the most models of a mean */

struct settings {
	char *from;
	const char *to;
	const char *names[SPEC_EXPERTS];
	struct tree *tasks, *prompts; /* NULL: none */
	int count, dim, neurons;
	int64_t every;
	const char *layers, *lora, *stack;
	bool no_norms, average, table;
	struct cli_list mean;	      /* the other models of a mean */
	struct upcycle_tokens tokens; /* .count 0: task experts */
};

static const struct cli_option options[] = { CLI_MODEL(from),
	{ 'o', "output", "DIR", "model folder to write (required)", CLI_TEXT(to) },
	{ OPT_EXPERTS, "experts", "A,B,...", "names of the task experts", CLI_CUSTOM },
	{ 0, "every", "N",
	    "experts in every Nth block; 2: blocks 1, 3, 5, ... (default: 1)",
	    CLI_INTEGER(every, 1, SPEC_LAYERS) },
	{ 0, "layers", "LIST",
	    "experts in these blocks, from 0: all, odd, even, or numbers joined by ','",
	    CLI_TEXT(layers) },
	{ 0, "no-expert-norms", NULL, "experts share the norms of their block",
	    CLI_FLAG(no_norms) },
	{ OPT_TASK, "task", "NAME=EXPERT",
	    "map the task NAME to EXPERT, '*': to one by the hash of each text; repeatable; without --experts for a model that has experts",
	    CLI_CUSTOM },
	{ OPT_PROMPT, "prompt", "NAME=TEXT", "prompt of an expert or a task; repeatable",
	    CLI_CUSTOM },
	{ 0, "token-experts", "N", "N token experts with a router instead",
	    CLI_INTEGER(tokens.count, 1, SPEC_TOKEN_EXPERTS) },
	{ 0, "token-top", "K", "experts of a token (default: 2, or 1 of one)",
	    CLI_INTEGER(tokens.top, 1, SPEC_TOKEN_EXPERTS) },
	{ 0, "no-renormalize", NULL, "weigh experts by their router probabilities",
	    CLI_SET(tokens.renormalize, false) },
	{ 0, "neuron-experts", "N",
	    "group the neurons of each MLP by similarity, for encode --emit rw",
	    CLI_INTEGER(neurons, 1, SPEC_TOKEN_EXPERTS) },
	{ 's', "seed", "N", "seed of routers or groups (default: 0)",
	    CLI_INTEGER(tokens.seed, 0, INT64_MAX) },
	{ 0, "average", NULL, "the reverse: a dense model, the mean of the experts",
	    CLI_FLAG(average) },
	{ 0, "mean", "DIR", "average MODEL's weights with DIR's; repeatable",
	    CLI_LIST(mean) },
	{ 0, "merge-lora", "DIR", "merge this LoRA adapter into the weights",
	    CLI_TEXT(lora) },
	{ 0, "stack", "LIST",
	    "stack these blocks, from 0, in this order: numbers joined by ','; one that comes again adds nothing until it is trained",
	    CLI_TEXT(stack) },
	{ 0, "static", NULL, "distil a table of static embeddings (model2vec)",
	    CLI_FLAG(table) },
	{ 0, "dim", "K", "--static: width of the table (default: 256)",
	    CLI_INTEGER(dim, 1, 1 << 16) },
	{ 0 } };

static const struct cli cli = { "upcycle", "give a dense model task experts",
	"[-m MODEL] --experts A,B,... -o DIR [OPTION]...\n"
	"       upcycle --task NAME=EXPERT [-m MODEL] -o DIR\n"
	"       upcycle [-m MODEL] --token-experts N -o DIR [OPTION]...\n"
	"       upcycle [-m MODEL] --neuron-experts N -o DIR [-s SEED]\n"
	"       upcycle --average [-m MODEL] -o DIR\n"
	"       upcycle --mean DIR... [-m MODEL] -o DIR\n"
	"       upcycle --merge-lora DIR [-m MODEL] -o DIR\n"
	"       upcycle --stack LIST [-m MODEL] -o DIR\n"
	"       upcycle --static [-m MODEL] -o DIR [--dim K]",
	options,
	"  upcycle -m nomic-bert-2048 --experts classification,clustering -o mote\n"
	"  upcycle -m mote --task STS=classification -o mote\n"
	"  upcycle -m nomic-bert-2048 --token-experts 8 --token-top 2 --every 2 -o moe\n",
	NULL, NULL, NULL };

static void
parse_names(struct settings *s, char *list)
{
	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		if (s->count == SPEC_EXPERTS)
			die_usage("--experts: more than %d", SPEC_EXPERTS);
		if (!experts_name_valid(name))
			die_usage(
			    "--experts: '%s' is not a name; a name is up to 63 letters, digits, '_' and '-'",
			    name);
		for (int i = 0; i < s->count; i++)
			if (!strcmp(s->names[i], name))
				die_usage("--experts: '%s' comes twice", name);
		s->names[s->count++] = name;
	}
}

/* Adds NAME=VALUE to the object, which is created if it is NULL. */
static void
add_member(struct tree **object, const char *option, const char *meant, char *argument)
{
	char *value = strchr(argument, '=');

	if (!value)
		die_usage("%s: '%s' is not NAME=%s", option, argument, meant);
	*value++ = 0;
	if (!experts_task_valid(argument))
		die_usage(
		    "%s: '%s' is not a name; a name is letters, digits, '_', '-' and '.'",
		    option, argument);
	if (!*object)
		*object = tree_object();
	if (tree_get(*object, argument))
		die_usage("%s: '%s' comes twice", option, argument);
	tree_set(*object, argument, tree_of_string(value));
}

static bool
is_expert(const struct settings *s, const char *name)
{
	int i = 0;

	while (i < s->count && strcmp(s->names[i], name))
		i++;
	return i < s->count;
}

/* Dies on tasks or prompts of unknown experts. */
static void
check_experts(const struct settings *s)
{
	cli_only(&cli, "--experts",
	    "experts no-expert-norms task prompt model output every layers");
	for (size_t i = 0; s->tasks && i < s->tasks->count; i++) {
		const struct tree *task = s->tasks->items[i];
		if (strcmp(task->string, EXPERTS_ANY) && !is_expert(s, task->string))
			die_usage("--task: '%s=%s': --experts names no such expert",
			    task->key, task->string);
	}
	for (size_t i = 0; s->prompts && i < s->prompts->count; i++) {
		const char *name = s->prompts->items[i]->key;
		if (!is_expert(s, name) && !tree_get(s->tasks, name))
			die_usage("--prompt: '%s' is neither an expert nor a task", name);
	}
}

static void
check(const struct settings *s)
{
	if (!s->to)
		die_usage("-o DIR is missing: the model folder to write");
	if (s->average)
		cli_only(&cli, "--average", "average model output");
	else if (s->mean.count)
		cli_only(&cli, "--mean", "mean model output");
	else if (s->table)
		cli_only(&cli, "--static", "static dim model output");
	else if (s->lora)
		cli_only(&cli, "--merge-lora", "merge-lora model output");
	else if (s->stack)
		cli_only(&cli, "--stack", "stack model output");
	else if (s->neurons)
		cli_only(&cli, "--neuron-experts", "neuron-experts seed model output");
	else if (s->tokens.count)
		cli_only(&cli, "--token-experts",
		    "token-experts token-top no-renormalize seed model output every layers");
	else if (!s->count && (s->tasks || s->prompts))
		cli_only(&cli, "--task without --experts", "model output task prompt");
	else if (!s->count)
		die_usage("no expert is named; use --experts A,B (or --token-experts N)");
	else
		check_experts(s);
	if (s->tokens.top > s->tokens.count)
		die_usage("--token-top: a token cannot have %d of %d experts",
		    s->tokens.top, s->tokens.count);
	if (s->layers && s->every != 1)
		die_usage("--layers and --every exclude each other");
}

static struct settings
parse(int argc, char **argv)
{
	struct settings s = { .every = 1, .dim = 256, .tokens.renormalize = true };
	int opt;

	while ((opt = cli_next(&cli, argc, argv, &s)) != -1)
		switch (opt) {
		case OPT_EXPERTS: parse_names(&s, optarg); break;
		case OPT_TASK: add_member(&s.tasks, "--task", "EXPERT", optarg); break;
		case OPT_PROMPT:
			add_member(&s.prompts, "--prompt", "TEXT", optarg);
			break;
		}
	if (s.mean.count >= MEAN)
		die_usage("--mean: more than %d", MEAN - 1);
	if (optind < argc)
		die_usage(
		    "'%s' is not expected; folders are given by -m and -o", argv[optind]);
	check(&s);
	if (!s.tokens.top)
		s.tokens.top = s.tokens.count > 1 ? 2 : 1;
	s.from = model_folder(s.from);
	return s;
}

/* Sets numbers[SPEC_LAYERS], those of the list; returns how many there are.  words: what else the option takes. */
static int
parse_blocks(
    const char *option, const char *words, const char *list, int blocks, int *numbers)
{
	const char *at = list;

	for (int count = 0;; at++) {
		char *end;
		long block = strtol(at, &end, 10);
		if (end == at || (*end && *end != ',') || block < 0 || block >= blocks)
			die_usage("%s: '%s' is not %snumbers in 0..%d", option, list,
			    words, blocks - 1);
		if (count == SPEC_LAYERS)
			die_usage("%s: more than %d blocks", option, SPEC_LAYERS);
		numbers[count++] = (int)block;
		at = end;
		if (!*at)
			return count;
	}
}

/* chosen[blocks]: whether a block gets experts. */
static void
choose_layers(const struct settings *s, int blocks, bool *chosen)
{
	bool odd = s->layers && !strcmp(s->layers, "odd");
	bool even = s->layers && !strcmp(s->layers, "even");
	bool listed = s->layers && !odd && !even && strcmp(s->layers, "all");
	int numbers[SPEC_LAYERS];

	for (int i = 0; !listed && i < blocks; i++)
		chosen[i] = odd	   ? i % 2 == 1
			    : even ? i % 2 == 0
				   : (i + 1) % s->every == 0;
	if (!listed)
		return;
	int count =
	    parse_blocks("--layers", "all, odd, even, or ", s->layers, blocks, numbers);
	for (int i = 0; i < count; i++)
		chosen[numbers[i]] = true;
}

static void
stack_blocks(const struct settings *s)
{
	int numbers[SPEC_LAYERS], blocks = model_layers(s->from);
	int count = parse_blocks("--stack", "", s->stack, blocks, numbers);

	model_stack_blocks(s->from, s->to, numbers, count);
}

int
main(int argc, char **argv)
{
	bool layers[SPEC_LAYERS] = { false };

	nn_start(0, argv);
	cli_start(&cli, argc, argv);
	struct settings s = parse(argc, argv);
	folder_check(s.to);
	struct lock *lock = lock_take(s.to);
	struct upcycle how = { .names = s.names,
		.count = s.count,
		.layers = layers,
		.norms = !s.no_norms,
		.tasks = s.tasks,
		.prompts = s.prompts };
	if (s.average) {
		model_average(s.from, s.to);
	} else if (s.mean.count) {
		const char *models[MEAN] = { s.from };
		memcpy(models + 1, s.mean.items, (size_t)s.mean.count * sizeof *models);
		model_mean(models, s.mean.count + 1, s.to);
	} else if (s.table) {
		distil(s.from, s.to, s.dim);
	} else if (s.lora) {
		model_merge(s.from, s.to, s.lora);
	} else if (s.stack) {
		stack_blocks(&s);
	} else if (s.neurons) {
		model_group_neurons(s.from, s.to, s.neurons, s.tokens.seed);
	} else if (s.tokens.count) {
		choose_layers(&s, model_layers(s.from), layers);
		s.tokens.layers = layers;
		model_upcycle_tokens(s.from, s.to, &s.tokens);
	} else if (!s.count) {
		model_assign(s.from, s.to, &how);
	} else {
		choose_layers(&s, model_layers(s.from), layers);
		model_upcycle(s.from, s.to, &how);
	}
	lock_end(lock);
	tree_free(s.tasks);
	tree_free(s.prompts);
	free(s.from);
	free(s.mean.items);
	return 0;
}
