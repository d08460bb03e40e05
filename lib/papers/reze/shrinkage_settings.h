/*
 * shrinkage_settings - the parameters of equations 2 to 6 (shrinkage.h) as options, and as attributes of a stream.
 *
 * An option that is not given defaults to the setting of the statistics, or else to the paper's (gamma 1, eta 0.7, rho 0.99, median,
 * mean), with factors in 0 .. 1.
 */
#ifndef PAPERS_REZE_SHRINKAGE_SETTINGS_H
#define PAPERS_REZE_SHRINKAGE_SETTINGS_H

#include "papers/reze/shrinkage.h"
#include "text/tree.h"

struct shrinkage_options {
	struct shrinkage_settings settings;
	unsigned given; /* a bit for each option that was given */
};
enum shrinkage_option {
	SHRINKAGE_CENTRE,
	SHRINKAGE_BAND,
	SHRINKAGE_EQ6,
	SHRINKAGE_GAMMA,
	SHRINKAGE_ETA,
	SHRINKAGE_RHO,
	SHRINKAGE_LEAST,
	SHRINKAGE_MOST,
	SHRINKAGE_OPTIONS
};

/* The option's name without "--"; take parses optarg, and dies of usage on a wrong one. */
const char *shrinkage_option_name(enum shrinkage_option option);
void shrinkage_option_take(
    struct shrinkage_options *options, enum shrinkage_option option);

/* The given options, completed by `made`, or if it is NULL by the paper's settings. */
struct shrinkage_settings shrinkage_options_complete(
    const struct shrinkage_options *options, const struct shrinkage_settings *made);

/* The first setting that differs and was not given; -1: none. */
int shrinkage_options_differ(const struct shrinkage_options *options,
    const struct shrinkage_settings *one, const struct shrinkage_settings *other);

/* To an object, and back; dies on an unknown word. */
struct tree *shrinkage_tree(const struct shrinkage_settings *settings);
struct shrinkage_settings shrinkage_settings_of(const struct tree *tree);

#endif
