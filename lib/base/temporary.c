#include "base/temporary.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

enum { MOST = 1 << 15 }; /* mts split needs two for each part */
enum { ENDING = sizeof ".0123456789abcdef.part" - 1 };

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

static atomic_bool ending;

/* A signal that comes again, to this thread or another, does not stop the removal.  One from outside may reach any thread:
 * the first one ends the program, so that it makes no file meanwhile. */
static void
end(int number)
{
	bool own = number == SIGPIPE || number == SIGXFSZ; /* of what the thread does */

	if (!own && gettid() != getpid()) {
		tgkill(getpid(), getpid(), number);
		return;
	}
	if (atomic_exchange(&ending, true))
		return;
	temporary_remove();
	signal(number, SIG_DFL);
	raise(number);
}

/* A signal that is ignored or caught already stays so. */
static void
catch_signals(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU,
		SIGXFSZ };
	struct sigaction before, ours = { .sa_handler = end };

	for (size_t i = 0; !ending && i < sizeof signals / sizeof *signals; i++)
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

/* The bytes of `target` that a temporary name begins with: a name that is long already has no room for all. */
static size_t
kept(const char *target)
{
	const char *slash = strrchr(target, '/');
	size_t before = slash ? (size_t)(slash + 1 - target) : 0,
	       name = strlen(target + before), most = NAME_MAX - ENDING;

	if (name > most)
		for (name = most; name && (target[before + name] & 0xc0) == 0x80;)
			name--; /* not inside a character */
	return before + name;
}

char *
temporary_beside(const char *target)
{
	uint64_t number;

	if (getrandom(&number, sizeof number, 0) != sizeof number)
		die("random numbers of the system:");
	char *path = mem_format(
	    "%.*s.%016llx.part", (int)kept(target), target, (unsigned long long)number);
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
