#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/input.h"
#include "base/mem.h"

enum { MAPPED = 1 << 18 }; /* bytes; larger files are mapped, not copied */

const char *
file_pointer(const char *bytes, size_t count)
{
	static const char start[] = "version https://git-lfs";

	return count >= sizeof start && !memcmp(bytes, start, sizeof start - 1)
		   ? "a Git LFS pointer, not the file itself; fetch it with 'git lfs pull'"
		   : NULL;
}

/* Opens a regular file; -1: it does not exist.  A pipe is refused: O_NONBLOCK does not wait for its writer. */
static int
open_file(const char *path, size_t *size)
{
	struct stat status;
	int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (file < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		/* a copy of a cache without its blobs: what the file says would be left out silently */
		if (!lstat(path, &status))
			die("%s: a link to a file that is not there; copy or fetch that file, too",
			    path);
		return -1;
	}
	if (file < 0 || fstat(file, &status))
		die("%s:", path);
	if (!S_ISREG(status.st_mode))
		die("%s: not a regular file", path);
	*size = (size_t)status.st_size;
	return file;
}

/* Returns the bytes and a NUL; closes the file. */
static char *
copy_file(int file, const char *path, size_t size)
{
	char *text = mem_new(mem_add(size, 1, path), 1);
	size_t length = 0;

	for (ssize_t got; length < size; length += (size_t)got)
		if ((got = read(file, text + length, size - length)) <= 0)
			die("%s: cannot be read to its end", path);
	text[size] = 0;
	close(file);
	if (file_pointer(text, size))
		die("%s: %s", path, file_pointer(text, size));
	return text;
}

char *
file_read(const char *path, size_t *length)
{
	size_t size = 0;
	int file = open_file(path, &size);

	if (file < 0)
		return NULL;
	*length = size;
	return copy_file(file, path, size);
}

bool
file_view(const char *path, struct file_view *view)
{
	size_t size = 0;
	int file = open_file(path, &size);

	*view = (struct file_view){ .length = size };
	if (file < 0)
		return false;
	if (size >= MAPPED) {
		void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
		if (map != MAP_FAILED) {
			close(file);
			view->text = view->memory = map;
			view->mapped = size;
			return true;
		}
	}
	view->text = view->memory = copy_file(file, path, size);
	return true;
}

void
file_view_close(struct file_view *view)
{
	if (view->mapped)
		munmap(view->memory, view->mapped);
	else
		free(view->memory);
	*view = (struct file_view){ 0 };
}

char *
file_need(const char *path, size_t *length)
{
	char *text = file_read(path, length);

	if (!text)
		die("%s: no such file", path);
	return text;
}

void
file_need_twice(const char *path)
{
	struct stat status;

	/* of a folder the program that opens it says more */
	if (!stat(path, &status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
		die("%s: is read twice, and is not a file; write it to one", path);
}

static size_t
without_ending(const char *name, size_t length)
{
	size_t dot = length;

	while (dot > 0 && name[dot - 1] != '.')
		dot--;
	return dot > 1 ? dot - 1 : length;
}

size_t
file_path_length(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return length;
}

char *
file_beside(const char *path, const char *ending)
{
	return mem_format("%.*s.%s", (int)file_path_length(path), path, ending);
}

const char *
file_bare_name(const char *path, size_t *length)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	*length = without_ending(name, strlen(name));
	for (const char *const *ending = input_endings; *ending; ending++)
		if (!strcmp(name + *length, *ending)) {
			*length = without_ending(name, *length);
			break;
		}
	return name;
}

void
file_sync_folder(const char *path)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0 && errno == EACCES) /* the folder can be written, not read */
		return;
	if (folder < 0 || (fsync(folder) && errno != EINVAL && errno != EROFS))
		die("%s: cannot be written to the disk:", path);
	close(folder);
}

void
file_sync_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *parent =
	    slash ? mem_format("%.*s/", (int)(slash - path), path) : mem_string(".");

	file_sync_folder(parent);
	free(parent);
}
