#include "text/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

_Noreturn static void
fail(const char *file, int64_t number, size_t column, const char *what)
{
	die("%s:%lld: value %zu: %s", file, (long long)number, column, what);
}

/* Reads a quoted value from after its opening quote; moves *at behind the closing one. */
static struct tree *
quoted(const char **at, const char *stop, const char *file, int64_t number, size_t column)
{
	char *text = mem_new((size_t)(stop - *at) + 1, 1);
	size_t length = 0;

	for (;; ++*at) {
		if (*at == stop)
			fail(file, number, column, "its quote is never closed");
		if (**at == '"' && (*at + 1 == stop || (*at)[1] != '"'))
			break;
		*at += **at == '"';
		text[length++] = **at;
	}
	if (++*at < stop && **at != ',')
		fail(file, number, column,
		    "there is text behind its closing quote; write quotes inside a value twice");
	struct tree *value = tree_of_bytes(text, length);
	free(text);
	return value;
}

static struct tree *
plain(const char **at, const char *stop, const char *file, int64_t number, size_t column)
{
	const char *comma = memchr(*at, ',', (size_t)(stop - *at)), *from = *at, *quote;

	*at = comma ? comma : stop;
	quote = memchr(from, '"', (size_t)(*at - from));
	if (quote && quote > from && (quote[-1] == ';' || quote[-1] == '\t'))
		fail(file, number, column,
		    "a quote behind a semicolon or a tab; fields are separated by commas in CSV, by tabs in TSV");
	if (quote)
		fail(file, number, column,
		    "a quote inside a value that does not begin with one; put the value in quotes and write that quote twice");
	return tree_of_bytes(from, (size_t)(*at - from));
}

struct tree *
csv_values(const char *record, size_t length, const char *file, int64_t number)
{
	const char *stop = record + length - (length && record[length - 1] == '\r');
	struct tree *values = tree_list();

	for (const char *at = record; at <= stop; at++) { /* at++ skips the comma */
		bool quote = at < stop && *at == '"';
		size_t column = values->count + 1;
		at += quote;
		tree_add(
		    values, (quote ? quoted : plain)(&at, stop, file, number, column));
	}
	return values;
}
