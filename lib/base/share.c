#include "base/share.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

char *
share_path(const char *name)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

	if (length < 0)
		die("/proc/self/exe:");
	program[length] = '\0';
	*strrchr(program, '/') = '\0';
	char *installed = mem_format("%s/../share/motes/%s", program, name);
	char *built = mem_format("%s/../../../share/%s", program, name);
	bool here = !access(installed, F_OK);
	if (!here && access(built, F_OK))
		die("%s: it is not there, nor is %s; install motes anew (make install)",
		    installed, built);
	free(here ? built : installed);
	return here ? installed : built;
}
