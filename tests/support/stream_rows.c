/*
 * stream_rows [FILE] - print a stream as text: the attributes of each record, then a line per row with name=value of each
 * column; lists in brackets
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "stream/stream.h"
#include "text/json.h"

static void
print_element(const struct column *column, const void *data, int64_t index)
{
	double value;

	tensor_to_f64(&value,
	    (const char *)data + (size_t)index * dtype_size(column->dtype), column->dtype,
	    1);
	printf("%g", value);
}

/* Elements [from, to), as a string or numbers. */
static void
print_list(const struct column *column, const void *data, int64_t from, int64_t to)
{
	if (column->text) {
		printf("'%.*s'", (int)(to - from), (const char *)data + from);
		return;
	}
	printf("[");
	for (int64_t i = from; i < to; i++) {
		printf("%s", i > from ? " " : "");
		print_element(column, data, i);
	}
	printf("]");
}

static void
print_row(const struct column *column, const struct array *array, int64_t row)
{
	printf(" %s=", column->name);
	if (column->depth == 0) {
		print_element(column, array->data, row);
		return;
	}
	int64_t from = array->offsets[0][row], to = array->offsets[0][row + 1];
	if (column->depth == 1) {
		print_list(column, array->data, from, to);
		return;
	}
	printf("(");
	for (int64_t i = from; i < to; i++)
		print_list(
		    column, array->data, array->offsets[1][i], array->offsets[1][i + 1]);
	printf(")");
}

int
main(int argc, char **argv)
{
	struct record record;

	program_name = "stream_rows";
	struct reader *reader = stream_open(argc > 1 ? argv[1] : "-");
	while (stream_next(reader, &record)) {
		char *attributes = json_text(record.attributes, 0);
		printf("%s\n", attributes);
		free(attributes);
		for (int64_t row = 0; row < record.rows; row++) {
			for (int i = 0; i < stream_columns(reader); i++)
				print_row(
				    stream_column(reader, i), &record.columns[i], row);
			printf("\n");
		}
	}
	stream_close(reader);
	return 0;
}
