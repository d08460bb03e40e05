#include "mts/hits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/terminal.h"
#include "stream/print.h"

static char *
id_line(const struct strings *ids, int64_t number)
{
	return terminal_line(strings_get(ids, number), strings_length(ids, number), 0);
}

/* Prints a hit on a line, cut to `width`. */
static void
print_hit(const struct run *run, const struct hit *hit, const char *score,
    const int widths[3], int64_t rank, int width)
{
	const struct row_text *text = row_texts_get(&run->document_texts, hit->document);
	char *id = id_line(run->documents, hit->document);
	int columns = terminal_columns(id);
	int used =
	    widths[0] + widths[1] + 8 + (columns > widths[2] ? columns : widths[2]);

	printf("  %*lld  %*s  %s", widths[0], (long long)rank, widths[1], score, id);
	if (text) {
		char *line = terminal_line(text->bytes, text->length,
		    width == 0	       ? 0
		    : width > used + 8 ? width - used
				       : 8);
		printf("%*s%s", 2 + (columns < widths[2] ? widths[2] - columns : 0), "",
		    line);
		free(line);
	}
	putchar('\n');
	free(id);
}

/* Prints a query and one line per hit, cut to `width` columns (0: not cut). */
static void
print_query(const struct run *run, int64_t query, int width)
{
	enum { WIDEST_ID = 24 };
	const struct row_text *text = row_texts_get(&run->query_texts, query);
	struct hits hits = run->hits[query];
	char score[64];
	int widths[3] = { snprintf(score, sizeof score, "%lld", (long long)hits.count), 0,
		0 };
	char *line = text ? terminal_line(text->bytes, text->length, width)
			  : id_line(run->queries, query);

	printf("%s\n", line);
	free(line);
	for (int64_t i = 0; i < hits.count; i++) {
		char *id = id_line(run->documents, hits.at[i].document);
		int columns = terminal_columns(id);
		int digits =
		    snprintf(score, sizeof score, "%.4f", (double)hits.at[i].score);
		if (columns > widths[2] && columns <= WIDEST_ID)
			widths[2] = columns;
		if (digits > widths[1])
			widths[1] = digits;
		free(id);
	}
	for (int64_t i = 0; i < hits.count; i++) {
		snprintf(score, sizeof score, "%.4f", (double)hits.at[i].score);
		print_hit(run, &hits.at[i], score, widths, i + 1, width);
	}
	if (hits.count == 0)
		puts("  nothing was found");
}

static void
add_named(struct buffer *to, const struct strings *ids, enum row_ids kind, int64_t number,
    const struct row_text *text)
{
	print_text(to, "{\"id\":");
	if (kind == ROW_NAMES)
		print_string(to, strings_get(ids, number), strings_length(ids, number));
	else
		print_text(to, strings_get(ids, number));
	if (text) {
		print_text(to, ",\"text\":");
		print_string(to, text->bytes, text->length);
	}
}

/* Prints {"id", "text", "hits"} on a line. */
static void
print_query_json(const struct run *run, int64_t query)
{
	struct hits hits = run->hits[query];
	struct buffer to = { 0 };
	char room[NUMBER_ROOM];

	add_named(&to, run->queries, run->query_ids, query,
	    row_texts_get(&run->query_texts, query));
	print_text(&to, ",\"hits\":[");
	for (int64_t i = 0; i < hits.count; i++) {
		double score = (double)hits.at[i].score;
		buffer_add(&to, ",", i > 0);
		add_named(&to, run->documents, run->document_ids, hits.at[i].document,
		    row_texts_get(&run->document_texts, hits.at[i].document));
		print_text(&to, ",\"score\":");
		print_text(
		    &to, isfinite(score) ? number_write(room, score, true) : "null");
		print_text(&to, "}");
	}
	print_text(&to, "]}\n");
	fwrite(to.data, 1, to.used, stdout);
	free(to.data);
}

/* Two near rows, by number. */
struct row_pair {
	float score;
	int64_t first, second; /* first < second */
};

static int
by_rows(const void *a, const void *b)
{
	const struct row_pair *one = a, *other = b;

	if (one->first != other->first)
		return one->first < other->first ? -1 : 1;
	return (one->second > other->second) - (one->second < other->second);
}

