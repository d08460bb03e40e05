#include "text/tsv.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"

static struct tree *
values_of(const char *line, size_t length)
{
	const char *stop = line + length - (length && line[length - 1] == '\r');
	struct tree *values = tree_list();

	while (line <= stop) {
		const char *tab = memchr(line, '\t', (size_t)(stop - line));
		const char *end = tab ? tab : stop;
		tree_add(values, tree_of_bytes(line, (size_t)(end - line)));
		line = end + 1;
	}
	return values;
}

struct tree *
tsv_names_of(struct tree *values, const char *file, int64_t number)
{
	for (size_t i = 0; i < values->count; i++) {
		const struct tree *name = values->items[i];
		if (!name->length)
			die("%s:%lld: column %zu has no name", file, (long long)number,
			    i + 1);
		for (size_t j = 0; j < i; j++)
			if (tree_equal(values->items[j], name))
				die("%s:%lld: two columns are called '%s'", file,
				    (long long)number, name->string);
	}
	return values;
}

struct tree *
tsv_row_of(
    const struct tree *names, struct tree *values, const char *file, int64_t number)
{
	if (values->count != names->count)
		die("%s:%lld: %zu fields where the header line has %zu", file,
		    (long long)number, values->count, names->count);
	values->kind = TREE_OBJECT; /* names are unique: no search */
	for (size_t i = 0; i < values->count; i++)
		values->items[i]->key = mem_string(names->items[i]->string);
	return values;
}

struct tree *
tsv_names(const char *line, size_t length, const char *file, int64_t number)
{
	return tsv_names_of(values_of(line, length), file, number);
}

struct tree *
tsv_row(const struct tree *names, const char *line, size_t length, const char *file,
    int64_t number)
{
	return tsv_row_of(names, values_of(line, length), file, number);
}

int
tsv_cut(const char *line, struct tsv_column *columns, int most)
{
	const char *gap = strchr(line, '\t') ? "\t" : " ";
	const char *end = line + strcspn(line, "\r");
	int count = 0;

	line += strspn(line, gap);
	while (line < end) {
		size_t length = strcspn(line, gap), left = (size_t)(end - line);
		if (count == most)
			return most + 1;
		length = length < left ? length : left;
		columns[count++] = (struct tsv_column){ line, length };
		line += length;
		line += strspn(line, gap);
	}
	return count;
}

void
tsv_check_id(const char *file, const char *id, size_t length, const char *what)
{
	if (length == 0 || strcspn(id, "\t\r\n") != length)
		die("%s: the id '%.100s' is empty or has a tab, an end of line or a NUL "
		    "in it, and there are columns and lines in %s; rename it",
		    file, id, what);
}
