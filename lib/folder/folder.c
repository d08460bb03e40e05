#include "folder/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/temporary.h"
#include "folder/modules.h"
#include "text/json.h"

/* Files of a model folder and of a module's folder. */
static const char *const ours[] = { "config.json", "model.safetensors",
	"model.safetensors.index.json", "model-*-of-*.safetensors", FOLDER_INT8,
	FOLDER_PACKED, FOLDER_INT8 ".lock", FOLDER_PACKED ".lock", "pytorch_model.bin",
	"pytorch_model.bin.index.json", "pytorch_model-*-of-*.bin", "modules.json",
	"sentence_*_config.json", "config_sentence_transformers.json", "tokenizer.json",
	"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
	"vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model",
	"spiece.model", "tokenizer.model", "sentencepiece.model", "chat_template.jinja",
	"chat_template.json", "preprocessor_config.json",
	"video_preprocessor_config.json", "processor_config.json", "adapter_config.json",
	"adapter_model.safetensors", "adapter_model.bin", FOLDER_TRAIN, NULL };

/* File names of published weights, in this and other formats. */
static const char *const weights[] = { "*.safetensors", "*.bin", "*.gguf", "*.onnx",
	"*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack", "*.ot", NULL };

/* `dir` without the slashes at its end. */
static char *
trimmed(const char *dir)
{
	return mem_format("%.*s", (int)file_path_length(dir), dir);
}

static bool
matches(const char *name, const char *const *patterns)
{
	while (*patterns && fnmatch(*patterns, name, 0))
		patterns++;
	return *patterns;
}

/* Whether a model card is unchanged since sentence-transformers generated it. */
static bool
is_blank_card(const char *path, const char *name)
{
	static const char *const places[] = { "<!--\n## Model Card Contact\n",
		"<!--- Describe where people can find more information -->" };
	size_t length, i = 0;

	if (strcmp(name, "README.md") != 0)
		return false;
	char *text = file_read(path, &length);
	while (text && i < 2 && !strstr(text, places[i]))
		i++;
	free(text);
	return text && i < 2;
}

static bool
is_ours(const char *path, const char *name)
{
	return matches(name, ours) || is_blank_card(path, name);
}

/* The path of an entry of a folder, to be freed; NULL: there is none. matching: a file that fits a pattern; else any
 * other entry but the modules' folders. */
static char *
find_in(const char *dir, const struct modules *modules, const char *const *patterns,
    bool matching)
{
	DIR *list = opendir(dir);
	char *found = NULL;

	for (struct dirent *entry; list && !found && (entry = readdir(list));) {
		const char *name = entry->d_name;
		struct stat status;
		size_t i = 0;
		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		found = mem_format("%s/%s", dir, name);
		bool folder = lstat(found, &status) || S_ISDIR(status.st_mode);
		while (modules && i < modules->count && strcmp(modules->at[i].name, name))
			i++;
		if ((folder && modules && i < modules->count) ||
		    (!folder && (patterns == ours ? is_ours(found, name)
						  : matches(name, patterns))) !=
			matching) {
			free(found);
			found = NULL;
		}
	}
	if (list)
		closedir(list);
	return found;
}

/* The same, in a model's folder and then in its modules'. */
static char *
find(const char *dir, const struct modules *modules, const char *const *patterns,
    bool matching)
{
	char *found = find_in(dir, modules, patterns, matching);

	for (size_t i = 0; !found && modules && i < modules->count; i++)
		if (*modules->at[i].name)
			found = find_in(modules->at[i].folder, NULL, patterns, matching);
	return found;
}

bool
folder_has(const char *dir, const char *name)
{
	char *path = mem_format("%s/%s", dir, name);
	bool is = !access(path, F_OK);

	free(path);
	return is;
}

/* Dies if the folder is a module of a model, which would be lost. */
static void
check_outside(const char *target)
{
	const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
	int length = slash > target ? (int)(slash - target) : 1;
	char *parent = slash ? mem_format("%.*s", length, target) : mem_string(".");
	struct tree *list = json_find(parent, "modules.json");

	for (size_t i = 0; list && list->kind == TREE_LIST && i < list->count; i++)
		if (list->items[i]->kind == TREE_OBJECT &&
		    !strcmp(tree_string(list->items[i], "path", ""), name))
			die("%s: is a module of the model '%s'; choose another name",
			    target, parent);
	tree_free(list);
	free(parent);
}

void
folder_check(const char *dir)
{
	static const char *const nothing[] = { NULL };
	struct stat status;
	char *target = trimmed(dir), *found;

	if (lstat(target, &status)) {
		free(target);
		return;
	}
	found = S_ISDIR(status.st_mode) ? find_in(target, NULL, nothing, false) : NULL;
	if (!S_ISDIR(status.st_mode) || (found && !folder_has(target, "config.json") &&
					    !folder_has(target, "modules.json") &&
					    !folder_has(target, "adapter_config.json")))
		die("%s: exists and is not a model folder; choose another name", dir);
	free(found);
	check_outside(target);
	struct modules *modules = modules_read(target);
	found = find(target, modules, ours, false);
	if (found)
		die("%s: is not part of a model, and would be lost with the folder that is replaced; move it away or choose another name for the folder",
		    found);
	modules_free(modules);
	free(target);
}

void
folder_remove(const char *dir)
{
	struct modules *modules = modules_read(dir);
	char *path;

	while ((path = find(dir, modules, ours, true)) && !unlink(path))
		free(path);
	free(path);
	for (size_t i = 0; modules && i < modules->count; i++)
		if (*modules->at[i].name)
			rmdir(modules->at[i].folder);
	modules_free(modules);
	if (rmdir(dir))
		warn("%s: has the files of the old folder that are not part of a model",
		    dir);
}

