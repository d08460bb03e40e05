#include "mteb/text_fields.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "sample/task_types.h"
#include "text/datafile.h"

enum { PEEK = 100 };

/* found [TASK_FIELDS]: index of the name that each field has in the first records, or -1.  Returns whether one of these
 * has an instruction. */
static bool
look(int *found, const char *path)
{
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);
	const struct tree *record;
	bool instructed = false;

	for (int f = 0; f < TASK_FIELDS; f++)
		found[f] = -1;
	for (int i = 0; i < PEEK && (record = datafile_next(file)); i++) {
		const struct tree *text = tree_get(record, "instruction");
		instructed |= text && text->kind == TREE_STRING && text->length;
		for (int f = 0; f < TASK_FIELDS; f++)
			for (int n = 0;
			     n < TASK_NAMES && task_fields[f].names[n] && found[f] < 0;
			     n++)
				if (tree_get(record, task_fields[f].names[n]))
					found[f] = n;
	}
	datafile_close(file);
	return instructed;
}

/* The type whose rows have texts of the same names. */
static const char *
same_texts(const char *type)
{
	if (!strcmp(type, "BitextMining"))
		return "STS";
	if (!strcmp(type, "MultilabelClassification") || !strcmp(type, "Regression"))
		return "Classification";
	return type;
}

static char *
appended(char *options, const char *name, const char *found)
{
	bool same = !strcmp(name, found);
	char *longer = mem_format("%s%s-f %s%s%s", options, *options ? " " : "", name,
	    same ? "" : "=", same ? "" : found);

	free(options);
	return longer;
}

char *
text_fields_options(const char *type, const char *path)
{
	int found[TASK_FIELDS], count = 0;
	bool corpus = !strcmp(type, "corpus");
	char *options = mem_string("");

	type = same_texts(type);
	for (int f = 0; f < TASK_FIELDS; f++)
		count += task_fields[f].scored && !strcmp(task_fields[f].type, type);
	if (!count)
		die_usage("'%s' is not a type with all texts in one file", type);
	bool instructed = look(found, path) && !strcmp(type, "queries");
	for (int f = 0; f < TASK_FIELDS; f++) {
		const char *const *names = task_fields[f].names;
		if (!task_fields[f].scored || strcmp(task_fields[f].type, type) ||
		    (corpus && !strcmp(names[0], "title")))
			continue;
		if (found[f] < 0)
			die("%s: there is no '%s' in its first records", path, names[0]);
		if (corpus && found[f - 1] >= 0)
			options = appended(options, "document", "title+text");
		else if (instructed)
			options = appended(options, "query", "text+instruction");
		else
			options = appended(options,
			    count == 1 ? names[found[f]] : names[0], names[found[f]]);
	}
	return options;
}
