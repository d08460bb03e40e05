#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/temporary.h"

enum { HOLDER = 256 };

struct lock {
	char *path;
	int file; /* -1: the file system has no locks */
};

/* "process 12 on HOST (PROGRAM)", as the lock's holder has written it. */
static const char *
holder(int file, char text[HOLDER])
{
	ssize_t length = pread(file, text, HOLDER - 1, 0);

	text[length > 0 ? length : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	return *text ? text : "another process";
}

static void
write_holder(const struct lock *lock)
{
	char host[HOLDER] = "";

	(void)gethostname(host, sizeof host - 1);
	char *text =
	    mem_format("process %ld on %s (%s)\n", (long)getpid(), host, program_name);
	size_t length = strlen(text);
	if (ftruncate(lock->file, 0) || pwrite(lock->file, text, length, 0) < 0)
		die("%s:", lock->path);
	free(text);
}

/* Whether the file still has its name; lock_end removes it. */
static bool
is_current(const struct lock *lock)
{
	struct stat one, other;

	return !fstat(lock->file, &one) && !stat(lock->path, &other) &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* Returns false if another process holds the lock and `wait` is false. */
static bool
try(struct lock *lock, bool wait)
{
	int done;

	do
		done = flock(lock->file, wait ? LOCK_EX : LOCK_EX | LOCK_NB);
	while (done && errno == EINTR);
	if (!done)
		return true;
	if (errno == EWOULDBLOCK)
		return false;
	warn(
	    "%s: this file system has no locks (%s): see to it that no other process writes there at the same time",
	    lock->path, strerror(errno));
	unlink(lock->path);
	close(lock->file);
	lock->file = -1;
	return true;
}

/* waited NULL: do not wait, die. */
static struct lock *
take(const char *name, bool *waited)
{
	struct lock *lock = mem_zero(1, sizeof *lock);
	char who[HOLDER];

	lock->path = file_beside(name, "lock");
	for (;;) {
		lock->file = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		if (lock->file < 0)
			die("%s: cannot make its lock %s:", name, lock->path);
		bool taken = try(lock, false);
		if (!taken && !waited)
			die("%s: %s is writing it; wait until that has ended, or choose another name",
			    name, holder(lock->file, who));
		if (!taken) {
			warn("%s: %s is making it; this one waits and uses it then", name,
			    holder(lock->file, who));
			*waited = true;
			try(lock, true);
		}
		if (lock->file < 0)
			return lock;
		if (is_current(lock))
			break;
		close(lock->file);
	}
	temporary_add(lock->path);
	write_holder(lock);
	return lock;
}

struct lock *
lock_take(const char *name)
{
	return take(name, NULL);
}

struct lock *
lock_wait(const char *name, bool *waited)
{
	*waited = false;
	return take(name, waited);
}

/* Unlinks first: a process that locks the old file then sees that it has no name. */
void
lock_end(struct lock *lock)
{
	if (!lock)
		return;
	if (lock->file >= 0) {
		unlink(lock->path);
		temporary_forget(lock->path);
		close(lock->file);
	}
	free(lock->path);
	free(lock);
}
