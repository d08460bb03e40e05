#include "search/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"

enum { SHOWN = 100 };

/* A writer who does not wait makes larger records. */
enum { FEW_ROWS = 256 };
static const double patience = 0.02; /* seconds */

/* A stream of them. */
struct part {
	struct vectors *vectors;
	char *field;	    /* what is before ".emb" or another last part */
	int id, text, task; /* columns, or -1 */
	enum row_ids ids;
};

struct rows {
	const char *const *paths;
	int count, at; /* streams, and which of them is read */
	const char *unit, *field, *reason, *show;
	const struct rows *like;
	bool any_model, again;
	char *model,
	    *model_stream; /* the first model that a stream names, and the stream; NULL: none yet */
	struct part part;
	struct record record;
	int64_t row, number, first; /* in the record, in all, of this stream's first */
	struct progress *progress;
	struct noted faults[ROW_FAULTS];
	char room[VALUES_ROOM], text_room[VALUES_ROOM], task_room[VALUES_ROOM];
};

void
note(struct noted *noted, const char *id, size_t length)
{
	if (noted->count++ == 0)
		noted->first =
		    mem_format("%.*s", length < SHOWN ? (int)length : SHOWN, id);
}

void
note_tell(struct noted *noted, const char *stream, const char *what)
{
	if (noted->count)
		warn("%s: %lld %s; first: '%s'", stream, (long long)noted->count, what,
		    noted->first);
	free(noted->first);
	*noted = (struct noted){ 0 };
}

static char *
field_of(const struct vectors *vectors)
{
	const char *name = stream_column(vectors->reader, vectors->column)->name;
	const char *end = strrchr(name, '.');

	return mem_format("%.*s", (int)(end ? (size_t)(end - name) : strlen(name)), name);
}

/* The column of the texts that the vectors are of, where it was kept. */
static int
find_text(const struct vectors *vectors, const char *field)
{
	const char *const names[] = { field, "text", NULL };
	int found = -1;

	for (int i = 0; names[i] && found < 0; i++) {
		found = stream_find(vectors->reader, names[i]);
		if (found < 0)
			continue;
		const struct column *column = stream_column(vectors->reader, found);
		if (!column->text || column->depth != 1)
			found = -1;
	}
	return found;
}

static int
find_shown(const struct reader *reader, const char *name)
{
	int found = stream_find(reader, name);

	if (found < 0)
		stream_lacks(reader, name);
	values_single(reader, found, 0);
	return found;
}

static int
find_task(const struct reader *reader, const char *field)
{
	char *expert = mem_format("%s.expert", field);
	int found = values_find(reader, (const char *const[]){ "task", expert, NULL });

	free(expert);
	return found;
}

/* A stream that names no model agrees with two that name different ones. */
static void
agree_model(
    const struct rows *rows, const struct rows *with, const struct vectors *vectors)
{
	if (with && !rows->any_model)
		vectors_agree_model(vectors, with->model, with->model_stream);
}

static struct part
open_part(struct rows *rows, int number)
{
	static const char *const names[] = { "_id", "id", NULL };
	struct reader *reader = stream_open(rows->paths[number]);
	struct part part = { .vectors = vectors_open(reader, rows->field, VECTORS_NAN) };

	if (rows->like)
		vectors_agree(rows->like->part.vectors, part.vectors, rows->any_model);
	agree_model(rows, rows->like, part.vectors);
	agree_model(rows, rows, part.vectors);
	if (!rows->model && vectors_model(part.vectors)) {
		rows->model = mem_string(vectors_model(part.vectors));
		rows->model_stream = mem_string(stream_name(reader));
	}
	part.id = values_find(reader, names);
	part.field = field_of(part.vectors);
	part.text = rows->show ? find_shown(reader, rows->show)
			       : find_text(part.vectors, part.field);
	part.task = find_task(reader, part.field);
	if (part.id < 0 && rows->reason)
		die("%s: there is no column '_id' or 'id', %s", stream_name(reader),
		    rows->reason);
	if (part.id >= 0)
		values_single(reader, part.id, 0);
	part.ids = part.id < 0 ? ROW_PLACES : ROW_NAMES;
	if (part.id >= 0 && !stream_column(reader, part.id)->text &&
	    !dtype_is_float(stream_column(reader, part.id)->dtype))
		part.ids = ROW_NUMBERS;
	return part;
}

static void
close_part(struct part *part)
{
	struct reader *reader = part->vectors->reader;

	free(part->field);
	vectors_close(part->vectors);
	stream_close(reader);
}

/* Two streams of one corpus. */
static void
agree(const struct rows *rows, const struct part *one, const struct part *other)
{
	const struct reader *first = one->vectors->reader,
			    *second = other->vectors->reader;

	vectors_agree(one->vectors, other->vectors, rows->any_model);
	if (one->ids != other->ids)
		die("%s: its rows have %s, those of %s %s: they are no one corpus",
		    stream_name(second),
		    other->ids == ROW_PLACES ? "no ids" : "ids of another kind",
		    stream_name(first), one->ids == ROW_PLACES ? "none" : "ids");
}

void
rows_show(struct rows *rows, const char *column)
{
	rows->show = column;
	rows->part.text = find_shown(rows->part.vectors->reader, column);
}

/* What does not belong to the first is told before hours of work. */
static void
check_others(struct rows *rows)
{
	struct stat status;

	for (int i = 1; i < rows->count; i++) {
		if (stat(rows->paths[i], &status) == 0 && !S_ISREG(status.st_mode))
			continue;
		struct part part = open_part(rows, i);
		agree(rows, &rows->part, &part);
		close_part(&part);
	}
}

