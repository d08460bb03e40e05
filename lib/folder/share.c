#include "folder/share.h"

#include <limits.h>
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
	char *places[] = { mem_format("%s/../share/motes/%s", program, name),
		mem_format("%s/../../../share/%s", program, name),
		mem_format("%s/../../../%s", program, name) };
	char *found = NULL;
	for (int i = 0; i < 3; i++) {
		if (!found && !access(places[i], F_OK))
			found = mem_string(places[i]);
	}
	if (!found)
		die("%s: it is not there, nor is %s; install motes anew (make install)",
		    places[0], places[1]);
	for (int i = 0; i < 3; i++)
		free(places[i]);
	return found;
}
