#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/status_line.h"
#include "base/temporary.h"

enum { BUFFER = 1 << 16, PIPE = 1 << 20 };

struct output {
	char *name;   /* for messages */
	char *target; /* the final path; NULL: written directly */
	char *beside; /* temporary path; NULL: the file has no name yet */
	bool printed; /* stdout is redirected to it */
	bool
	    terminal; /* a terminal: writes go through stdout, which terminal_guard cleans */
	int file;
	size_t used;
	char *buffer; /* [BUFFER] */
};

const char *
output_name(const struct output *output)
{
	return output->name;
}

bool
output_is_pipe(const struct output *output)
{
	struct stat status;

	return !fstat(output->file, &status) &&
	       (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

/* The target of a symbolic link, to be freed; NULL if `path` is none. */
static char *
read_link(const char *path)
{
	char to[PATH_MAX];
	ssize_t length = readlink(path, to, sizeof to);
	const char *slash = strrchr(path, '/');

	if (length < 0 || (size_t)length == sizeof to)
		return NULL;
	return mem_format("%.*s%.*s", slash && *to != '/' ? (int)(slash + 1 - path) : 0,
	    path, (int)length, to);
}

/* Follows symbolic links; the file need not exist. */
static char *
resolve(const char *path)
{
	enum { LINKS = 40 }; /* Linux's limit */
	char *real = realpath(path, NULL), *next;

	if (real)
		return real;
	real = mem_string(path);
	for (int i = 0; (next = read_link(real)); i++) {
		errno = ELOOP;
		if (i == LINKS)
			die("%s:", path);
		free(real);
		real = next;
	}
	return real;
}

/* Opens an unnamed file (O_TMPFILE), or a temporary name where the file system has none, with the permissions of the
 * file that it replaces. */
static void
open_beside(struct output *output)
{
	const char *slash = strrchr(output->target, '/');
	char *folder =
	    slash ? mem_format("%.*s/.", (int)(slash - output->target), output->target)
		  : mem_string(".");
	struct stat old;
	bool replaces = !stat(output->target, &old);
	mode_t mode = replaces ? old.st_mode & 0777 : 0666;

	output->file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	if (output->file < 0 &&
	    (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		output->beside = temporary_beside(output->target);
		output->file =
		    open(output->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	}
	if (output->file < 0 || (replaces && fchmod(output->file, mode)))
		die("%s:", output->name);
	free(folder);
}

struct output *
output_open(const char *path, bool binary)
{
	return output_open_as(path, path, binary);
}

struct output *
output_open_as(const char *path, const char *name, bool binary)
{
	struct output *output = mem_zero(1, sizeof *output);
	struct stat status;

	if (!strcmp(path, "-")) {
		output->name = mem_string("<stdout>");
		output->file = STDOUT_FILENO;
		output->terminal = !binary && isatty(STDOUT_FILENO);
	} else {
		output->name = mem_string(name);
		bool exists = !stat(path, &status);
		if (!exists && errno == ENAMETOOLONG) /* an unnamed file would not tell */
			die("%s:", name);
		if (exists && !S_ISREG(status.st_mode)) {
			output->file = open(path, O_WRONLY | O_CLOEXEC);
			if (output->file < 0)
				die("%s:", name);
		} else {
			output->target = resolve(path);
			open_beside(output);
		}
	}
	if (binary && isatty(output->file))
		die_usage(
		    "%s: binary output to a terminal is refused; redirect it or give a file",
		    output->name);
	(void)fcntl(output->file, F_SETPIPE_SZ, PIPE); /* fewer context switches */
	output->buffer = mem_new(BUFFER, 1);
	return output;
}

struct output *
output_print(const char *path)
{
	struct output *output = output_open(path, false);

	if (output->file != STDOUT_FILENO && dup2(output->file, STDOUT_FILENO) < 0)
		die("%s:", output->name);
	output->printed = true;
	return output;
}

static void
write_all(struct output *output, const char *bytes, size_t count)
{
	if (count && output->file == STDOUT_FILENO)
		status_line_stop();
	if (output->terminal) {
		if (fwrite(bytes, 1, count, stdout) != count || fflush(stdout))
			die("%s:", output->name);
		return;
	}
	while (count) {
		ssize_t done =
		    write(output->file, bytes, count < SSIZE_MAX ? count : SSIZE_MAX);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			die("%s:", output->name);
		bytes += done;
		count -= (size_t)done;
	}
}

void
output_flush(struct output *output)
{
	size_t used = output->used;

	output->used = 0;
	write_all(output, output->buffer, used);
}

void
output_write(struct output *output, const void *bytes, size_t count)
{
	if (!count)
		return;
	if (count > BUFFER - output->used)
		output_flush(output);
	if (count >= BUFFER) {
		write_all(output, bytes, count);
		return;
	}
	memcpy(output->buffer + output->used, bytes, count);
	output->used += count;
}

/* Links an unnamed file to a temporary path. */
static void
put_beside(struct output *output)
{
	if (output->beside || !output->target)
		return;
	char *link = mem_format("/proc/self/fd/%d", output->file);
	output->beside = temporary_beside(output->target);
	if (linkat(AT_FDCWD, link, AT_FDCWD, output->beside, AT_SYMLINK_FOLLOW))
		die("%s:", output->name);
	free(link);
}

char *
output_place(struct output *output, bool others)
{
	output_flush(output);
	if (!others)
		return mem_format("/proc/self/fd/%d", output->file);
	put_beside(output);
	return mem_string(output->beside ? output->beside : output->name);
}

static void
put_in_place(struct output *output)
{
	if (fsync(output->file) && errno != EINVAL && errno != EROFS)
		die("%s:", output->name);
	put_beside(output);
	bool temporary = temporary_made(output->target);
	if (rename(output->beside, output->target))
		die("%s:", output->name);
	temporary_forget(output->beside);
	if (!temporary) /* a temporary folder is synced when it is renamed */
		file_sync_parent(output->target);
}

void
output_finish(struct output *output)
{
	output_flush(output);
	if (output->printed && (fflush(stdout) || ferror(stdout)))
		die("%s:", output->name);
	if (output->target)
		put_in_place(output);
	if (output->file != STDOUT_FILENO && close(output->file))
		die("%s:", output->name);
	free(output->buffer);
	free(output->beside);
	free(output->target);
	free(output->name);
	free(output);
}
