#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "mts/mts.h"

void
names_add(struct names *names, const char *name)
{
	names->items =
	    mem_resize(names->items, (size_t)names->count + 1, sizeof *names->items);
	names->items[names->count++] = name;
}

void
names_add_list(struct names *names, char *list)
{
	for (char *name = strtok(list, ","); name; name = strtok(NULL, ","))
		names_add(names, name);
}

void
names_add_rename(struct names *renames, const char *rename)
{
	if (!strchr(rename, '='))
		die_usage("--rename: '%s' is not OLD=NEW", rename);
	names_add(renames, rename);
}