struct rows *
rows_open(const char *const *paths, int count, const char *unit, const char *field,
    const struct rows *like, bool any_model, const char *reason)
{
	struct rows *rows = mem_zero(1, sizeof *rows);

	rows->paths = paths;
	rows->count = count;
	rows->unit = unit;
	rows->field = field;
	rows->like = like;
	rows->any_model = any_model;
	rows->reason = reason;
	rows->part = open_part(rows, 0);
	check_others(rows);
	return rows;
}

static void
tell(struct rows *rows)
{
	static const char *const what[ROW_FAULTS] = {
		("embeddings are not finite: their similarities count as -1, as in the reference"),
		"embeddings are zero: their similarities are 0",
		"rows repeat an id: the first one of each id counts"
	};

	for (int i = 0; i < ROW_FAULTS; i++)
		note_tell(&rows->faults[i], rows_stream(rows), what[i]);
}

/* The stream at hand says how far it is. */
static void
watch(struct rows *rows)
{
	if (rows->again || !rows->progress)
		return;
	progress_file(rows->progress);
	stream_watch(rows->part.vectors->reader, rows->progress);
}

/* Step to the next record with rows in it, of this stream or the next; false at the end. */
static bool
next_record(struct rows *rows)
{
	if (rows->unit && !rows->progress && !rows->again) {
		rows->progress =
		    progress_files(rows->unit, (char *const *)rows->paths, rows->count);
		watch(rows);
	}
	rows->row = rows->record.rows = 0;
	for (;;) {
		if (stream_next(rows->part.vectors->reader, &rows->record)) {
			if (rows->record.rows == 0)
				continue;
			vectors_load(rows->part.vectors, &rows->record);
			return true;
		}
		tell(rows);
		if (rows->at + 1 == rows->count)
			return false;
		struct part part = open_part(rows, ++rows->at);
		agree(rows, &rows->part, &part);
		close_part(&rows->part);
		rows->part = part;
		rows->first = rows->number;
		watch(rows);
	}
}

static void
take_id(struct rows *rows, struct row *row)
{
	const struct reader *reader = rows->part.vectors->reader;
	const struct column *column = stream_column(reader, rows->part.id);
	const struct array *array = &rows->record.columns[rows->part.id];

	if (values_missing(column, array, rows->row))
		die("%s: record %lld: row %lld has no '%s'", rows_stream(rows),
		    (long long)stream_records(reader), (long long)rows->row + 1,
		    column->name);
	row->id = values_text(column, array, rows->row, rows->room, &row->length);
}

bool
rows_next(struct rows *rows, struct row *row)
{
	if (rows->row == rows->record.rows && !next_record(rows))
		return false;
	const struct vectors *vectors = rows->part.vectors;
	*row = (struct row){ .number = rows->number++ };
	row->vector = vectors->raw + rows->row * vectors->width;
	if (rows->part.id >= 0)
		take_id(rows, row);
	if (rows->part.ids == ROW_PLACES) {
		row->id = rows->room;
		row->length = (size_t)snprintf(
		    rows->room, sizeof rows->room, "%lld", (long long)rows->number);
	}
	if (rows->part.text >= 0)
		row->text = values_text(stream_column(vectors->reader, rows->part.text),
		    &rows->record.columns[rows->part.text], rows->row, rows->text_room,
		    &row->text_length);
	rows->row++;
	return true;
}

bool
rows_wait(const struct rows *rows)
{
	return rows->row == rows->record.rows && rows->row < FEW_ROWS &&
	       stream_waits(rows->part.vectors->reader, patience);
}

void
rows_rewind(struct rows *rows)
{
	struct part part = open_part(rows, 0);

	agree(rows, &rows->part, &part);
	close_part(&rows->part);
	rows->part = part;
	rows->at = 0;
	rows->record.rows = rows->row = rows->number = rows->first = 0;
	rows->again = true;
}

const char *
rows_task(struct rows *rows, size_t *length)
{
	const struct part *part = &rows->part;
	const struct reader *reader = part->vectors->reader;
	const struct tree *attributes = rows->record.attributes;

	if (part->task >= 0) {
		values_single(reader, part->task, 0);
		return values_text(stream_column(reader, part->task),
		    &rows->record.columns[part->task], rows->row - 1, rows->task_room,
		    length);
	}
	const char *task = tree_string(tree_get(attributes, "experts"), part->field,
	    tree_string(attributes, "task", ""));
	*length = strlen(task);
	return task;
}

enum similarity
rows_similarity(const struct rows *rows, enum similarity wanted)
{
	return vectors_own_similarity(rows->part.vectors->reader, wanted);
}

int
rows_width(const struct rows *rows)
{
	return rows->part.vectors->width;
}

char *
rows_field(const struct rows *rows)
{
	return mem_string(rows->part.field);
}

enum row_ids
rows_ids(const struct rows *rows)
{
	return rows->part.ids;
}

bool
rows_name_model(const struct rows *rows)
{
	return rows->model;
}

const char *
rows_stream(const struct rows *rows)
{
	return stream_name(rows->part.vectors->reader);
}

int
rows_stream_number(const struct rows *rows)
{
	return rows->at;
}

int64_t
rows_first(const struct rows *rows)
{
	return rows->first;
}

void
rows_note(struct rows *rows, enum row_fault fault, const struct row *row)
{
	if (!rows->again)
		note(&rows->faults[fault], row->id, row->length);
}

void
rows_close(struct rows *rows)
{
	progress_free(rows->progress);
	close_part(&rows->part);
	free(rows->model);
	free(rows->model_stream);
	free(rows);
}
