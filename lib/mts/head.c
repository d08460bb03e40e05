#include "mts/mts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status_line.h"
#include "base/terminal.h"
#include "base/utf8.h"
#include "stream/print.h"
#include "stream/stream_format.h"
#include "text/json.h"

enum { NUMBERS = 8, STRINGS = 4, BYTES = 120, PROPERTY = 1000 };

static void
show_member(const struct tree *member)
{
	char *text = member->kind == TREE_STRING ? mem_string(member->string)
						 : json_text(member, 0);
	size_t length = strlen(text);

	printf("property\t");
	terminal_print(member->key);
	putchar('\t');
	if (length > PROPERTY)
		text[utf8_valid(text, BYTES)] = 0;
	terminal_print(text);
	if (length > PROPERTY)
		printf("... %zu bytes", length);
	putchar('\n');
	free(text);
}

void
head_header(const struct reader *reader)
{
	const struct tree *properties = stream_properties(reader);
	const struct tree *history = stream_history(reader);

	for (int i = 0; i < stream_columns(reader); i++) {
		char *text = column_text(stream_column(reader, i));
		printf("column\t%s\n", text);
		free(text);
	}
	for (size_t i = 0; i < properties->count; i++)
		show_member(properties->items[i]);
	for (size_t i = 0; i < history->count; i++) {
		const struct tree *entry = history->items[i];
		if (entry->kind != TREE_OBJECT || !tree_get(entry, "command")) {
			char *text = json_text(entry, 0);
			printf("history\t%s\n", text);
			free(text);
			continue;
		}
		printf("history\t");
		terminal_print(tree_string(entry, "command", ""));
		if (tree_get(entry, "seed"))
			printf("\tseed %lld", (long long)tree_integer(entry, "seed", 0));
		putchar('\n');
	}
}

/* The first bytes of a text, cut between characters. */
static void
show_text(struct buffer *to, const char *bytes, size_t length)
{
	size_t shown = length;

	if (length > BYTES)
		for (shown = BYTES;
		     shown && ((unsigned char)bytes[shown] & 0xC0) == 0x80;)
			shown--;
	print_string(to, bytes, shown);
	if (shown < length)
		print_format(to, "... %zu bytes", length);
}

/* Numbers first..first+count-1 of the data. */
static void
show_numbers(struct buffer *to, const struct column *column, const void *data,
    int64_t first, int64_t count)
{
	print_text(to, "[");
	for (int64_t i = 0; i < count; i++) {
		if (count > NUMBERS && i == NUMBERS - 2) {
			print_text(to, " ...");
			i = count - 1;
		}
		if (i)
			print_text(to, " ");
		print_number(to, column->dtype, data, first + i);
	}
	print_text(to, "]");
	if (count > NUMBERS)
		print_format(to, " %lld numbers", (long long)count);
}

static void
show_list(struct buffer *to, const struct column *column, const void *data, int64_t first,
    int64_t last)
{
	int64_t width =
	    (int64_t)(column_element_size(column) / dtype_size(column->dtype));

	if (column->text)
		show_text(to, (const char *)data + first, (size_t)(last - first));
	else
		show_numbers(to, column, data, first * width, (last - first) * width);
}

static void
show_value(struct buffer *to, const struct column *column, const struct array *array,
    int64_t row)
{
	const int64_t *outer = array->offsets[0], *inner = array->offsets[1];

	if (column->depth == 0 && column->rank == 0) {
		print_number(to, column->dtype, array->data, row);
	} else if (column->depth == 0) {
		show_list(to, column, array->data, row, row + 1);
	} else if (column->depth == 1) {
		show_list(to, column, array->data, outer[row], outer[row + 1]);
	} else {
		int64_t count = outer[row + 1] - outer[row];
		print_format(to, "%lld lists", (long long)count);
		for (int64_t i = 0; i < count && i < STRINGS; i++) {
			int64_t list = outer[row] + i;
			print_text(to, i ? ", " : ": ");
			show_list(to, column, array->data, inner[list], inner[list + 1]);
		}
		if (count > STRINGS)
			print_text(to, ", ...");
	}
}

static void
show_row(struct buffer *to, const struct reader *reader, const struct record *record,
    int64_t row)
{
	for (int i = 0; i < stream_columns(reader); i++) {
		char *name = mem_string(stream_column(reader, i)->name);
		utf8_plain(name);
		print_format(to, "\t%s\t", name);
		free(name);
		show_value(to, stream_column(reader, i), &record->columns[i], row);
		print_text(to, "\n");
	}
}

static void
show_rows(struct reader *reader, int64_t rows)
{
	struct record record;
	struct buffer to = { 0 };
	int64_t shown = 0;

	while (shown < rows && stream_next(reader, &record)) {
		char *attributes = json_text(record.attributes, 0);
		status_line_stop();
		printf("\nrecord %lld\t%lld rows\t%s\n",
		    (long long)stream_records(reader), (long long)record.rows,
		    attributes);
		free(attributes);
		for (int64_t row = 0; row < record.rows && shown < rows; row++) {
			to.used = 0;
			print_format(&to, "row %lld\n", (long long)++shown);
			show_row(&to, reader, &record, row);
			fwrite(to.data, 1, to.used, stdout);
		}
		if (fflush(
			stdout)) /* readers get each record at once; output_finish reports the error */
			break;
	}
	free(to.data);
}

void
head_print(struct reader *reader, int64_t rows)
{
	head_header(reader);
	show_rows(reader, rows);
}

/* As JSON. ------------------------------------------------------------------------- */

void
head_members(struct buffer *to, const struct reader *reader)
{
	char *properties = json_text(stream_properties(reader), 0),
	     *history = json_text(stream_history(reader), 0);

	print_format(to, "\"properties\":%s,\"history\":%s", properties, history);
	free(properties);
	free(history);
}

static void
json_header(const struct reader *reader)
{
	struct tree *columns = tree_list();
	struct buffer to = { 0 };

	for (int i = 0; i < stream_columns(reader); i++)
		tree_add(columns, column_tree(stream_column(reader, i)));
	char *text = json_text(columns, 0);
	print_format(&to, "{\"columns\":%s,", text);
	head_members(&to, reader);
	print_text(&to, "}\n");
	fwrite(to.data, 1, to.used, stdout);
	free(to.data);
	free(text);
	tree_free(columns);
}

void
head_json(struct reader *reader, int64_t rows)
{
	struct record record;
	struct buffer to = { 0 };
	int64_t shown = 0;

	json_header(reader);
	while (shown < rows && stream_next(reader, &record)) {
		char *attributes = json_text(record.attributes, 0);
		status_line_stop();
		for (int64_t row = 0; row < record.rows && shown < rows; row++) {
			to.used = 0;
			print_format(&to,
			    "{\"row\":%lld,\"record\":%lld,\"attributes\":%s,\"values\":",
			    (long long)++shown, (long long)stream_records(reader),
			    attributes);
			print_object(&to, reader, NULL, stream_columns(reader),
			    record.columns, row);
			print_text(&to, "}\n");
			fwrite(to.data, 1, to.used, stdout);
		}
		free(attributes);
		if (fflush(stdout))
			break;
	}
	free(to.data);
}
