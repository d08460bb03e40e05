#include "geometry/fit_apply.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

struct fit_apply
fit_apply_words(const struct cli *cli, const char *command, const char *const known[2],
    char **words, int count)
{
	static const char *const modes[] = { "fit", "apply", NULL };
	struct fit_apply found = { .fit = cli_word(command, words[0], modes) == 0 };
	char *mode = mem_format("%s %s", command, words[0]);
	int before = found.fit ? 1 : 2;

	cli_only(cli, mode, known[!found.fit]);
	if (!found.fit && (count < 2 || count > 3))
		die_usage("%s takes what 'fit' has written, and one stream", mode);
	free(mode);
	found.map = words[1];
	found.count = count - before;
	found.streams = cli_inputs(words + before, &found.count);
	return found;
}
