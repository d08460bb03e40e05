#include "tsv.h"

#include <string.h>

#include "err.h"
#include "mem.h"

/* The next value of a line, up to `stop`; *line moves behind it. */
static struct tree *
next_value(const char **line, const char *stop)
{
	const char *tab = memchr(*line, '\t', (size_t)(stop - *line));
	struct tree *value = tree_of_bytes(*line, (size_t)((tab ? tab : stop) - *line));

	*line = tab ? tab + 1 : stop + 1;
	return value;
}

static const char *
end_of(const char *line, size_t length)
{
	return line + length - (length && line[length - 1] == '\r');
}

struct tree *
tsv_names(const char *line, size_t length, const char *file, int64_t number)
{
	const char *stop = end_of(line, length);
	struct tree *names = tree_list();

	while (line <= stop) {
		struct tree *name = next_value(&line, stop);
		if (!name->length)
			die("%s:%lld: column %zu has no name", file, (long long)number,
			    names->count + 1);
		for (size_t i = 0; i < names->count; i++)
			if (tree_equal(names->items[i], name))
				die("%s:%lld: two columns are called '%s'", file,
				    (long long)number, name->string);
		tree_add(names, name);
	}
	return names;
}

struct tree *
tsv_row(const struct tree *names, const char *line, size_t length, const char *file,
    int64_t number)
{
	const char *stop = end_of(line, length);
	struct tree *row = tree_object();
	size_t column = 0;

	for (; line <= stop; column++) {
		struct tree *value = next_value(&line, stop);
		if (column >= names->count) {
			tree_free(value);
			continue;
		}
		value->key = mem_string(names->items[column]->string);
		tree_add(row, value); /* names are unique: no search */
	}
	if (column != names->count)
		die("%s:%lld: %zu fields where the header line has %zu", file,
		    (long long)number, column, names->count);
	return row;
}
