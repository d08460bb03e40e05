/*
 * fit_apply - parses the operands of geom's commands: 'fit [FILE]...' and 'apply MAP [FILE]'.
 */
#ifndef GEOMETRY_FIT_APPLY_H
#define GEOMETRY_FIT_APPLY_H

#include <stdbool.h>

#include "base/cli.h"

struct fit_apply {
	bool fit;
	const char *map;
	const char *const *streams; /* [count] at least one; "-": standard input */
	int count;
};

/* known: the options, as for cli_only, of fit and of apply.  `words` is borrowed. */
struct fit_apply fit_apply_words(const struct cli *cli, const char *command,
    const char *const known[2], char **words, int count);

#endif
