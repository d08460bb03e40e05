#include "papers/reze/shrinkage_settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/mem.h"

static const char *const names[SHRINKAGE_OPTIONS] = { "centre", "band", "eq6", "gamma",
	"eta", "rho", "alpha-min", "alpha-max" };
static const char *const centres[] = { "median", "mean", "zero", NULL };
static const char *const bands[] = { "mean", "median", NULL };
static const char *const equations[] = { "signed", "printed", NULL };

/* The paper's settings; it does not give the bounds of clipping. */
static const struct shrinkage_settings paper = { .gamma = 1,
	.eta = 0.7,
	.rho = 0.99,
	.least = 0,
	.most = 1,
	.centre = CENTRE_MEDIAN,
	.band = BAND_MEAN };

const char *
shrinkage_option_name(enum shrinkage_option option)
{
	return names[option];
}

/* The words of a setting; NULL: it is a number. */
static const char *const *
words_of(enum shrinkage_option option)
{
	return option == SHRINKAGE_CENTRE ? centres
	       : option == SHRINKAGE_BAND ? bands
	       : option == SHRINKAGE_EQ6  ? equations
					  : NULL;
}

/* A setting as a number; a word as its index. */
static double
get(const struct shrinkage_settings *settings, enum shrinkage_option option)
{
	switch (option) {
	case SHRINKAGE_CENTRE: return (double)settings->centre;
	case SHRINKAGE_BAND: return (double)settings->band;
	case SHRINKAGE_EQ6: return settings->printed;
	case SHRINKAGE_GAMMA: return settings->gamma;
	case SHRINKAGE_ETA: return settings->eta;
	case SHRINKAGE_RHO: return settings->rho;
	case SHRINKAGE_LEAST: return settings->least;
	default: return settings->most;
	}
}

static void
set(struct shrinkage_settings *settings, enum shrinkage_option option, double value)
{
	switch (option) {
	case SHRINKAGE_CENTRE:
		settings->centre = (enum shrinkage_centre)(int)value;
		break;
	case SHRINKAGE_BAND: settings->band = (enum shrinkage_band)(int)value; break;
	case SHRINKAGE_EQ6: settings->printed = value != 0; break;
	case SHRINKAGE_GAMMA: settings->gamma = value; break;
	case SHRINKAGE_ETA: settings->eta = value; break;
	case SHRINKAGE_RHO: settings->rho = value; break;
	case SHRINKAGE_LEAST: settings->least = value; break;
	default: settings->most = value; break;
	}
}

static double
number_of(enum shrinkage_option option, const char *flag)
{
	switch (option) {
	case SHRINKAGE_RHO: return cli_real(flag, 1e-9, 1);
	case SHRINKAGE_LEAST: return cli_real(flag, -1e9, 1);
	case SHRINKAGE_MOST: return cli_real(flag, 1, 1e9);
	default: return cli_real(flag, 0, 1e9);
	}
}

void
shrinkage_option_take(struct shrinkage_options *options, enum shrinkage_option option)
{
	char *flag = mem_format("--%s", names[option]);
	const char *const *words = words_of(option);

	set(&options->settings, option,
	    words ? cli_word(flag, optarg, words) : number_of(option, flag));
	options->given |= 1U << option;
	free(flag);
}

struct shrinkage_settings
shrinkage_options_complete(
    const struct shrinkage_options *options, const struct shrinkage_settings *made)
{
	struct shrinkage_settings settings = made ? *made : paper;

	for (enum shrinkage_option i = 0; i < SHRINKAGE_OPTIONS; i++)
		if (options->given >> i & 1)
			set(&settings, i, get(&options->settings, i));
	return settings;
}

int
shrinkage_options_differ(const struct shrinkage_options *options,
    const struct shrinkage_settings *one, const struct shrinkage_settings *other)
{
	for (enum shrinkage_option i = 0; i < SHRINKAGE_OPTIONS; i++)
		if (!(options->given >> i & 1) && get(one, i) != get(other, i))
			return (int)i;
	return -1;
}

struct tree *
shrinkage_tree(const struct shrinkage_settings *settings)
{
	struct tree *tree = tree_object();

	for (enum shrinkage_option i = 0; i < SHRINKAGE_OPTIONS; i++) {
		const char *const *words = words_of(i);
		double value = get(settings, i);
		tree_set(tree, names[i],
		    words ? tree_of_string(words[(int)value]) : tree_of_real(value));
	}
	return tree;
}

struct shrinkage_settings
shrinkage_settings_of(const struct tree *tree)
{
	struct shrinkage_settings settings = paper;

	for (enum shrinkage_option i = 0; i < SHRINKAGE_OPTIONS; i++) {
		const char *const *words = words_of(i);
		if (!words) {
			set(&settings, i, tree_real(tree, names[i], get(&paper, i)));
			continue;
		}
		int at = 0;
		const char *word = tree_string(tree, names[i], "");
		while (words[at] && strcmp(words[at], word) != 0)
			at++;
		if (!words[at])
			tree_die(tree, "%s: '%s' is not known", names[i], word);
		set(&settings, i, at);
	}
	return settings;
}
