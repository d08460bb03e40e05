/*
 * ids_stream COLUMN [ATTRIBUTES [TOKENIZER]] - one record from lines of token ids on standard
 * input; ATTRIBUTES is a JSON object, TOKENIZER the fingerprint that the header is to carry.
 * A line that begins with '+' makes the column a list of lists: it belongs to the row before.
 *
 * ids_stream --rows COLUMN - print a column of vectors from a stream, one a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/stream.h"
#include "text/json.h"

static int
print_rows(const char *name)
{
	struct reader *in = stream_open("-");
	struct record record;
	int index = stream_find(in, name);

	if (index < 0)
		die("no column '%s'", name);
	const struct column *column = stream_column(in, index);
	while (stream_next(in, &record)) {
		int64_t rows =
		    column_elements(column, &record.columns[index], record.rows);
		const float *data = record.columns[index].data;
		for (int64_t i = 0; i < rows; i++)
			for (int64_t j = 0; j < column->shape[0]; j++)
				printf("%.9g%c", (double)*data++,
				    j + 1 < column->shape[0] ? ' ' : '\n');
	}
	stream_close(in);
	return 0;
}

/* Lists of ids with the offsets of the lists and of the rows. */
struct lists {
	int32_t *ids;
	int64_t *ends, *rows;
	size_t count, room, lists, lists_room, row_count, rows_room;
};

static bool
read_lists(struct lists *l)
{
	char *line = NULL;
	size_t length = 0;
	bool deep = false;

	l->ends = mem_grow(l->ends, &l->lists_room, 1, sizeof *l->ends);
	l->rows = mem_grow(l->rows, &l->rows_room, 1, sizeof *l->rows);
	l->ends[0] = l->rows[0] = 0;
	while (getline(&line, &length, stdin) > 0) {
		char *at = line, *end;
		bool more = *at == '+';
		deep |= more;
		at += more;
		for (long id = strtol(at, &end, 10); end != at;
		     id = strtol(at = end, &end, 10)) {
			l->ids = mem_grow(l->ids, &l->room, l->count + 1, sizeof *l->ids);
			l->ids[l->count++] = (int32_t)id;
		}
		l->ends =
		    mem_grow(l->ends, &l->lists_room, ++l->lists + 1, sizeof *l->ends);
		l->ends[l->lists] = (int64_t)l->count;
		l->rows = mem_grow(
		    l->rows, &l->rows_room, (l->row_count += !more) + 1, sizeof *l->rows);
		l->rows[l->row_count] = (int64_t)l->lists;
	}
	free(line);
	return deep;
}

int
main(int argc, char **argv)
{
	struct lists l = { 0 };

	program_name = "ids_stream";
	if (argc > 2 && !strcmp(argv[1], "--rows"))
		return print_rows(argv[2]);
	bool deep = read_lists(&l);
	struct writer *out = stream_create("-", NULL);
	if (argc > 3)
		stream_property(out, "tokenizer", argv[3]);
	int index = stream_add(out,
	    &(struct column){ .name = argv[1], .dtype = DTYPE_I32, .depth = 1 + deep });
	struct record *record = stream_make(out, NULL);
	record->rows = (int64_t)l.row_count;
	record->columns[index].data = l.ids;
	record->columns[index].offsets[0] = deep ? l.rows : l.ends;
	record->columns[index].offsets[1] = l.ends;
	if (argc > 2 && *argv[2]) {
		tree_free(record->attributes);
		record->attributes =
		    json_parse(argv[2], strlen(argv[2]), "attributes", 1);
	}
	stream_put(out, record);
	stream_finish(out);
	free(l.ids);
	free(l.ends);
	free(l.rows);
	return 0;
}