char *
folder_begin(const char *dir)
{
	struct stat old;
	char *target = trimmed(dir);

	folder_check(dir);
	char *temporary = temporary_beside(target);
	if (mkdir(temporary, 0777) ||
	    (!stat(target, &old) && chmod(temporary, old.st_mode & 0777)))
		die("%s: cannot make a folder beside it:", dir);
	free(target);
	return temporary;
}

/* fsync of a folder and its subfolders; the files have been synced. */
static void
sync_folders(const char *dir)
{
	DIR *list = opendir(dir);

	if (!list)
		die("%s:", dir);
	for (struct dirent *entry; (entry = readdir(list));) {
		char *path = mem_format("%s/%s", dir, entry->d_name);
		struct stat status;
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    !lstat(path, &status) && S_ISDIR(status.st_mode))
			sync_folders(path);
		free(path);
	}
	closedir(list);
	file_sync_folder(dir);
}

/*
 * Put the complete folder in the place of `target`.  Returns where the old folder is now, `temporary` or `aside`; NULL
 * if there was none.  Where the system cannot exchange two names there is a moment in which neither folder has the
 * name.
 */
static const char *
exchange(const char *temporary, const char *target, const char *aside)
{
	if (!renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_EXCHANGE))
		return temporary;
	bool replaces = !rename(target, aside);
	if (rename(temporary, target)) {
		int saved = errno;
		if (replaces)
			rename(aside, target);
		errno = saved;
		die("%s: complete, and cannot be renamed to %s:", temporary, target);
	}
	return replaces ? aside : NULL;
}

void
folder_commit(char *temporary, const char *dir)
{
	char *target = trimmed(dir), *aside = temporary_beside(target);
	sigset_t all, before;

	sync_folders(temporary);
	/* signals wait until one folder has the name and nothing is beside it */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	temporary_forget(aside);
	temporary_forget(temporary); /* complete: not removed from here on */
	const char *old = exchange(temporary, target, aside);
	file_sync_parent(target);
	if (old) /* after the sync: the new folder has its name even after a crash */
		folder_remove(old);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(aside);
	free(target);
	free(temporary);
}

static void
make_folder(const char *path)
{
	temporary_made(path); /* before: a signal may come while the system makes it */
	if (mkdir(path, 0777) && errno != EEXIST)
		die("%s:", path);
}

void
folder_write(const char *dir, const char *name, const char *text, size_t length)
{
	char *path = mem_format("%s/%s", dir, name);
	char *slash = strrchr(path, '/');

	make_folder(dir);
	*slash = 0;
	make_folder(path);
	*slash = '/';
	struct output *output = output_open(path, false);
	output_write(output, text, length);
	output_finish(output);
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

void
folder_copy(const char *from, const char *to, const char *name)
{
	char *path = mem_format("%s/%s", from, name);
	size_t length;
	char *text = file_read(path, &length);

	if (text)
		folder_write(to, name, text, length);
	free(text);
	free(path);
}

/* Copies in blocks: the file may be larger than memory. */
static void
copy_pieces(const char *from, const char *to)
{
	enum { PIECE = 1 << 20 };
	char *piece = mem_new(PIECE, 1);
	int file = open(from, O_RDONLY | O_CLOEXEC);
	struct output *output = output_open(to, false);
	ssize_t got = -1;

	while (file >= 0 && (got = read(file, piece, PIECE)) > 0)
		output_write(output, piece, (size_t)got);
	if (got < 0)
		die("%s:", from);
	output_finish(output);
	close(file);
	free(piece);
}

/* Hard links for weights; copies of files that people edit. */
static void
link_files(const char *from, const char *to)
{
	DIR *list = opendir(from);

	if (!list)
		die("%s:", from);
	for (struct dirent *entry; (entry = readdir(list));) {
		/* the linked model is another than the one that was trained */
		if (!matches(entry->d_name, ours) || !strcmp(entry->d_name, FOLDER_TRAIN))
			continue;
		char *old = mem_format("%s/%s", from, entry->d_name);
		char *new = mem_format("%s/%s", to, entry->d_name);
		if (!matches(entry->d_name, weights))
			folder_copy(from, to, entry->d_name);
		else if (!linkat(AT_FDCWD, old, AT_FDCWD, new, AT_SYMLINK_FOLLOW))
			temporary_made(new);
		else
			copy_pieces(old, new);
		free(old);
		free(new);
	}
	closedir(list);
}

void
folder_link(const char *from, const char *to)
{
	struct modules *modules = modules_read(from);

	link_files(from, to);
	for (size_t i = 0; modules && i < modules->count; i++) {
		if (!*modules->at[i].name || access(modules->at[i].folder, F_OK))
			continue;
		char *folder = mem_format("%s/%s", to, modules->at[i].name);
		make_folder(folder);
		link_files(modules->at[i].folder, folder);
		free(folder);
	}
	modules_free(modules);
}

char *
folder_weights(const char *dir)
{
	struct modules *modules = modules_read(dir);
	char *found = find(dir, modules, weights, true);

	modules_free(modules);
	return found;
}

bool
folder_is_weights(const char *name)
{
	return matches(name, weights);
}

void
folder_demand(const char *path, const char *what)
{
	const char *slash = strrchr(path, '/');
	struct stat status;

	if (!stat(path, &status) && !S_ISDIR(status.st_mode))
		die("%s: is a file; %s is a folder: give '%.*s'", path, what,
		    slash > path ? (int)(slash - path) : 1, slash ? path : ".");
}
