#include "folder/model_folder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/share.h"
#include "folder/folder.h"

static const char *
variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static char *
hub_cache(void)
{
	const char *cache = variable("HF_HUB_CACHE"), *home = variable("HF_HOME"),
		   *caches = variable("XDG_CACHE_HOME"), *user = variable("HOME");

	if (cache)
		return mem_string(cache);
	if (home)
		return mem_format("%s/hub", home);
	if (caches)
		return mem_format("%s/huggingface/hub", caches);
	return mem_format("%s/.cache/huggingface/hub", user ? user : "");
}

/* ORG/NAME or NAME, with @REVISION or without. */
static bool
is_hub_name(const char *name)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t length = strspn(name, letters);

	if (!length || *name == '.')
		return false;
	name += length;
	if (*name == '/') {
		length = strspn(name + 1, letters);
		if (!length || name[1] == '.')
			return false;
		name += 1 + length;
	}
	return !*name ||
	       (*name == '@' && name[1] && name[1] != '/' && !strstr(name, ".."));
}

static bool
is_folder(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

/* models--ORG--NAME, as the cache calls it. */
static char *
cached_model(const char *cache, const char *name, int length)
{
	const char *slash = memchr(name, '/', (size_t)length);
	int org = slash ? (int)(slash - name) : 0;

	return slash ? mem_format("%s/models--%.*s--%.*s", cache, org, name,
			   length - org - 1, slash + 1)
		     : mem_format("%s/models--%.*s", cache, length, name);
}

/* The files of a revision: a branch or tag stands in refs/ with the commit that it is. */
static char *
snapshot(const char *model, const char *revision)
{
	char *path = mem_format("%s/refs/%s", model, revision);
	char *commit = is_folder(path) ? NULL : file_read(path, &(size_t){ 0 });

	free(path);
	if (commit)
		commit[strcspn(commit, "\r\n")] = 0;
	path = mem_format("%s/snapshots/%s", model, commit ? commit : revision);
	free(commit);
	if (is_folder(path))
		return path;
	free(path);
	return NULL;
}

/* The line of known-models.tsv whose model has this name behind its owner's: that model, to be freed; NULL: none. */
static char *
whole_name(const char *name, size_t length)
{
	char *path = share_path("known-models.tsv"), *found = NULL;
	char *table = file_need(path, &(size_t){ 0 });

	for (char *line = table, *next; *line && !found; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		size_t whole = strcspn(line, "\t\n"), owner = strcspn(line, "/\t\n");
		if (owner < whole && whole - owner - 1 == length &&
		    !strncasecmp(line + owner + 1, name, length))
			found = mem_format("%.*s", (int)whole, line);
	}
	free(table);
	free(path);
	return found;
}

/* Says what a name without its owner's may mean. */
static void
check_owner(const char *name, size_t length, const char *cache)
{
	char *whole = whole_name(name, length);

	if (!whole)
		return;
	char *model = cached_model(cache, whole, (int)strlen(whole));
	if (is_folder(model))
		die("%s: no folder of that name; a model of the Hugging Face Hub is "
		    "called "
		    "%s",
		    name, whole);
	die("%s: no folder of that name; a model of the Hugging Face Hub is called %s; "
	    "'hf "
	    "download %s' fetches it",
	    name, whole, whole);
}

/* Where the cache has it, to be freed, or NULL.  *cache is to be freed, too; *partly: it has something of the model. */
static char *
find_cached(const char *name, char **cache, bool *partly)
{
	int length = (int)strcspn(name, "@");
	const char *revision = name[length] ? name + length + 1 : "main";
	*cache = hub_cache();
	char *model = cached_model(*cache, name, length);
	char *found = snapshot(model, revision);

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
	if (!access(name, F_OK) || !is_hub_name(name))
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

	name = name ? name : variable("MOTES_MODEL");
	if (!name)
		die_usage(
		    "no model is given; use -m MODEL, or set MOTES_MODEL to one for all");
	if (folder_is_weights(name)) /* tok takes tokenizer.json by itself */
		folder_demand(name, "a model");
	if (!access(name, F_OK) || !is_hub_name(name))
		return mem_string(name);
	int length = (int)strcspn(name, "@");
	const char *revision = name[length] ? name + length + 1 : NULL;
	char *found = find_cached(name, &cache, &partly);
	if (!found && (strchr(name, '/') || partly))
		die("%s: no folder of that name, nor a model%s in %s; 'hf download "
		    "%.*s%s%s' fetches it from the Hugging Face Hub",
		    name, partly ? " of that revision" : "", cache, length, name,
		    revision ? " --revision " : "", revision ? revision : "");
	if (!found)
		check_owner(name, (size_t)length, cache);
	free(cache);
	return found ? found : mem_string(name);
}
