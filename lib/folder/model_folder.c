#include "folder/model_folder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "folder/hub.h"

static bool
is_folder(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

char *
model_folder_snapshot(const char *model, const char *revision)
{
	char *path = mem_format("%s/refs/%s", model, revision);
	char *commit = is_folder(path) ? NULL : file_read(path, &(size_t){ 0 });

	free(path);
	if (commit)
		commit[strcspn(commit, "\r\n")] = 0;
	/* an empty file of refs/ names no commit */
	path =
	    mem_format("%s/snapshots/%s", model, commit && *commit ? commit : revision);
	free(commit);
	if (is_folder(path))
		return path;
	free(path);
	return NULL;
}

/* Suggests full names for a name without its owner. */
static void
check_owner(const char *name, size_t length, const char *cache)
{
	char *whole = hub_whole_name(name, length);

	if (!whole)
		return;
	char *model = hub_folder(cache, whole, (int)strlen(whole));
	if (is_folder(model))
		die("%s: no folder of that name; a model of the Hugging Face Hub is called %s",
		    name, whole);
	die("%s: no folder of that name; a model of the Hugging Face Hub is called %s; 'motes get --fetch %s' fetches it",
	    name, whole, whole);
}

/* The model's folder in the cache, to be freed, or NULL.  *cache is to be freed, too.  *partly: the cache has some of
 * the model's files. */
static char *
find_cached(const char *name, char **cache, bool *partly)
{
	int length = (int)strcspn(name, "@");
	const char *revision = name[length] ? name + length + 1 : "main";
	*cache = hub_cache();
	char *model = hub_folder(*cache, name, length);
	char *found = model_folder_snapshot(model, revision);

	*partly = is_folder(model);
	free(model);
	return found;
}

char *
model_folder_find(const char *name)
{
	char *cache;
	bool partly;

	if (is_folder(name))
		return mem_string(name);
	if (!access(name, F_OK) || !hub_is_name(name))
		return NULL;
	char *found = find_cached(name, &cache, &partly);
	free(cache);
	return found;
}

char *
model_folder(const char *name)
{
	char *cache;
	bool partly;

	if (!name)
		name = getenv("MOTES_MODEL");
	if (!name || !*name)
		die_usage(
		    "no model is given; use -m MODEL, or set MOTES_MODEL to one for all");
	if (folder_is_weights(name)) /* not tokenizer.json, which tok accepts by itself */
		folder_demand(name, "a model");
	if (!access(name, F_OK))
		return mem_string(name);
	if (!hub_is_name(name))
		die("%s: model folder:", name);
	char *found = find_cached(name, &cache, &partly);
	if (!found && (strchr(name, '/') || partly))
		die("%s: no folder of that name, nor a model%s in %s; 'motes get --fetch %s' fetches it from the Hugging Face Hub",
		    name, partly ? " of that revision" : "", cache, name);
	if (!found) {
		check_owner(name, strcspn(name, "@"), cache);
		die("%s: no folder of that name; a model of the Hugging Face Hub is called ORG/NAME",
		    name);
	}
	free(cache);
	return found;
}
