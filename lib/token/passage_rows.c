#include "token/passage_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/input.h"
#include "base/mem.h"
#include "stream/gather.h"
#include "stream/text_column.h"

const struct column passage_columns[2] = { { .name = "start", .dtype = DTYPE_I64 },
	{ .name = "_id", .dtype = DTYPE_U8, .text = true, .depth = 1 } };

struct passage_rows {
	struct passages *passages;
	const struct column *columns;
	int count, text, path, new_columns;
	const char *folder;
	struct text_field head; /* the columns before the text; count 0: none */
	struct record from;
	struct passage_list *lists; /* [rows] */
	size_t rows, rows_capacity;
	size_t row, passage; /* the next one */
	struct row_ref *places;
	size_t places_capacity;
	struct gather *gathers;
	struct array *arrays;
	struct text_column made, ids;
	struct numbers starts;
	int64_t column; /* in its line, of the row's last passage, from 1 */
};

struct passage_rows *
passage_rows_new(struct passages *passages, const struct column *columns, int count,
    const struct text_field *field, int path, int made)
{
	struct passage_rows *cut = mem_zero(1, sizeof *cut);

	*cut = (struct passage_rows){ .passages = passages,
		.columns = columns,
		.count = count,
		.text = field->columns[field->count - 1],
		.head = { .name = field->name,
		    .columns = field->columns,
		    .count = field->count - 1 },
		.path = path,
		.new_columns = made,
		.folder = "",
		.gathers = mem_zero((size_t)count, sizeof *cut->gathers),
		.arrays = mem_zero((size_t)(count + made), sizeof *cut->arrays) };
	return cut;
}

void
passage_rows_folder(struct passage_rows *cut, const char *folder)
{
	cut->folder = folder;
}

/* The text of a row. */
static const char *
text_of(const struct passage_rows *cut, int column, size_t row, size_t *length)
{
	const struct array *array = &cut->from.columns[column];

	*length = (size_t)(array->offsets[0][row + 1] - array->offsets[0][row]);
	return *length ? (const char *)array->data + array->offsets[0][row] : "";
}

static bool
is_rst(const struct passage_rows *cut, size_t row)
{
	size_t length;

	if (cut->path < 0)
		return false;
	const char *path = text_of(cut, cut->path, row, &length);
	return input_name_ends(path, length, ".rst");
}

/* heads: of the rows, or NULL. */
static void
cut_row(const struct passage_rows *cut, size_t row, const struct array *heads)
{
	struct passage_text text = { .rst = is_rst(cut, row) };

	text.text = text_of(cut, cut->text, row, &text.length);
	if (heads) {
		const int64_t *ends = heads->offsets[0] + row;
		text.head = (const char *)heads->data + ends[0];
		text.head_length = (size_t)(ends[1] - ends[0]);
	}
	cut->lists[row].count = 0;
	passages_cut(cut->passages, &text, &cut->lists[row]);
}

void
passage_rows_cut(struct passage_rows *cut, const struct record *from)
{
	size_t old = cut->rows_capacity;

	cut->from = *from;
	cut->rows = (size_t)from->rows;
	cut->lists =
	    mem_grow(cut->lists, &cut->rows_capacity, cut->rows, sizeof *cut->lists);
	for (size_t i = old; i < cut->rows_capacity; i++)
		cut->lists[i] = (struct passage_list){ 0 };
	struct array heads = { 0 };
	if (cut->head.count)
		heads = text_field_texts(&cut->head, from);
#pragma omp parallel for schedule(dynamic, 1) if (cut->rows > 1)
	for (size_t i = 0; i < cut->rows; i++)
		cut_row(cut, i, cut->head.count ? &heads : NULL);
	cut->row = cut->passage = 0;
}

/* The column on which the passage starts, if one before it starts on the same line; else 1. */
static int64_t
column_of(struct passage_rows *cut, const struct passage *passage, const char *text)
{
	const struct passage *before = passage - 1;

	if (!cut->passage || before->line != passage->line)
		return 1;
	for (size_t i = before->from; i < passage->from; i++)
		cut->column +=
		    (text[i] & 0xc0) != 0x80; /* the first byte of a character */
	return cut->column;
}

/* Adds the id of the next passage. */
static void
put_id(struct passage_rows *cut, const struct passage *passage, const char *text)
{
	size_t length;
	const char *path = text_of(cut, cut->path, cut->row, &length);

	cut->column = column_of(cut, passage, text);
	char place[64];
	int digits =
	    snprintf(place, sizeof place, cut->column > 1 ? ":%lld:%lld" : ":%lld",
		(long long)passage->line, (long long)cut->column);
	buffer_add(&cut->ids.bytes, cut->folder, strlen(cut->folder));
	buffer_add(&cut->ids.bytes, path, length);
	buffer_add(&cut->ids.bytes, place, (size_t)digits);
	text_column_end(&cut->ids);
}

static void
put(struct passage_rows *cut, int64_t row)
{
	const struct passage *passage = &cut->lists[cut->row].items[cut->passage];
	size_t length;
	const char *text = text_of(cut, cut->text, cut->row, &length);

	cut->places = mem_grow(
	    cut->places, &cut->places_capacity, (size_t)row + 1, sizeof *cut->places);
	cut->places[row] = (struct row_ref){ cut->from.columns, (int64_t)cut->row };
	text_column_add(&cut->made, text + passage->from, passage->to - passage->from);
	numbers_add(&cut->starts, passage->line);
	if (cut->new_columns > 1)
		put_id(cut, passage, text);
	cut->passage++;
}

bool
passage_rows_next(
    struct passage_rows *cut, int64_t rows, int64_t bytes, struct record *record)
{
	int64_t count = 0;

	text_column_clear(&cut->made);
	text_column_clear(&cut->ids);
	cut->starts.count = 0;
	while (count < rows && (int64_t)cut->made.bytes.used < bytes &&
	       cut->row < cut->rows) {
		if (cut->passage < cut->lists[cut->row].count) {
			put(cut, count++);
		} else {
			cut->row++;
			cut->passage = 0;
		}
	}
	for (int c = 0; c < cut->count && count; c++)
		if (c != cut->text)
			cut->arrays[c] = gather_rows(
			    &cut->gathers[c], &cut->columns[c], c, cut->places, count);
	cut->arrays[cut->text] = text_column_array(&cut->made);
	cut->arrays[cut->count] = (struct array){ .data = cut->starts.data };
	if (cut->new_columns > 1)
		cut->arrays[cut->count + 1] = text_column_array(&cut->ids);
	*record = (struct record){
		.rows = count, .attributes = cut->from.attributes, .columns = cut->arrays
	};
	return count > 0;
}

void
passage_rows_free(struct passage_rows *cut)
{
	for (size_t i = 0; i < cut->rows_capacity; i++)
		free(cut->lists[i].items);
	for (int c = 0; c < cut->count; c++)
		gather_free(&cut->gathers[c]);
	passages_free(cut->passages);
	free(cut->lists);
	free(cut->places);
	free(cut->gathers);
	free(cut->arrays);
	text_column_free(&cut->made);
	text_column_free(&cut->ids);
	free(cut->starts.data);
	text_column_free(&cut->head.joined);
	free(cut);
}