static int
by_score(const void *a, const void *b)
{
	const struct row_pair *one = a, *other = b;

	if (one->score != other->score)
		return one->score > other->score ? -1 : 1;
	return by_rows(a, b);
}

/* The distinct pairs, best first; the caller frees them. */
static struct row_pair *
find_pairs(const struct run *run, size_t *count)
{
	size_t most = 0, kept = 0;

	for (int64_t i = 0; i < strings_count(run->queries); i++)
		most += (size_t)run->hits[i].count;
	struct row_pair *pairs = mem_new(most + 1, sizeof *pairs);
	*count = 0;
	for (int64_t i = 0; i < strings_count(run->queries); i++)
		for (int64_t j = 0; j < run->hits[i].count; j++) {
			struct hit hit = run->hits[i].at[j];
			pairs[(*count)++] = (struct row_pair){ hit.score,
				i < hit.document ? i : hit.document,
				i < hit.document ? hit.document : i };
		}
	qsort(pairs, *count, sizeof *pairs, by_rows);
	for (size_t i = 0; i < *count; i++)
		if (i == 0 || by_rows(&pairs[i], &pairs[i - 1]))
			pairs[kept++] = pairs[i];
	*count = kept;
	qsort(pairs, kept, sizeof *pairs, by_score);
	return pairs;
}

/* Prints two lines, the score before the first. */
static void
print_pair(const struct run *run, const struct row_pair *pair, int width)
{
	char *ids[2] = { id_line(run->queries, pair->first),
		id_line(run->queries, pair->second) };
	int columns[2] = { terminal_columns(ids[0]), terminal_columns(ids[1]) };
	int wide = columns[columns[1] > columns[0]];

	for (int i = 0; i < 2; i++) {
		const struct row_text *text =
		    row_texts_get(&run->query_texts, i ? pair->second : pair->first);
		char score[64];
		int used =
		    snprintf(score, sizeof score, "%.4f", (double)pair->score) + 4 + wide;
		printf("%*s  %s", (int)strlen(score), i ? "" : score, ids[i]);
		if (text) {
			char *line = terminal_line(text->bytes, text->length,
			    width == 0	       ? 0
			    : width > used + 8 ? width - used
					       : 8);
			printf("%*s%s", 2 + wide - columns[i], "", line);
			free(line);
		}
		putchar('\n');
		free(ids[i]);
	}
}

static void
print_pair_json(const struct run *run, const struct row_pair *pair)
{
	struct buffer to = { 0 };
	char room[NUMBER_ROOM];
	double score = (double)pair->score;

	print_text(&to, "{\"score\":");
	print_text(&to, isfinite(score) ? number_write(room, score, true) : "null");
	print_text(&to, ",\"pair\":[");
	add_named(&to, run->queries, run->query_ids, pair->first,
	    row_texts_get(&run->query_texts, pair->first));
	print_text(&to, "},");
	add_named(&to, run->queries, run->query_ids, pair->second,
	    row_texts_get(&run->query_texts, pair->second));
	print_text(&to, "}]}\n");
	fwrite(to.data, 1, to.used, stdout);
	free(to.data);
}

/* Prints the pairs of rows of which one is a hit of the other: each once, best first, as two lines or as {"score",
 * "pair"}. Memory: 24 bytes per hit. */
static void
print_pairs(const struct run *run, bool json, int width)
{
	size_t count;
	struct row_pair *pairs = find_pairs(run, &count);

	for (size_t i = 0; i < count; i++) {
		if (json) {
			print_pair_json(run, &pairs[i]);
			continue;
		}
		if (i)
			putchar('\n');
		print_pair(run, &pairs[i], width);
	}
	if (count == 0 && !json)
		puts("nothing was found");
	free(pairs);
}

void
hits_print_run(
    const struct run *run, bool json, bool self, bool first, const struct output *output)
{
	int width = terminal_width(STDOUT_FILENO);

	if (self)
		print_pairs(run, json, width);
	for (int64_t i = 0; !self && i < strings_count(run->queries); i++) {
		if (json) {
			print_query_json(run, i);
			continue;
		}
		if (i || !first)
			putchar('\n');
		print_query(run, i, width);
	}
	if (fflush(stdout) || ferror(stdout))
		die("%s:", output_name(output));
}
