/* batches FILE - a stream as text: a line "# ATTRIBUTES" per record, then a line per row,
 * column=value by tabs; lists in brackets.  For tests. */
#include <stdio.h>
#include <stdlib.h>

#include "stream/stream.h"
#include "text/json.h"

static void
print_elements(
    const struct column *column, const struct array *array, int64_t from, int64_t to)
{
	if (column->text) {
		fwrite((const char *)array->data + from, 1, (size_t)(to - from), stdout);
		return;
	}
	for (int64_t i = from; i < to; i++)
		printf("%s%lld", i > from ? " " : "",
		    column->dtype == DTYPE_I32
			? (long long)((const int32_t *)array->data)[i]
			: (long long)((const int64_t *)array->data)[i]);
}

static void
print_row(const struct column *column, const struct array *array, int64_t row)
{
	printf("%s=", column->name);
	if (column->depth == 0) {
		print_elements(column, array, row, row + 1);
		return;
	}
	int64_t from = array->offsets[0][row], to = array->offsets[0][row + 1];
	if (column->depth == 1) {
		print_elements(column, array, from, to);
		return;
	}
	for (int64_t i = from; i < to; i++) {
		putchar('[');
		print_elements(
		    column, array, array->offsets[1][i], array->offsets[1][i + 1]);
		putchar(']');
	}
}

int
main(int argc, char **argv)
{
	struct reader *in = stream_open(argc > 1 ? argv[1] : "-");
	struct record record;

	while (stream_next(in, &record)) {
		char *attributes = json_text(record.attributes, 0);
		printf("# %s\n", attributes);
		free(attributes);
		for (int64_t row = 0; row < record.rows; row++)
			for (int c = 0; c < stream_columns(in); c++) {
				print_row(stream_column(in, c), record.columns + c, row);
				putchar(c + 1 < stream_columns(in) ? '\t' : '\n');
			}
	}
	stream_close(in);
	return 0;
}
