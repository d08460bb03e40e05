#include "folder/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/json.h"

/* `dir` without the slashes at its end. */
static char *
trimmed(const char *dir)
{
	char *copy = mem_string(dir);
	size_t length = strlen(copy);

	while (length > 1 && copy[length - 1] == '/')
		copy[--length] = 0;
	return copy;
}

static bool
replaceable(const char *dir)
{
	char *config = mem_format("%s/config.json", dir);
	char *adapter = mem_format("%s/adapter_config.json", dir);
	bool is = !access(config, F_OK) || !access(adapter, F_OK);

	free(config);
	free(adapter);
	return is || !rmdir(dir); /* an empty folder is as good as none */
}

void
folder_check(const char *dir)
{
	struct stat status;
	char *target = trimmed(dir);

	if (!lstat(target, &status) && !(S_ISDIR(status.st_mode) && replaceable(target)))
		die("%s: exists and is not a model folder; remove it or choose another "
		    "name",
		    dir);
	free(target);
}

static int
remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	return remove(path);
}

static int
remove_folder(const char *path)
{
	return nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Folders that programs of the past were writing beside `target` when they were killed. */
static void
remove_leftovers(const char *target)
{
	char *prefix = mem_format("%s.new-", target);
	const char *slash = strrchr(prefix, '/'), *name = slash ? slash + 1 : prefix;
	char *parent =
	    slash ? mem_format("%.*s/", (int)(slash - prefix), prefix) : mem_string(".");
	DIR *list = opendir(parent);

	for (struct dirent *entry; list && (entry = readdir(list));) {
		char *end;
		const char *number = entry->d_name + strlen(name);
		if (strncmp(entry->d_name, name, strlen(name)))
			continue;
		long writer = strtol(number, &end, 10);
		bool ours = end != number && !*end && writer > 0;
		if (ours &&
		    (writer == getpid() || (kill((pid_t)writer, 0) && errno == ESRCH))) {
			char *path = mem_format("%s/%s", parent, entry->d_name);
			remove_folder(path);
			free(path);
		}
	}
	if (list)
		closedir(list);
	free(parent);
	free(prefix);
}

char *
folder_begin(const char *dir)
{
	folder_check(dir);
	char *target = trimmed(dir);
	remove_leftovers(target);
	char *temporary = mem_format("%s.new-%ld", target, (long)getpid());
	if (mkdir(temporary, 0777))
		die("%s: cannot make a folder beside it:", dir);
	free(target);
	return temporary;
}

static void
sync_folder(const char *path)
{
	int file = open(path, O_RDONLY | O_DIRECTORY);

	if (file < 0 || fsync(file))
		die("%s: cannot be written to the disk:", path);
	close(file);
}

void
folder_commit(char *temporary, const char *dir)
{
	char *target = trimmed(dir);

	sync_folder(temporary);
	if (renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_EXCHANGE) == 0) {
		if (remove_folder(temporary))
			warn("%s: the old folder could not be removed:", temporary);
	} else if (rename(temporary, target)) {
		die("%s: cannot be renamed to %s:", temporary, target);
	}
	char *slash = strrchr(target, '/');
	if (slash && slash != target) {
		*slash = 0;
		sync_folder(target);
	}
	free(target);
	free(temporary);
}

static void
put(int file, const char *path, const char *text, size_t length)
{
	while (length) {
		ssize_t n = write(file, text, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die("%s:", path);
		text += n;
		length -= (size_t)n;
	}
}

void
folder_write(const char *dir, const char *name, const char *text, size_t length)
{
	char *path = mem_format("%s/%s", dir, name);
	char *slash = strrchr(path, '/');

	*slash = 0;
	if (mkdir(path, 0777) && errno != EEXIST)
		die("%s:", path);
	*slash = '/';
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file < 0)
		die("%s:", path);
	put(file, path, text, length);
	if (fsync(file) || close(file))
		die("%s:", path);
	free(path);
}

void
folder_write_json(const char *dir, const char *name, const struct tree *tree)
{
	char *text = json_text(tree, 2);
	char *line = mem_format("%s\n", text);

	folder_write(dir, name, line, strlen(line));
	free(line);
	free(text);
}

bool
folder_copy(const char *from, const char *to, const char *name)
{
	char *path = mem_format("%s/%s", from, name);
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t length = 0, capacity = 0, n;

	if (!file) {
		if (errno != ENOENT && errno != ENOTDIR)
			die("%s:", path);
		free(path);
		return false;
	}
	do {
		text = mem_grow(text, &capacity, length + 65536, 1);
		n = fread(text + length, 1, 65536, file);
		length += n;
	} while (n);
	if (ferror(file))
		die("%s:", path);
	fclose(file);
	folder_write(to, name, text, length);
	free(text);
	free(path);
	return true;
}
