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
#include "base/utf8.h"
#include "geometry/clusterings.h"
#include "stream/values.h"
#include "text/datafile.h"
#include "text/lines.h"
#include "text/tsv.h"

/* English words of grammar, in lower case, as next_word cuts them: "don't" gives "don" and "t". */
static const char stop_words[] =
    /* articles, and words that point or count */
    "a an the this that these those such same other others another one ones some any "
    "all both each either every few less least more most much many neither no none "
    "several enough own else "
    /* pronouns */
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves "
    "he him his himself she her hers herself it its itself they them their theirs "
    "themselves who whom whose which what whatever whichever whoever someone somebody "
    "something anyone anybody anything everyone everybody everything nobody nothing "
    /* verbs that help others */
    "am is are was were be been being do does did doing done have has had having can "
    "could may might must shall should will would ought cannot let lets "
    /* where words stand to each other */
    "about above across after against along among amongst around as at before behind "
    "below beneath beside besides between beyond by down during except for from in "
    "inside into like near of off on onto out outside over per since than through "
    "throughout till to toward towards under until unto up upon via with within "
    "without "
    /* what joins them */
    "and but or nor so yet if unless because although though while whereas whether "
    "then thus hence therefore however "
    /* when, where, how */
    "again ago almost already also always away back ever even far here how just maybe "
    "never not now often once only perhaps quite rather really soon still there too "
    "very well when whenever where wherever why yes "
    /* pieces around an apostrophe */
    "s t d m o re ve ll ain aren couldn didn doesn don hadn hasn haven isn mightn mustn "
    "needn shan shouldn wasn weren won wouldn";

/* Words. --------------------------------------------------------------------------- */

static void
add_letter(struct buffer *word, int32_t code)
{
	int32_t lower[2];
	int count = utf8_lower(code, lower);

	for (int i = 0; i < count; i++)
		word->used += utf8_encode(lower[i], buffer_room(word, 4));
}

/* Chinese and Japanese have no blanks between words. */
enum script { SPACED, IDEOGRAPHS, HIRAGANA, KATAKANA };

static enum script
script_of(int32_t letter)
{
	if (utf8_is_ideograph(letter) || letter == 0x3005) /* it repeats an ideograph */
		return IDEOGRAPHS;
	if (letter >= 0x3041 && letter <= 0x309F)
		return HIRAGANA;
	return (letter >= 0x30A1 && letter <= 0x30FF) ||
		       (letter >= 0x31F0 && letter <= 0x31FF) ||
		       (letter >= 0xFF66 && letter <= 0xFF9F)
		   ? KATAKANA
		   : SPACED;
}

/*
 * The next word at or after *at, into `word`; false: none is left.  A word is a run of letters of one script with their marks,
 * lower-cased code point by code point: digits, apostrophes and hyphens separate words.  Of a run of ideographs each pair
 * of neighbours is a word, as most Chinese words have two: the next word starts at the second letter of this one.
 */
static bool
next_word(const char *text, size_t length, size_t *at, struct buffer *word)
{
	enum script script = SPACED;
	size_t second = 0;

	word->used = 0;
	while (*at < length) {
		int32_t code;
		size_t bytes = utf8_decode(text + *at, length - *at, &code);
		unsigned traits = code < 0 ? 0 : utf8_traits(code);
		bool letter = traits & UTF8_LETTER;
		bool mark = word->used && traits & UTF8_COMBINING;
		if (word->used && !mark && (!letter || script_of(code) != script))
			return true;
		if (letter && second) {
			*at = second;
			return true;
		}
		if (letter && word->used && script == IDEOGRAPHS)
			second = *at;
		if (letter)
			script = script_of(code);
		*at += bytes;
		if (letter || mark)
			add_letter(word, code);
	}
	return word->used > 0;
}

static size_t
word_length(const struct buffer *word)
{
	size_t count = 0;

	for (size_t i = 0; i < word->used; i++)
		count += ((unsigned char)word->data[i] & 0xC0) != 0x80;
	return count;
}

/* Counts. -------------------------------------------------------------------------- */

/* The words of all texts. */
struct word_tally {
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
	const char *source; /* the stream, for messages */
	struct word_tally *tally;
	const struct clusterings *clusterings;
	int32_t *cluster;	  /* [texts] */
	int32_t clusters, filled; /* those with texts */
	int64_t *size;		  /* [clusters] */
	int64_t *order;		  /* [clusters]: those with most texts first */
	bool *counted;		  /* [words] */
	double average;		  /* A */
};

static void
note_word(struct word_tally *tally)
{
	bool fresh;
	int64_t text = (int64_t)tally->ends.count + 1;
	int64_t number =
	    strings_add(tally->names, tally->word.data, tally->word.used, &fresh);

	if (fresh) {
		numbers_add(&tally->texts, 0);
		numbers_add(&tally->last, 0);
		numbers_add(&tally->counts, 0);
	}
	tally->texts.data[number] += tally->last.data[number] != text;
	tally->last.data[number] = text;
	tally->counts.data[number]++;
	numbers_add(&tally->words, number);
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
	struct word_tally *tally = with;
	int column = text_column(reader, tally->options->text);
	char room[VALUES_ROOM];

	for (int64_t row = 0; row < record->rows; row++) {
		size_t length, at = 0;
		const char *text = values_text(stream_column(reader, column),
		    &record->columns[column], row, room, &length);
		while (next_word(text, length, &at, &tally->word))
			if (word_length(&tally->word) >= (size_t)tally->options->least)
				note_word(tally);
		numbers_add(&tally->ends, (int64_t)tally->words.count);
	}
}

