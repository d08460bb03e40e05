#include "geometry/topics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/status_line.h"
#include "base/strings.h"
#include "geometry/clusterings.h"
#include "geometry/stop_words.h"
#include "stream/values.h"
#include "text/datafile.h"
#include "text/lines.h"
#include "text/tsv.h"
#include "geometry/words.h"

/* What was read of the texts. */
struct corpus {
	const struct topics_options *options;
	struct strings *names;
	struct numbers texts;  /* [words]: in how many texts a word is */
	struct numbers last;   /* [words]: the last of them, from 1 */
	struct numbers counts; /* [words]: n(w) */
	struct numbers words;  /* of all texts, one after another */
	struct numbers ends;   /* [texts]: of a text's words */
	struct buffer word;
};

struct topics {
	struct corpus *corpus;
	const struct clusterings *clusterings;
	int32_t *cluster;	  /* [texts] */
	int32_t clusters, filled; /* those with texts */
	int64_t *size;		  /* [clusters] */
	int64_t *order;		  /* [clusters]: those with most texts first */
	bool *counted;		  /* [words] */
	double average;		  /* A */
};

static void
note_word(struct corpus *corpus)
{
	bool fresh;
	int64_t text = (int64_t)corpus->ends.count + 1;
	int64_t number =
	    strings_add(corpus->names, corpus->word.data, corpus->word.used, &fresh);

	if (fresh) {
		numbers_add(&corpus->texts, 0);
		numbers_add(&corpus->last, 0);
		numbers_add(&corpus->counts, 0);
	}
	corpus->texts.data[number] += corpus->last.data[number] != text;
	corpus->last.data[number] = text;
	corpus->counts.data[number]++;
	numbers_add(&corpus->words, number);
}

static int
text_column(const struct reader *reader, const char *wanted)
{
	const char *name = wanted ? wanted : "text";
	int column = stream_find(reader, name);

	if (column < 0)
		die("%s: there is no column '%s' of texts; name it with --text, and keep texts with --keep of tok",
		    stream_name(reader), name);
	values_single(reader, column, 0);
	if (!values_are_text(stream_column(reader, column)))
		die("%s: column '%s' has numbers, no texts", stream_name(reader), name);
	return column;
}

static void
look(void *with, const struct reader *reader, const struct record *record)
{
	struct corpus *corpus = with;
	int column = text_column(reader, corpus->options->text);
	char room[VALUES_ROOM];

	for (int64_t row = 0; row < record->rows; row++) {
		size_t length, at = 0;
		const char *text = values_text(stream_column(reader, column),
		    &record->columns[column], row, room, &length);
		while (words_next(text, length, &at, &corpus->word))
			if (words_length(&corpus->word) >= (size_t)corpus->options->least)
				note_word(corpus);
		numbers_add(&corpus->ends, (int64_t)corpus->words.count);
	}
}

static void
stop_text(struct topics *topics, const char *text, size_t length)
{
	struct corpus *corpus = topics->corpus;
	size_t at = 0;

	while (words_next(text, length, &at, &corpus->word)) {
		int64_t number =
		    strings_find(corpus->names, corpus->word.data, corpus->word.used);
		if (number >= 0)
			topics->counted[number] = false;
	}
}

/* Take out the words of a file. */
static void
stop(struct topics *topics, const char *path)
{
	struct datafile *file = datafile_open(path, DATAFILE_LINES);
	const struct tree *line;

	while ((line = datafile_next(file)))
		stop_text(topics, line->items[0]->string, line->items[0]->length);
	datafile_close(file);
}

static void
choose_words(struct topics *topics)
{
	const struct corpus *corpus = topics->corpus;
	const struct topics_options *options = corpus->options;
	int64_t words = strings_count(corpus->names), all = 0;
	double texts = (double)corpus->ends.count;

	topics->counted = mem_new((size_t)words + 1, sizeof *topics->counted);
	for (int64_t i = 0; i < words; i++)
		topics->counted[i] =
		    (double)corpus->texts.data[i] / texts <= options->most;
	if (options->stop)
		stop(topics, options->stop);
	else if (!options->all)
		stop_text(topics, stop_words_english, strlen(stop_words_english));
	for (int64_t i = 0; i < words; i++)
		all += topics->counted[i] ? corpus->counts.data[i] : 0;
	if (all == 0)
		die("no word of the texts counts: of %lld that are long enough all are in too many texts or stopped",
		    (long long)words);
	topics->average = (double)all / topics->filled;
}

static void
put_in_clusters(struct topics *topics, const struct topics_options *options)
{
	int64_t rows = topics->clusterings->rows;

	topics->cluster = mem_new((size_t)rows, sizeof *topics->cluster);
	topics->clusters = clusterings_assign(
	    topics->clusterings, 0, options->clusters, options->seed, topics->cluster);
	topics->size = mem_zero((size_t)topics->clusters, sizeof *topics->size);
	topics->order = mem_new((size_t)topics->clusters, sizeof *topics->order);
	for (int64_t i = 0; i < rows; i++)
		topics->filled += topics->size[topics->cluster[i]]++ == 0;
	if (topics->filled == 1)
		die("%s: k-means puts all texts into one cluster: its vectors are all the same",
		    topics->clusterings->list[0].name);
	for (int32_t i = 0; i < topics->clusters; i++) {
		int32_t at = i;
		for (; at && topics->size[topics->order[at - 1]] < topics->size[i]; at--)
			topics->order[at] = topics->order[at - 1];
		topics->order[at] = i;
	}
}

