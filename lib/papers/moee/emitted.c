#include "papers/moee/emitted.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

static const struct {
	const char *ending, *what;
} kinds[PARTS] = { { ".hs", "hidden states" }, { ".rw", "routing weights" } };

const char *
emitted_kind(int kind)
{
	return kinds[kind].what;
}

const char *
emitted_made(const struct emitted *emitted, int kind)
{
	return emitted->at[0].parts[kind].width
		   ? values_kind(emitted->reader, emitted->at[0].parts[kind].column)
		   : NULL;
}

/* The length of X if the column is X.hs or X.rw, else 0. */
static size_t
stem(const struct column *column, int kind)
{
	const char *ending = kinds[kind].ending;
	size_t length = strlen(column->name), end = strlen(ending);

	bool vectors = dtype_is_float(column->dtype) || column->dtype == DTYPE_I8 ||
		       column->dtype == DTYPE_U8; /* codes: values_width refuses them */

	return vectors && column->rank > 0 && length > end &&
		       !strcmp(column->name + length - end, ending)
		   ? length - end
		   : 0;
}

static struct emitted_field *
field_of(struct emitted *emitted, const char *name, size_t length)
{
	for (int i = 0; i < emitted->count; i++) {
		struct emitted_field *field = &emitted->at[i];
		if (strlen(field->name) == length && !strncmp(field->name, name, length))
			return field;
	}
	emitted->at =
	    mem_resize(emitted->at, (size_t)emitted->count + 1, sizeof *emitted->at);
	struct emitted_field *field = &emitted->at[emitted->count++];
	*field = (struct emitted_field){ .name = mem_format("%.*s", (int)length, name) };
	return field;
}

static void
check_column(const struct reader *reader, const struct column *column)
{
	if (column->rank != 1)
		die("%s: %s has several layers of hidden states; choose one, or their mean: encode --emit hs:layers=mean",
		    stream_name(reader), column->name);
	if (column->depth > 1)
		die("%s: %s has lists of lists of vectors; pool the tokens: encode --emit without pool=tokens",
		    stream_name(reader), column->name);
}

static void
find(struct emitted *emitted, int kind)
{
	struct reader *reader = emitted->reader;

	for (int i = 0; i < stream_columns(reader); i++) {
		const struct column *column = stream_column(reader, i);
		size_t length = stem(column, kind);
		if (!length)
			continue;
		check_column(reader, column);
		struct emitted_field *field = field_of(emitted, column->name, length);
		field->parts[kind].column = i;
		field->parts[kind].width = values_width(reader, i);
		field->lists = column->depth > 0;
	}
}

static const struct column *
column_of(const struct emitted *emitted, const struct emitted_field *field, int kind)
{
	return stream_column(emitted->reader, field->parts[kind].column);
}

static void
check_widths(const struct emitted *emitted, const struct emitted_field *field, int kind)
{
	const struct emitted_field *first = &emitted->at[0];

	if (first->parts[kind].width != field->parts[kind].width)
		die("%s: %s has width %d and %s has %d; encode both with one model",
		    stream_name(emitted->reader), column_of(emitted, first, kind)->name,
		    first->parts[kind].width, column_of(emitted, field, kind)->name,
		    field->parts[kind].width);
}

static void
check_field(
    const struct emitted *emitted, const struct emitted_field *field, const bool *wanted)
{
	const char *stream = stream_name(emitted->reader);

	for (int kind = 0; kind < PARTS; kind++) {
		if (!wanted[kind])
			continue;
		if (!field->parts[kind].width)
			die("%s: there is no column '%s%s' of %s; encode --emit hs,rw makes it",
			    stream, field->name, kinds[kind].ending, kinds[kind].what);
		check_widths(emitted, field, kind);
	}
	if (wanted[PART_HS] && wanted[PART_RW] &&
	    column_of(emitted, field, PART_HS)->depth !=
		column_of(emitted, field, PART_RW)->depth)
		die("%s: of %s.hs and %s.rw one has lists and the other has none; pool both alike",
		    stream, field->name, field->name);
}

struct emitted *
emitted_open(struct reader *reader, bool hs, bool rw)
{
	const bool wanted[PARTS] = { hs, rw };
	struct emitted *emitted = mem_zero(1, sizeof *emitted);

	emitted->reader = reader;
	for (int kind = 0; kind < PARTS; kind++)
		if (wanted[kind])
			find(emitted, kind);
	if (!emitted->count && stream_columns(reader) == 0)
		die("%s: it has no columns; was the input of the first program empty?",
		    stream_name(reader));
	if (!emitted->count)
		die("%s: there is no column 'X%s' of %s; encode --emit hs,rw makes it",
		    stream_name(reader), kinds[!hs].ending, kinds[!hs].what);
	for (int i = 0; i < emitted->count; i++)
		check_field(emitted, &emitted->at[i], wanted);
	return emitted;
}

