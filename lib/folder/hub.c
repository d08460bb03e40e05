#include "folder/hub.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/mem.h"
#include "folder/share.h"

static const char *
variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

char *
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

bool
hub_is_name(const char *name)
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

char *
hub_folder(const char *cache, const char *name, int length)
{
	const char *slash = memchr(name, '/', (size_t)length);
	int org = slash ? (int)(slash - name) : 0;

	return slash ? mem_format("%s/models--%.*s--%.*s", cache, org, name,
			   length - org - 1, slash + 1)
		     : mem_format("%s/models--%.*s", cache, length, name);
}

/* The line of share/known-models.tsv that is of ORG/NAME, without its end, to be freed; NULL: there is none. */
static char *
known_line(const char *name, size_t length)
{
	char *path = share_path("known-models.tsv"), *found = NULL;
	char *table = file_need(path, &(size_t){ 0 });

	for (char *line = table, *next; *line && !found; line = next) {
		size_t all = strcspn(line, "\n"), whole = strcspn(line, "\t\n"),
		       owner = strcspn(line, "/\t\n");
		next = line + all + (line[all] == '\n');
		if (owner < whole && whole - owner - 1 == length &&
		    !strncasecmp(line + owner + 1, name, length))
			found = mem_format("%.*s", (int)all, line);
	}
	free(table);
	free(path);
	return found;
}

char *
hub_whole_name(const char *name, size_t length)
{
	char *line = known_line(name, length);

	if (line)
		line[strcspn(line, "\t")] = 0;
	return line;
}

char *
hub_instruction(const char *name)
{
	enum { COLUMN = 3 };
	char *line = known_line(name, strlen(name)), *at = line;

	for (int i = 0; i < COLUMN && at; i++) {
		at = strchr(at, '\t');
		at += at != NULL;
	}
	if (at)
		at[strcspn(at, "\t")] = 0; /* the column after it */
	char *text = at && *at ? mem_string(at) : NULL, *to = text;
	free(line);
	for (char *from = text; text && *from; from++) {
		bool end = from[0] == '\\' && from[1] == 'n';
		*to++ = end ? '\n' : *from;
		from += end;
	}
	if (text)
		*to = 0;
	return text;
}