static void
stop_text(struct topics *topics, const char *text, size_t length)
{
	struct word_tally *tally = topics->tally;
	size_t at = 0;

	while (next_word(text, length, &at, &tally->word)) {
		int64_t number =
		    strings_find(tally->names, tally->word.data, tally->word.used);
		if (number >= 0)
			topics->counted[number] = false;
	}
}

/* Removes the words of a file. */
static void
stop(struct topics *topics, const char *path)
{
	struct datafile *file = datafile_open(path, DATAFILE_LINES);
	const struct tree *line;

	while ((line = datafile_next(file)))
		stop_text(topics, line->items[0]->string, line->items[0]->length);
	datafile_warn_repaired(file);
	datafile_close(file);
}

static void
choose_words(struct topics *topics)
{
	const struct word_tally *tally = topics->tally;
	const struct topics_options *options = tally->options;
	int64_t words = strings_count(tally->names), all = 0;
	double texts = (double)tally->ends.count;

	topics->counted = mem_new((size_t)words + 1, sizeof *topics->counted);
	for (int64_t i = 0; i < words; i++)
		topics->counted[i] =
		    (double)tally->texts.data[i] / texts <= options->most;
	if (options->stop)
		stop(topics, options->stop);
	else if (!options->all)
		stop_text(topics, stop_words, strlen(stop_words));
	for (int64_t i = 0; i < words; i++)
		all += topics->counted[i] ? tally->counts.data[i] : 0;
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

struct weighted_word {
	const char *word;
	int64_t count;
	double weight;
};

static int
by_weight(const void *a, const void *b)
{
	const struct weighted_word *one = a, *two = b;
	int order = (two->weight > one->weight) - (two->weight < one->weight);

	return order ? order : strcmp(one->word, two->word);
}

/* The words of a cluster, greatest weights first; `counts` [words] are zero before and after. */
static struct weighted_word *
weigh(const struct topics *topics, int32_t cluster, int64_t *counts, size_t *count)
{
	const struct word_tally *tally = topics->tally;
	struct numbers there = { 0 };

	for (int64_t text = 0; text < (int64_t)tally->ends.count; text++) {
		int64_t at = text ? tally->ends.data[text - 1] : 0;
		if (topics->cluster[text] != cluster)
			continue;
		for (; at < tally->ends.data[text]; at++) {
			int64_t word = tally->words.data[at];
			if (topics->counted[word] && counts[word]++ == 0)
				numbers_add(&there, word);
		}
	}
	struct weighted_word *entries = mem_new(there.count + 1, sizeof *entries);
	for (size_t i = 0; i < there.count; i++) {
		int64_t word = there.data[i];
		double all = (double)tally->counts.data[word];
		entries[i] =
		    (struct weighted_word){ strings_get(tally->names, word), counts[word],
			    (double)counts[word] * log1p(topics->average / all) };
		counts[word] = 0;
	}
	*count = there.count;
	qsort(entries, there.count, sizeof *entries, by_weight);
	free(there.data);
	return entries;
}

/* Are these the rows that group(1) put into no group? */
static bool
is_none(const struct topics *topics, int32_t cluster)
{
	const struct topics_options *options = topics->tally->options;
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
	    mem_zero((size_t)strings_count(topics->tally->names) + 1, sizeof *counts);
	int silent = 0;

	lines_head(&lines, heads);
	for (int32_t i = 0; i < topics->clusters; i++) {
		int32_t cluster = (int32_t)topics->order[i];
		size_t count;
		if (is_none(topics, cluster))
			continue;
		struct weighted_word *entries = weigh(topics, cluster, counts, &count);
		char *name = clustering->kinds
				 ? mem_string(strings_get(clustering->kinds, cluster))
				 : mem_format("%d", i + 1);
		size_t length = clustering->kinds
				    ? strings_length(clustering->kinds, cluster)
				    : strlen(name);
		char *size = mem_format("%lld", (long long)topics->size[cluster]);
		tsv_check_name(topics->source, "label", name, length, "a table");
		silent += count == 0 && topics->size[cluster] > 0;
		for (size_t j = 0; j < count && j < (size_t)top; j++)
			lines_put(&lines,
			    (const char *const[]){ name, size, entries[j].word },
			    (double[]){ (double)entries[j].count, entries[j].weight },
			    NULL, 2);
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
read_texts(const char *path, struct word_tally *tally)
{
	const struct topics_options *options = tally->options;
	const char *label = label_of(options);

	return clusterings_read(&path, 1,
	    &(struct clusterings_options){ .labels = &label,
		.label_count = label != NULL,
		.fields = &options->field,
		.field_count = options->field != NULL,
		.clusters = options->clusters,
		.look = look,
		.with = tally });
}

void
topics_print(const char *path, const struct topics_options *options)
{
	struct word_tally tally = { .options = options, .names = strings_new() };
	struct topics topics = { .source = strcmp(path, "-") != 0 ? path : "<stdin>",
		.tally = &tally };
	struct clusterings *clusterings = read_texts(path, &tally);

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
	strings_free(tally.names);
	free(tally.texts.data);
	free(tally.last.data);
	free(tally.counts.data);
	free(tally.words.data);
	free(tally.ends.data);
	free(tally.word.data);
}