static void
load_part(const struct emitted *emitted, struct emitted_field *field, int kind,
    const struct record *record)
{
	struct emitted_part *part = &field->parts[kind];
	struct reader *reader = emitted->reader;
	size_t values = (size_t)field->count * (size_t)part->width;

	part->x = values_floats(stream_column(reader, part->column),
	    &record->columns[part->column], field->count, &part->room);
	for (int64_t i = 0; i < field->count; i++)
		values_refuse_nan(reader, part->column, &record->columns[part->column], i,
		    part->x + i * part->width, part->width);
	if (!part->standard)
		return;
	struct floats *room = &part->standard_room;
	room->data = mem_grow(room->data, &room->capacity, values, sizeof *room->data);
	standardizer_apply(
	    part->standard, room->data, part->x, field->count, stream_name(reader));
	part->x = room->data;
}

static void
check_lists(const struct emitted *emitted, const struct emitted_field *field,
    const struct record *record)
{
	const struct array *hs = &record->columns[field->parts[PART_HS].column],
			   *rw = &record->columns[field->parts[PART_RW].column];

	for (int64_t row = 0; row <= record->rows; row++)
		if (hs->offsets[0][row] != rw->offsets[0][row])
			die("%s: record %lld: row %lld has %lld vectors in %s.hs and %lld in %s.rw; encode both in one pass",
			    stream_name(emitted->reader),
			    (long long)stream_records(emitted->reader), (long long)row,
			    (long long)(hs->offsets[0][row] - hs->offsets[0][row - 1]),
			    field->name,
			    (long long)(rw->offsets[0][row] - rw->offsets[0][row - 1]),
			    field->name);
}

void
emitted_load(struct emitted *emitted, const struct record *record)
{
	for (int i = 0; i < emitted->count; i++) {
		struct emitted_field *field = &emitted->at[i];
		struct emitted_part *parts = field->parts;
		int column = parts[!parts[PART_HS].width].column;
		const struct array *array = &record->columns[column];
		field->count = column_elements(
		    stream_column(emitted->reader, column), array, record->rows);
		field->offsets = field->lists ? array->offsets[0] : NULL;
		if (field->lists && parts[PART_HS].width && parts[PART_RW].width)
			check_lists(emitted, field, record);
		for (int kind = 0; kind < PARTS; kind++)
			if (parts[kind].width)
				load_part(emitted, field, kind, record);
	}
}

/* Pairs. --------------------------------------------------------------------------- */

static int
singles(const struct emitted *emitted)
{
	int count = 0;

	for (int i = 0; i < emitted->count; i++)
		count += !emitted->at[i].lists;
	return count;
}

enum emitted_layout
emitted_layout(const struct emitted *emitted)
{
	int single = singles(emitted);

	if (single == 2 && emitted->count == 2)
		return LAYOUT_PAIRS;
	return single == 1 && emitted->count > 1 ? LAYOUT_LISTS : LAYOUT_OTHER;
}

void
emitted_pairs(const struct emitted *emitted, int64_t rows,
    void (*visit)(void *context, struct emitted_side one, struct emitted_side two),
    void *context)
{
	const struct emitted_field *one = emitted->at;

	while (one->lists)
		one++;
	for (int64_t row = 0; row < rows; row++)
		for (int i = 0; i < emitted->count; i++) {
			const struct emitted_field *two = &emitted->at[i];
			if (two == one)
				continue;
			int64_t at = two->lists ? two->offsets[row] : row;
			int64_t end = two->lists ? two->offsets[row + 1] : row + 1;
			for (; at < end; at++)
				visit(context, (struct emitted_side){ one, row },
				    (struct emitted_side){ two, at });
		}
}

void
emitted_free(struct emitted *emitted)
{
	for (int i = 0; i < emitted->count; i++) {
		for (int kind = 0; kind < PARTS; kind++) {
			free(emitted->at[i].parts[kind].room.data);
			free(emitted->at[i].parts[kind].standard_room.data);
		}
		free(emitted->at[i].name);
	}
	free(emitted->at);
	free(emitted);
}
