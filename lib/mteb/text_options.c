#include "mteb/text_options.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/datafile.h"

enum { PEEK = 100, NAMES = 4 };

/* A text of a type, by the names that files have for it, ours first. */
static const struct text {
	const char *type, *names[NAMES];
} texts[] = {
	{ "STS", { "sentence1", "sent1", "text1" } },
	{ "STS", { "sentence2", "sent2", "text2" } },
	{ "PairClassification", { "sentence1", "sent1", "text1" } },
	{ "PairClassification", { "sentence2", "sent2", "text2" } },
	{ "Classification", { "text", "sentence" } },
	{ "Clustering", { "sentences", "text", "sentence" } },
	{ "Reranking", { "query" } },
	{ "Reranking", { "positive" } },
	{ "Reranking", { "negative" } },
	{ "Summarization", { "human_summaries" } },
	{ "Summarization", { "machine_summaries" } },
	{ "queries", { "text", "query" } },
	{ "corpus", { "title" } },
	{ "corpus", { "text" } },
};
enum { TEXTS = sizeof texts / sizeof *texts };

/* Which of its names each text goes by, or -1, in the first records. */
static void
look(int *found, const char *path)
{
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);
	const struct tree *record;

	for (int t = 0; t < TEXTS; t++)
		found[t] = -1;
	for (int i = 0; i < PEEK && (record = datafile_next(file)); i++)
		for (int t = 0; t < TEXTS; t++)
			for (int n = 0; n < NAMES && texts[t].names[n] && found[t] < 0;
			     n++)
				if (tree_get(record, texts[t].names[n]))
					found[t] = n;
	datafile_close(file);
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
text_options(const char *type, const char *path)
{
	int found[TEXTS], count = 0;
	bool corpus = !strcmp(type, "corpus");
	char *options = mem_string("");

	for (int t = 0; t < TEXTS; t++)
		count += !strcmp(texts[t].type, type);
	if (!count)
		die_usage("'%s' is no type whose texts lie in one file", type);
	look(found, path);
	for (int t = 0; t < TEXTS; t++) {
		const char *const *names = texts[t].names;
		if (strcmp(texts[t].type, type) || (corpus && !strcmp(names[0], "title")))
			continue;
		if (found[t] < 0)
			die("%s: there is no '%s' in its first records", path, names[0]);
		if (corpus && found[t - 1] >= 0)
			options = appended(options, "document", "title+text");
		else
			options = appended(options,
			    count == 1 ? names[found[t]] : names[0], names[found[t]]);
	}
	return options;
}
