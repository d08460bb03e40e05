#include "text/tsv.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"

bool
tsv_unquote(char *text, size_t *length, bool quoted)
{
	size_t made = 0, last = *length - 1;
	bool needed = quoted || *length == 2;

	if (*length < 2 || text[0] != '"' || text[last] != '"')
		return false;
	for (size_t i = 1; i < last; i++) {
		needed |= strchr("\"\t\r\n", text[i]) != NULL;
		if (text[i] == '"' && (++i == last || text[i] != '"'))
			return false;
	}
	if (!needed)
		return false;
	for (size_t i = 1; i < last; i++) {
		i += text[i] == '"';
		text[made++] = text[i];
	}
	*length = made;
	return true;
}

static void
unquote(struct tree *value, bool quoted)
{
	if (tsv_unquote(value->string, &value->length, quoted))
		value->string[value->length] = 0;
}

/* The end of a value; of a quoted one, after the closing quote if a tab or the end of the line follows. */
static const char *
value_end(const char *at, const char *stop, bool quotes)
{
	const char *tab = memchr(at, '\t', (size_t)(stop - at)), *close = at + 1;

	if (!quotes || at == stop || *at != '"')
		return tab ? tab : stop;
	while (close < stop && (*close != '"' || (close + 1 < stop && close[1] == '"')))
		close += 1 + (*close == '"');
	if (close < stop && (close + 1 == stop || close[1] == '\t'))
		return close + 1;
	return tab ? tab : stop;
}

/* quotes: tabs inside quotes do not separate values. */
static struct tree *
cut_values(const char *line, const char *stop, bool quotes)
{
	struct tree *values = tree_list();

	while (line <= stop) {
		const char *end = value_end(line, stop, quotes);
		tree_add(values, tree_of_bytes(line, (size_t)(end - line)));
		line = end + 1;
	}
	return values;
}

/* Splits a line; prefers the reading with `count` values. */
static struct tree *
values_of(const char *line, size_t length, bool quoted, size_t count)
{
	const char *stop = line + length - (length && line[length - 1] == '\r');
	struct tree *values = cut_values(line, stop, false);

	if (values->count > count && memchr(line, '"', length)) {
		struct tree *fewer = cut_values(line, stop, true);
		bool better = fewer->count <= count;
		tree_free(better ? values : fewer);
		values = better ? fewer : values;
	}
	for (size_t i = 0; i < values->count; i++)
		unquote(values->items[i], quoted);
	return values;
}

/* pandas' name of a column without a name: one that no other has. */
static void
name_column(struct tree *names, size_t column, const struct strings *given)
{
	char *name = mem_format("Unnamed: %zu", column);

	while (strings_find(given, name, strlen(name)) >= 0) {
		char *longer = mem_format("%s.1", name);
		free(name);
		name = longer;
	}
	tree_free(names->items[column]);
	names->items[column] = tree_of_string(name);
	names->items[column]->boolean = true;
	free(name);
}

struct tree *
tsv_names_of(struct tree *values, const char *file, int64_t number)
{
	struct strings *given = strings_new();
	bool fresh = true;

	for (size_t i = 0; i < values->count; i++) {
		const struct tree *name = values->items[i];
		if (name->length)
			strings_add(given, name->string, name->length, &fresh);
		if (!fresh)
			die("%s:%lld: two columns are called '%s'", file,
			    (long long)number, name->string);
	}
	for (size_t i = 0; i < values->count; i++)
		if (!values->items[i]->length)
			name_column(values, i, given);
	strings_free(given);
	return values;
}

/* A final comma in the row alone, or in the header alone, makes one value too many or too few. */
static void
settle_last(const struct tree *names, struct tree *values)
{
	size_t count = names->count;

	if (values->count == count + 1 && !values->items[count]->length)
		tree_free(values->items[--values->count]);
	else if (values->count + 1 == count && names->items[count - 1]->boolean)
		tree_add(values, tree_of_string(""));
}

/* Whether a value starts with a quote that is not closed. */
static bool
is_open(const struct tree *values)
{
	for (size_t i = 0; i < values->count; i++) {
		const char *text = values->items[i]->string;
		size_t quotes = 0;
		for (const char *c = text; *c; c++)
			quotes += *c == '"';
		if (*text == '"' && quotes % 2)
			return true;
	}
	return false;
}

/* The likely reason why a row has another number of values than the header line, or "". */
static const char *
reason(const struct tree *names, const struct tree *values)
{
	if (names->count == 1 && strpbrk(names->items[0]->string, ";,\t"))
		return "; fields are separated by commas in CSV, by tabs in TSV";
	if (is_open(values))
		return "; a value in quotes may have an end of line in it in CSV, not in TSV";
	return "";
}

struct tree *
tsv_row_of(
    const struct tree *names, struct tree *values, const char *file, int64_t number)
{
	settle_last(names, values);
	if (values->count != names->count)
		die("%s:%lld: %zu fields where the header line has %zu%s", file,
		    (long long)number, values->count, names->count,
		    reason(names, values));
	values->kind = TREE_OBJECT; /* names are unique: no search */
	for (size_t i = 0; i < values->count; i++)
		values->items[i]->key = mem_string(names->items[i]->string);
	return values;
}

struct tree *
tsv_names(const char *line, size_t length, const char *file, int64_t number, bool *quoted)
{
	const char *stop = line + length - (length && line[length - 1] == '\r');
	struct tree *values = cut_values(line, stop, true);

	*quoted = true;
	for (size_t i = 0; i < values->count; i++) {
		const struct tree *value = values->items[i];
		*quoted &= !value->length || (value->length > 1 && *value->string == '"');
	}
	for (size_t i = 0; i < values->count; i++)
		unquote(values->items[i], *quoted);
	return tsv_names_of(values, file, number);
}

struct tree *
tsv_row(const struct tree *names, bool quoted, const char *line, size_t length,
    const char *file, int64_t number)
{
	return tsv_row_of(
	    names, values_of(line, length, quoted, names->count), file, number);
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
tsv_check_name(
    const char *file, const char *kind, const char *name, size_t length, const char *what)
{
	if (length == 0 || strcspn(name, "\t\r\n") != length)
		die("%s: the %s '%.100s' is empty or has a tab, an end of line or a NUL in it, and there are columns and lines in %s; rename it",
		    file, kind, name, what);
}
