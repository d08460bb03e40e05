/* upcycle - give a dense model task experts, or average them away. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "folder/model_folder.h"
#include "model/experts.h"
#include "model/model.h"

enum { OPT_EVERY = CLI_LONG, OPT_LAYERS, OPT_NO_NORMS, OPT_PROMPT, OPT_AVERAGE };

static const struct cli_option options[] = {
	{ 'm', "model", "MODEL",
	    "model folder to start from, or its name on the Hugging Face\nHub (default: "
	    "$MOTES_MODEL)" },
	{ 'o', "output", "DIR", "model folder to write (needed)" },
	{ 'e', "experts", "A,B,...", "names of the task experts" },
	{ OPT_EVERY, "every", "N",
	    "experts in every Nth block; 2: blocks 1, 3, 5, ... (1)" },
	{ OPT_LAYERS, "layers", "LIST",
	    "experts in these blocks, counted from 0: all, odd, even,\n"
	    "or numbers joined by ','" },
	{ OPT_NO_NORMS, "no-expert-norms", NULL,
	    "experts share the norms of their block" },
	{ OPT_PROMPT, "prompt", "NAME=TEXT",
	    "what goes before the texts of an expert (\"NAME: \")" },
	{ OPT_AVERAGE, "average", NULL,
	    "the reverse: a dense model of the experts' means" },
	{ 0 }
};

static const struct cli cli = { "upcycle", "give a dense model task experts",
	"[-m MODEL] --experts A,B,... -o DIR [OPTION]...\n       upcycle --average [-m "
	"MODEL] -o "
	"DIR",
	options,
	"  upcycle -m nomic-bert-2048 --experts classification,clustering,search_query "
	"-o mote\n",
	NULL, NULL, NULL };

struct settings {
	char *from;
	const char *to;
	const char *names[SPEC_EXPERTS];
	char *prompts[SPEC_EXPERTS];
	const char *prompt_options[SPEC_EXPERTS];
	int count, prompt_count;
	int64_t every;
	const char *layers;
	bool no_norms, average;
};

static void
parse_names(struct settings *s, char *list)
{
	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		if (s->count == SPEC_EXPERTS)
			die_usage("--experts: more than %d", SPEC_EXPERTS);
		if (!experts_name_valid(name))
			die_usage("--experts: '%s' is no name; letters, digits, '_' and "
				  "'-' make one",
			    name);
		for (int i = 0; i < s->count; i++)
			if (!strcmp(s->names[i], name))
				die_usage("--experts: '%s' comes twice", name);
		s->names[s->count++] = name;
	}
}

static void
check(const struct settings *s)
{
	if (!s->to)
		die_usage("-o DIR is missing: the model folder to write");
	if (s->average)
		cli_only(&cli, "--average", "average model output");
	if (!s->average && !s->count)
		die_usage("no expert is named; use --experts A,B");
	if (s->layers && s->every != 1)
		die_usage("--layers and --every exclude each other");
}

static struct settings
parse(int argc, char **argv)
{
	struct settings s = { .every = 1 };
	int opt;

	while ((opt = cli_next(&cli, argc, argv)) != -1)
		switch (opt) {
		case 'm': s.from = optarg; break;
		case 'o': s.to = optarg; break;
		case 'e': parse_names(&s, optarg); break;
		case OPT_EVERY: s.every = cli_integer("--every", 1, SPEC_LAYERS); break;
		case OPT_LAYERS: s.layers = optarg; break;
		case OPT_NO_NORMS: s.no_norms = true; break;
		case OPT_AVERAGE: s.average = true; break;
		case OPT_PROMPT:
			if (s.prompt_count == SPEC_EXPERTS || !strchr(optarg, '='))
				die_usage("--prompt: '%s' is not NAME=TEXT", optarg);
			s.prompt_options[s.prompt_count++] = optarg;
			break;
		}
	if (optind < argc)
		die_usage(
		    "'%s' is not expected; folders are given by -m and -o", argv[optind]);
	check(&s);
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

static void
choose_prompts(struct settings *s)
{
	for (int i = 0; i < s->count; i++)
		s->prompts[i] = mem_format("%s: ", s->names[i]);
	for (int p = 0; p < s->prompt_count; p++) {
		const char *option = s->prompt_options[p];
		size_t length = strcspn(option, "=");
		int i = 0;
		while (i < s->count && (strlen(s->names[i]) != length ||
					   strncmp(s->names[i], option, length)))
			i++;
		if (i == s->count)
			die_usage("--prompt: '%s' begins with no expert's name", option);
		free(s->prompts[i]);
		s->prompts[i] = mem_string(option + length + 1);
	}
}

int
main(int argc, char **argv)
{
	bool layers[SPEC_LAYERS] = { false };

	cli_start(&cli, argc, argv);
	struct settings s = parse(argc, argv);
	if (s.average) {
		model_average(s.from, s.to);
		free(s.from);
		return 0;
	}
	choose_layers(&s, model_layers(s.from), layers);
	choose_prompts(&s);
	model_upcycle(s.from, s.to,
	    &(struct upcycle){ .names = s.names,
		.prompts = (const char *const *)s.prompts,
		.count = s.count,
		.layers = layers,
		.norms = !s.no_norms });
	for (int i = 0; i < s.count; i++)
		free(s.prompts[i]);
	free(s.from);
	return 0;
}