/* A word of the cluster at hand. */
struct entry {
	const char *word;
	int64_t count;
	double weight;
};

static int
by_weight(const void *a, const void *b)
{
	const struct entry *one = a, *two = b;
	int order = (two->weight > one->weight) - (two->weight < one->weight);

	return order ? order : strcmp(one->word, two->word);
}

/* The words of a cluster, heaviest first; `counts` [words] are zero before and after. */
static struct entry *
weigh(const struct topics *topics, int32_t cluster, int64_t *counts, size_t *count)
{
	const struct corpus *corpus = topics->corpus;
	struct numbers there = { 0 };

	for (int64_t text = 0; text < (int64_t)corpus->ends.count; text++) {
		int64_t at = text ? corpus->ends.data[text - 1] : 0;
		if (topics->cluster[text] != cluster)
			continue;
		for (; at < corpus->ends.data[text]; at++) {
			int64_t word = corpus->words.data[at];
			if (topics->counted[word] && counts[word]++ == 0)
				numbers_add(&there, word);
		}
	}
	struct entry *entries = mem_new(there.count + 1, sizeof *entries);
	for (size_t i = 0; i < there.count; i++) {
		int64_t word = there.data[i];
		double all = (double)corpus->counts.data[word];
		entries[i] =
		    (struct entry){ strings_get(corpus->names, word), counts[word],
			    (double)counts[word] * log1p(topics->average / all) };
		counts[word] = 0;
	}
	*count = there.count;
	qsort(entries, there.count, sizeof *entries, by_weight);
	free(there.data);
	return entries;
}

/* Whether it is the rows that group(1) put into no group. */
static bool
is_none(const struct topics *topics, int32_t cluster)
{
	const struct topics_options *options = topics->corpus->options;
	const struct strings *kinds = topics->clusterings->list[0].kinds;

	return kinds && !options->label && !strcmp(strings_get(kinds, cluster), "-1");
}

static void
print(const struct topics *topics, int top)
{
	static const char *const heads[] = { "cluster", "size", "word", "count", "weight",
		NULL };
	const struct clustering *clustering = &topics->clusterings->list[0];
	const struct lines lines = { stdout, false, 3 };
	int64_t *counts =
	    mem_zero((size_t)strings_count(topics->corpus->names) + 1, sizeof *counts);
	int silent = 0;

	lines_head(&lines, heads);
	for (int32_t i = 0; i < topics->clusters; i++) {
		int32_t cluster = (int32_t)topics->order[i];
		size_t count;
		if (is_none(topics, cluster))
			continue;
		struct entry *entries = weigh(topics, cluster, counts, &count);
		char *name = clustering->kinds
				 ? mem_string(strings_get(clustering->kinds, cluster))
				 : mem_format("%d", i + 1);
		char *size = mem_format("%lld", (long long)topics->size[cluster]);
		tsv_check_id("the table", name, strlen(name), "a table");
		silent += count == 0 && topics->size[cluster] > 0;
		for (size_t j = 0; j < count && j < (size_t)top; j++)
			lines_put(&lines,
			    (const char *const[]){ name, size, entries[j].word },
			    (double[]){ (double)entries[j].count, entries[j].weight },
			    (const char *const[]){ NULL, NULL }, 2);
		free(name);
		free(size);
		free(entries);
	}
	if (silent)
		warn("%d cluster%s no word that counts", silent,
		    silent == 1 ? " has" : "s have");
	free(counts);
}

static const char *
label_of(const struct topics_options *options)
{
	return options->label || options->clusters ? options->label : "group";
}

static struct clusterings *
read_texts(const char *path, struct corpus *corpus)
{
	const struct topics_options *options = corpus->options;
	const char *label = label_of(options);

	return clusterings_read(&path, 1,
	    &(struct clusterings_options){ .labels = &label,
		.label_count = label != NULL,
		.fields = &options->field,
		.field_count = options->field != NULL,
		.clusters = options->clusters,
		.look = look,
		.with = corpus });
}

void
topics_print(const char *path, const struct topics_options *options)
{
	struct corpus corpus = { .options = options, .names = strings_new() };
	struct topics topics = { .corpus = &corpus };
	struct clusterings *clusterings = read_texts(path, &corpus);

	topics.clusterings = clusterings;
	put_in_clusters(&topics, options);
	choose_words(&topics);
	status_line_stop();
	print(&topics, options->top);
	free(topics.cluster);
	free(topics.size);
	free(topics.order);
	free(topics.counted);
	clusterings_free(clusterings);
	strings_free(corpus.names);
	free(corpus.texts.data);
	free(corpus.last.data);
	free(corpus.counts.data);
	free(corpus.words.data);
	free(corpus.ends.data);
	free(corpus.word.data);
}
