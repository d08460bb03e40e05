#include "base/temporary.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

enum { MOST = 1 << 15 }; /* mts split needs two for each part */

/* Safe against signals: a path is stored before the count grows. */
static char *_Atomic paths[MOST]; /* NULL: forgotten */
static _Atomic int count;

void
temporary_remove(void)
{
	for (int i = count - 1; i >= 0; i--)
		if (paths[i] && unlink(paths[i]))
			rmdir(paths[i]);
}

static void
end(int number)
{
	temporary_remove();
	raise(number); /* again, with the default action */
}

/* A signal that is ignored or caught already stays so. */
static void
catch_signals(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU,
		SIGXFSZ };
	struct sigaction before, ours = { .sa_handler = end, .sa_flags = SA_RESETHAND };

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(signals[i], &ours, NULL);
}

void
temporary_add(const char *path)
{
	if (count == MOST)
		die("%s: more than %d files are being written", path, MOST);
	catch_signals();
	paths[count] = mem_string(path);
	count++;
}

/* Whether a path is `folder` or lies in it. */
static bool
is_in(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

char *
temporary_beside(const char *target)
{
	uint64_t number;

	if (getrandom(&number, sizeof number, 0) != sizeof number)
		die("random numbers of the system:");
	char *path = mem_format("%s.%016llx.part", target, (unsigned long long)number);
	temporary_add(path);
	return path;
}

bool
temporary_made(const char *path)
{
	for (int i = count - 1; i >= 0; i--)
		if (paths[i] && is_in(path, paths[i])) {
			if (strcmp(path, paths[i]) != 0)
				temporary_add(path);
			return true;
		}
	return false;
}

/* A folder was added before its files, so remove in reverse order. */
void
temporary_forget(const char *path)
{
	bool found = false;

	for (int i = count - 1; i >= 0 && !found; i--) {
		char *old = paths[i];
		if (!old || !is_in(old, path))
			continue;
		found = !strcmp(old, path);
		paths[i] = NULL;
		free(old);
	}
	while (count && !paths[count - 1])
		count--;
}
