/* upcycle - give a dense model task experts, or average them away; token experts; a LoRA adapter in its weights; means;
 * static embeddings. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/lock.h"
#include "folder/folder.h"
#include "folder/model_folder.h"
#include "edit/distil.h"
#include "model/experts.h"
#include "edit/mean.h"
#include "edit/merge.h"
#include "edit/upcycle.h"
#include "edit/upcycle_tokens.h"
#include "model/model.h"
#include "nn/nn.h"
#include "text/tree.h"

enum {
	OPT_EXPERTS = CLI_LONG,
	OPT_EVERY,
	OPT_LAYERS,
	OPT_NO_NORMS,
	OPT_TASK,
	OPT_PROMPT,
	OPT_TOKEN_EXPERTS,
	OPT_TOP,
	OPT_NO_RENORMALIZE,
	OPT_AVERAGE,
	OPT_MEAN,
	OPT_MERGE,
	OPT_STATIC,
	OPT_DIM
};

enum { MEAN = 64 }; /* models of which a mean is made, at most */

static const struct cli_option options[] = { CLI_MODEL,
	{ 'o', "output", "DIR", "model folder to write (needed)" },
	{ OPT_EXPERTS, "experts", "A,B,...", "names of the task experts" },
	{ OPT_EVERY, "every", "N",
	    "experts in every Nth block; 2: blocks 1, 3, 5, ... (default: 1)" },
	{ OPT_LAYERS, "layers", "LIST",
	    "experts in these blocks, counted from 0: all, odd, even,\n"
	    "or numbers joined by ','" },
	{ OPT_NO_NORMS, "no-expert-norms", NULL,
	    "experts share the norms of their block" },
	{ OPT_TASK, "task", "NAME=EXPERT",
	    "a task that this expert serves, beside that of its own name;\n"
	    "'*': for each text the one that its hash falls on; repeatable;\n"
	    "without --experts, of a model that has experts" },
	{ OPT_PROMPT, "prompt", "NAME=TEXT",
	    "what goes before the texts of an expert or a task; repeatable" },
	{ OPT_TOKEN_EXPERTS, "token-experts", "N",
	    "instead, N experts among which a router chooses for each token" },
	{ OPT_TOP, "token-top", "K",
	    "experts that a token takes (default: 2, of one expert 1)" },
	{ OPT_NO_RENORMALIZE, "no-renormalize", NULL,
	    "weights of a token's experts are as the router gives them" },
	{ 's', "seed", "N", "of the routers' random weights (default: 0)" },
	{ OPT_AVERAGE, "average", NULL,
	    "the reverse: a dense model of the experts' means" },
	{ OPT_MEAN, "mean", "DIR", "the mean of MODEL's weights and DIR's; repeatable" },
	{ OPT_MERGE, "merge-lora", "DIR",
	    "the model with this LoRA adapter in its weights" },
	{ OPT_STATIC, "static", NULL,
	    "a table of static embeddings: each token by itself, as the model\nembeds it" },
	{ OPT_DIM, "dim", "K", "of a table, values of a row at most (default: 256)" },
	{ 0 } };

static const struct cli cli = { "upcycle", "give a dense model task experts",
	"[-m MODEL] --experts A,B,... -o DIR [OPTION]...\n"
	"       upcycle --task NAME=EXPERT [-m MODEL] -o DIR\n"
	"       upcycle [-m MODEL] --token-experts N -o DIR [OPTION]...\n"
	"       upcycle --average [-m MODEL] -o DIR\n"
	"       upcycle --mean DIR... [-m MODEL] -o DIR\n"
	"       upcycle --merge-lora DIR [-m MODEL] -o DIR\n"
	"       upcycle --static [-m MODEL] -o DIR [--dim K]",
	options,
	"  upcycle -m nomic-bert-2048 --experts classification,clustering,search_query -o mote\n"
	"  upcycle -m mote --task STS=classification -o mote\n"
	"  upcycle -m nomic-bert-2048 --token-experts 8 --token-top 2 --every 2 -o moe\n",
	NULL, NULL, NULL };

struct settings {
	char *from;
	const char *to;
	const char *names[SPEC_EXPERTS];
	struct tree *tasks, *prompts; /* NULL: none */
	int count;
	int64_t every;
	const char *layers, *lora;
	bool no_norms, average;
	const char *others[MEAN]; /* to make a mean with; others[0] is `from` */
	int mean, dim;
	bool table;
	struct upcycle_tokens tokens; /* .count 0: task experts */
};

static void
parse_names(struct settings *s, char *list)
{
	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		if (s->count == SPEC_EXPERTS)
			die_usage("--experts: more than %d", SPEC_EXPERTS);
		if (!experts_name_valid(name))
			die_usage(
			    "--experts: '%s' is no name; up to 63 letters, digits, '_' and '-' make one",
			    name);
		for (int i = 0; i < s->count; i++)
			if (!strcmp(s->names[i], name))
				die_usage("--experts: '%s' comes twice", name);
		s->names[s->count++] = name;
	}
}

