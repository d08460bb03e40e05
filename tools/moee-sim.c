/*
 * moee-sim - combine hidden states and routing weights
 *
 * reads	X.hs		f32 [width]	hidden states of 'encode --emit hs,rw', for each field X
 *		X.rw		f32 [width]	routing weights
 * writes	X.emb		f32 [width]	both in one
 *		similarity	f64		of two fields with one text a row
 *		X.hs.emb, X.rw.emb	instead, with --combine apart
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "papers/moee/moee.h"

enum { OPT_ALPHA = CLI_LONG, OPT_NORM };

struct settings {
	struct moee_options moee;
};

static const struct cli_option options[] = {
	{ 0, "combine", "sum|concat|hs|rw|apart",
	    "sum of similarities (default), concatenation, one of the two, or both apart, as X.hs.emb and X.rw.emb",
	    CLI_WORD(moee.combine, COMBINE_SUM) },
	{ OPT_ALPHA, "alpha", "VALUE|auto|auto=grid",
	    "sum: weight of routing weights (default: 1); auto: found without labels; auto=grid: of 0.1, 0.2, ... 1",
	    CLI_CUSTOM },
	{ OPT_NORM, "norm", "none|batch=B|corpus|corpus=FILE",
	    "standardise each dimension over B texts of a field, the stream, or the texts of FILE (default: none)",
	    CLI_CUSTOM },
	{ 0, "keep", NULL, "keep the columns X.hs and X.rw", CLI_FLAG(moee.keep) },
	CLI_LEVEL(moee.level), CLI_OUTPUT(moee.output), { 0 }
};

static const struct cli cli = { "moee-sim", "combine hidden states and routing weights",
	"[OPTION]... [FILE]", options,
	"  tok -m MODEL -f sentence1 -f sentence2 pairs.jsonl |\n"
	"      encode -m MODEL --emit hs,rw |\n"
	"      moee-sim --combine sum --alpha auto | mteb-score sts\n",
	NULL, NULL, ".mts" };

/* VALUE, auto or auto=grid. */
static void
take_alpha(struct moee_options *settings)
{
	settings->search = ALPHA_VALUE;
	if (!strcmp(optarg, "auto"))
		settings->search = ALPHA_EXACT;
	else if (!strcmp(optarg, "auto=grid"))
		settings->search = ALPHA_GRID;
	else if (!number_read(optarg, strlen(optarg), &settings->alpha) ||
		 settings->alpha < 0 || settings->alpha > 1e12)
		die_usage(
		    "--alpha: '%s' is neither auto, auto=grid nor a number from 0 to 1e12",
		    optarg);
}

/* none, batch=B, corpus or corpus=FILE. */
static void
take_norm(struct moee_options *settings)
{
	static const char batch[] = "batch=", corpus[] = "corpus=";

	settings->norm = NORM_NONE;
	settings->batch = 0;
	settings->like = NULL;
	if (!strncmp(optarg, batch, sizeof batch - 1)) {
		settings->norm = NORM_BATCH;
		optarg += sizeof batch - 1;
		settings->batch = cli_integer("--norm batch", 1, 1 << 30);
	} else if (!strncmp(optarg, corpus, sizeof corpus - 1)) {
		settings->norm = NORM_CORPUS;
		settings->like = optarg + sizeof corpus - 1;
	} else if (!strcmp(optarg, "corpus")) {
		settings->norm = NORM_CORPUS;
	} else if (strcmp(optarg, "none") != 0) {
		die_usage(
		    "--norm: '%s' is not one of none, batch=B, corpus and corpus=FILE",
		    optarg);
	}
}

static void
check(const struct moee_options *settings)
{
	if (settings->combine != COMBINE_SUM) {
		char *mode = mem_format("--combine %s", combine_names[settings->combine]);
		cli_only(&cli, mode, "combine norm keep level output");
		free(mode);
	}
	if (settings->combine == COMBINE_HS && settings->norm == NORM_BATCH)
		die_usage(
		    "--norm batch does not apply to --combine hs: MoEE's code does not standardise hidden states alone");
}

int
main(int argc, char **argv)
{
	struct settings settings = { { .alpha = 1, .output = "-", .level = -1 } };
	struct moee_options *moee = &settings.moee;
	int option;

	cli_start(&cli, argc, argv);
	while ((option = cli_next(&cli, argc, argv, &settings)) != -1)
		if (option == OPT_ALPHA)
			take_alpha(moee);
		else
			take_norm(moee);
	check(moee);
	moee_stream(cli_input(argc, argv), moee);
	return 0;
}
