/*
 * pairs_stream [ATTRIBUTES] - lines of token ids on standard input to a stream of training batches
 *
 * A line is a row: the ids of its query, document and any number of negatives, separated by tabs;
 * a blank line ends a record.  ATTRIBUTES is a JSON object given to every record, which gets
 * "step", its number from 0, as well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/mem.h"
#include "stream/stream.h"
#include "text/json.h"

static const struct cli cli = { "pairs_stream", "", "", (struct cli_option[]){ { 0 } },
	NULL, NULL, NULL, NULL };

struct list {
	int32_t *ids;
	int64_t *offsets, count; /* offsets: [count + 1] */
	size_t ids_capacity, offsets_capacity;
};

static void
start(struct list *list)
{
	list->count = 0;
	list->offsets =
	    mem_grow(list->offsets, &list->offsets_capacity, 1, sizeof *list->offsets);
	list->offsets[0] = 0;
}

static void
drop(struct list *list)
{
	free(list->ids);
	free(list->offsets);
}

static void
add(struct list *list, char *text)
{
	int64_t used = list->offsets[list->count];

	for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		list->ids = mem_grow(
		    list->ids, &list->ids_capacity, (size_t)used + 1, sizeof *list->ids);
		list->ids[used++] = atoi(word);
	}
	list->offsets = mem_grow(list->offsets, &list->offsets_capacity,
	    (size_t)list->count + 2, sizeof *list->offsets);
	list->offsets[++list->count] = used;
}

int
main(int argc, char **argv)
{
	enum { MOST = 1 << 16 };
	struct list query = { 0 }, document = { 0 }, negatives = { 0 };
	int64_t *rows_offsets = mem_zero(MOST, sizeof *rows_offsets), rows = 0, step = 0;
	char *line = NULL;
	size_t capacity = 0;

	cli_start(&cli, argc, argv);
	struct tree *attributes =
	    argc > 1 ? json_parse(argv[1], strlen(argv[1]), "attributes", 1)
		     : tree_object();
	struct writer *out = stream_create("-", NULL);
	int q = stream_add(
	    out, &(struct column){ .name = "query.ids", .dtype = DTYPE_I32, .depth = 1 });
	int d = stream_add(out,
	    &(struct column){ .name = "document.ids", .dtype = DTYPE_I32, .depth = 1 });
	int n = stream_add(out,
	    &(struct column){ .name = "negatives.ids", .dtype = DTYPE_I32, .depth = 2 });

	start(&query);
	start(&document);
	start(&negatives);
	for (;;) {
		ssize_t length = getline(&line, &capacity, stdin);
		if (length > 1) {
			line[strcspn(line, "\n")] = 0;
			char *rest = line;
			add(&query, strsep(&rest, "\t"));
			add(&document, strsep(&rest, "\t"));
			for (char *negative; (negative = strsep(&rest, "\t"));)
				add(&negatives, negative);
			rows_offsets[++rows] = negatives.count;
			continue;
		}
		if (rows) {
			struct record *record = stream_make(out, NULL);
			record->rows = rows;
			for (size_t i = 0; i < attributes->count; i++)
				tree_set(record->attributes, attributes->items[i]->key,
				    tree_copy(attributes->items[i]));
			tree_set(record->attributes, "step", tree_of_integer(step++));
			record->columns[q] =
			    (struct array){ { query.offsets }, query.ids };
			record->columns[d] =
			    (struct array){ { document.offsets }, document.ids };
			record->columns[n] =
			    (struct array){ { rows_offsets, negatives.offsets },
				    negatives.ids };
			stream_put(out, record);
			start(&query);
			start(&document);
			start(&negatives);
			rows = 0;
		}
		if (length < 0)
			break;
	}
	stream_finish(out);
	drop(&query);
	drop(&document);
	drop(&negatives);
	tree_free(attributes);
	free(rows_offsets);
	free(line);
	return 0;
}