/* NAME=VALUE to a member of the object, which is made if need be. */
static void
add_member(struct tree **object, const char *option, const char *meant, char *argument)
{
	char *value = strchr(argument, '=');

	if (!value)
		die_usage("%s: '%s' is not NAME=%s", option, argument, meant);
	*value++ = 0;
	if (!experts_task_valid(argument))
		die_usage(
		    "%s: '%s' is no name; letters, digits, '_', '-' and '.' make one",
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

/* What the new experts serve and are asked with. */
static void
check_experts(const struct settings *s)
{
	cli_only(&cli, "--experts",
	    "experts no-expert-norms task prompt model output every layers");
	for (size_t i = 0; s->tasks && i < s->tasks->count; i++) {
		const struct tree *task = s->tasks->items[i];
		if (strcmp(task->string, EXPERTS_ANY) && !is_expert(s, task->string))
			die_usage("--task: '%s=%s' is of no expert that --experts names",
			    task->key, task->string);
	}
	for (size_t i = 0; s->prompts && i < s->prompts->count; i++) {
		const char *name = s->prompts->items[i]->key;
		if (!is_expert(s, name) && !tree_get(s->tasks, name))
			die_usage(
			    "--prompt: '%s' is no expert's name and no task's", name);
	}
}

static void
check(const struct settings *s)
{
	if (!s->to)
		die_usage("-o DIR is missing: the model folder to write");
	if (s->average)
		cli_only(&cli, "--average", "average model output");
	else if (s->mean)
		cli_only(&cli, "--mean", "mean model output");
	else if (s->table)
		cli_only(&cli, "--static", "static dim model output");
	else if (s->lora)
		cli_only(&cli, "--merge-lora", "merge-lora model output");
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

	while ((opt = cli_next(&cli, argc, argv)) != -1)
		switch (opt) {
		case 'm': s.from = optarg; break;
		case 'o': s.to = optarg; break;
		case OPT_EXPERTS: parse_names(&s, optarg); break;
		case OPT_EVERY: s.every = cli_integer("--every", 1, SPEC_LAYERS); break;
		case OPT_LAYERS: s.layers = optarg; break;
		case OPT_NO_NORMS: s.no_norms = true; break;
		case OPT_AVERAGE: s.average = true; break;
		case OPT_MEAN:
			if (++s.mean == MEAN)
				die_usage("--mean: more than %d", MEAN - 1);
			s.others[s.mean] = optarg;
			break;
		case OPT_MERGE: s.lora = optarg; break;
		case OPT_STATIC: s.table = true; break;
		case OPT_DIM: s.dim = (int)cli_integer("--dim", 1, 1 << 16); break;
		case OPT_TASK: add_member(&s.tasks, "--task", "EXPERT", optarg); break;
		case OPT_TOKEN_EXPERTS:
			s.tokens.count =
			    (int)cli_integer("--token-experts", 1, SPEC_TOKEN_EXPERTS);
			break;
		case OPT_TOP:
			s.tokens.top =
			    (int)cli_integer("--token-top", 1, SPEC_TOKEN_EXPERTS);
			break;
		case OPT_NO_RENORMALIZE: s.tokens.renormalize = false; break;
		case 's':
			s.tokens.seed = (uint64_t)cli_integer("--seed", 0, INT64_MAX);
			break;
		case OPT_PROMPT:
			add_member(&s.prompts, "--prompt", "TEXT", optarg);
			break;
		}
	if (optind < argc)
		die_usage(
		    "'%s' is not expected; folders are given by -m and -o", argv[optind]);
	check(&s);
	if (!s.tokens.top)
		s.tokens.top = s.tokens.count > 1 ? 2 : 1;
	s.from = model_folder(s.from);
	return s;
}

/* Which blocks get experts. */
static void
choose_layers(const struct settings *s, int blocks, bool *chosen)
{
	bool odd = s->layers && !strcmp(s->layers, "odd");
	bool even = s->layers && !strcmp(s->layers, "even");
	const char *at = s->layers;

	if (!at || odd || even || !strcmp(at, "all")) {
		for (int i = 0; i < blocks; i++)
			chosen[i] = odd	   ? i % 2 == 1
				    : even ? i % 2 == 0
					   : (i + 1) % s->every == 0;
		return;
	}
	for (;; at++) {
		char *end;
		long layer = strtol(at, &end, 10);
		if (end == at || (*end && *end != ',') || layer < 0 || layer >= blocks)
			die_usage(
			    "--layers: '%s' is not all, odd, even, or numbers in 0..%d",
			    s->layers, blocks - 1);
		chosen[layer] = true;
		at = end;
		if (!*at)
			return;
	}
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
	} else if (s.mean) {
		s.others[0] = s.from;
		model_mean(s.others, s.mean + 1, s.to);
	} else if (s.table) {
		distil(s.from, s.to, s.dim);
	} else if (s.lora) {
		model_merge(s.from, s.to, s.lora);
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
	return 0;
}
