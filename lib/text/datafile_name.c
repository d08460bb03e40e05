/* Formats of files by their names and first bytes. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cli.h"
#include "base/mem.h"
#include "text/datafile.h"

enum datafile_format
datafile_parse(const char *option, const char *name)
{
	static const char *const formats[] = { "jsonl", "tsv", "csv", "lines", NULL };

	return (enum datafile_format)(DATAFILE_JSONL + cli_word(option, name, formats));
}

enum datafile_format
datafile_by_name(const char *name)
{
	static const struct {
		const char *suffix;
		enum datafile_format format;
	} known[] = { { ".jsonl", DATAFILE_JSONL }, { ".ndjson", DATAFILE_JSONL },
		{ ".json", DATAFILE_JSONL }, { ".tsv", DATAFILE_TSV },
		{ ".csv", DATAFILE_CSV }, { ".txt", DATAFILE_LINES } };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (input_name_ends(name, strlen(name), known[i].suffix))
			return known[i].format;
	return DATAFILE_GUESS;
}

char *
datafile_find(const char *dir, const char *stem)
{
	static const char *const endings[] = { "jsonl", "ndjson", "json", "tsv", "csv" };
	struct stat about;

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		for (int j = -1; j < 0 || input_endings[j]; j++) {
			char *path = mem_format("%s/%s.%s%s", dir, stem, endings[i],
			    j < 0 ? "" : input_endings[j]);
			if (!stat(path, &about) && S_ISREG(about.st_mode))
				return path;
			free(path);
		}
	return NULL;
}

#define MARK "\xEF\xBB\xBF" /* byte order mark */

enum datafile_format
datafile_guess(struct input *input)
{
	enum datafile_format format = datafile_by_name(input_name(input));

	if (format != DATAFILE_GUESS)
		return format;
	static const char *const json[] = { "{", "[{", "[ {", "[\n", "[\r\n", MARK "{",
		MARK "[{", MARK "[ {", MARK "[\n", MARK "[\r\n", NULL };
	for (int i = 0; json[i]; i++)
		if (input_starts_with(input, json[i]))
			return DATAFILE_JSONL;
	return DATAFILE_LINES;
}
