/*
 * fit_apply - the words after a command of geom that fits a map to streams, and applies it.
 */
#ifndef GEOMETRY_FIT_APPLY_H
#define GEOMETRY_FIT_APPLY_H

#include <stdbool.h>

#include "base/cli.h"

/* What 'fit [FILE]...' or 'apply MAP [FILE]' says. */
struct fit_apply {
	bool fit;
	const char *map;
	const char *const *streams; /* one at least: "-" where none is named */
	int count;
};

/* known: the options, as for cli_only, of fit and of apply.  The words are borrowed. */
struct fit_apply fit_apply_words(const struct cli *cli, const char *command,
    const char *const known[2], char **words, int count);

/* The streams that are named, or standard input. */
const char *const *fit_apply_streams(char *const *files, int count);

#endif
