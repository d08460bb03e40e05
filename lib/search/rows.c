#include "search/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "stream/condition.h"

enum { SHOWN = 100 };

enum { FEW_ROWS = 256 }; /* a writer that does not pause makes larger records */

/* An open stream. */
struct row_stream {
	struct vectors *vectors;
	char *field;	    /* FIELD of FIELD.emb, FIELD.hs, ... */
	int id, text, task; /* columns, or -1 */
	enum row_ids ids;
};

struct rows {
	const char *const *paths;
	int count, at; /* number of streams; index of the current one */
	const char *unit, *field, *reason, *show;
	const struct rows *like;
	bool any_model, again, terms;
	enum similarity similarity;
	char *model,
	    *model_stream; /* the first model named by a stream, and that stream; NULL: none yet */
	struct row_stream stream;
	const char *const *where;
	int where_count;
	struct conditions *conditions; /* of the current stream; NULL: none */
	const bool *pass;	       /* [rows of the record]; NULL: all */
	struct record record;
	int64_t row, number,
	    first; /* row in the record; in all streams; the current stream's first */
	struct progress *progress;
	struct warning faults[ROW_FAULTS];
	char room[VALUES_ROOM], text_room[VALUES_ROOM], task_room[VALUES_ROOM];
};

void
warning_add(struct warning *warning, const char *id, size_t length)
{
	if (warning->count++ == 0)
		warning->first =
		    mem_format("%.*s", length < SHOWN ? (int)length : SHOWN, id);
}

void
warning_print(struct warning *warning, const char *stream, const char *what)
{
	if (warning->count)
		warn("%s: %lld %s; first: '%s'", stream, (long long)warning->count, what,
		    warning->first);
	free(warning->first);
	*warning = (struct warning){ 0 };
}

static char *
field_of(const struct vectors *vectors)
{
	const char *name = stream_column(vectors->reader, vectors->column)->name;
	const char *end = strrchr(name, '.');

	return mem_format("%.*s", (int)(end ? (size_t)(end - name) : strlen(name)), name);
}

/* The column FIELD or "text" of the embedded texts (encode --keep), or -1. */
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

/* Compares with the first model named, because a stream without a name agrees with any. */
static void
agree_model(
    const struct rows *rows, const struct rows *with, const struct vectors *vectors)
{
	if (with && !rows->any_model)
		vectors_agree_model(vectors, with->model, with->model_stream);
}

static struct row_stream
open_stream(struct rows *rows, int number)
{
	static const char *const names[] = { "_id", "id", NULL };
	struct reader *reader = stream_open(rows->paths[number]);
	int wanted = VECTORS_NAN | (rows->terms ? VECTORS_TERMS : 0);
	if (rows->terms &&
	    similarity_of_lists(vectors_any_similarity(reader, rows->similarity)))
		wanted = VECTORS_TOKENS;
	struct row_stream stream = { .vectors =
					 vectors_open(reader, rows->field, wanted) };

	if (rows->like)
		vectors_agree(
		    rows->like->stream.vectors, stream.vectors, rows->any_model);
	agree_model(rows, rows->like, stream.vectors);
	agree_model(rows, rows, stream.vectors);
	if (!rows->model && vectors_model(stream.vectors)) {
		rows->model = mem_string(vectors_model(stream.vectors));
		rows->model_stream = mem_string(stream_name(reader));
	}
	stream.id = values_find(reader, names);
	stream.field = field_of(stream.vectors);
	stream.text = rows->show ? find_shown(reader, rows->show)
				 : find_text(stream.vectors, stream.field);
	stream.task = find_task(reader, stream.field);
	if (stream.id < 0 && rows->reason)
		die("%s: there is no column '_id' or 'id', %s", stream_name(reader),
		    rows->reason);
	if (stream.id >= 0)
		values_single(reader, stream.id, 0);
	stream.ids = stream.id < 0 ? ROW_PLACES : ROW_NAMES;
	if (stream.id >= 0 && !stream_column(reader, stream.id)->text &&
	    !dtype_is_float(stream_column(reader, stream.id)->dtype))
		stream.ids = ROW_NUMBERS;
	return stream;
}

/* Binds the conditions to the current stream. */
static void
bind_conditions(struct rows *rows)
{
	const struct reader *reader = rows->stream.vectors->reader;

	if (rows->conditions)
		conditions_bind(rows->conditions, reader);
	else if (rows->where_count)
		rows->conditions =
		    conditions_open(rows->where, rows->where_count, reader);
}

static void
close_stream(struct row_stream *stream)
{
	struct reader *reader = stream->vectors->reader;

	free(stream->field);
	vectors_close(stream->vectors);
	stream_close(reader);
}

static enum similarity
similarity_of_stream(const struct row_stream *stream, enum similarity wanted)
{
	const struct vectors *vectors = stream->vectors;

	return vectors->terms ? vectors_said_similarity(vectors->reader,
				    "sparse.similarity", SIMILARITY_DOT, wanted)
			      : vectors_any_similarity(vectors->reader, wanted);
}

/* Dies unless both streams can be of one corpus. */
static void
agree(
    const struct rows *rows, const struct row_stream *one, const struct row_stream *other)
{
	const struct reader *first = one->vectors->reader,
			    *second = other->vectors->reader;

	enum similarity here = similarity_of_stream(one, rows->similarity),
			there = similarity_of_stream(other, rows->similarity);

	vectors_agree(one->vectors, other->vectors, rows->any_model);
	if (here != there)
		die("%s: is to be compared by %s, %s by %s; say --similarity",
		    stream_name(second), similarity_name(there), stream_name(first),
		    similarity_name(here));
	if (one->ids != other->ids)
		die("%s: its rows have %s, those of %s %s: they are not one corpus",
		    stream_name(second),
		    other->ids == ROW_PLACES ? "no ids" : "ids of another kind",
		    stream_name(first), one->ids == ROW_PLACES ? "none" : "ids");
}

void
rows_show(struct rows *rows, const char *column)
{
	rows->show = column;
	rows->stream.text = find_shown(rows->stream.vectors->reader, column);
}

void
rows_where(struct rows *rows, const char *const *conditions, int count)
{
	rows->where = conditions;
	rows->where_count = count;
	bind_conditions(rows);
}

/* Checks all files at the start, before hours of work. */
static void
check_others(struct rows *rows)
{
	struct stat status;

	for (int i = 1; i < rows->count; i++) {
		if (stat(rows->paths[i], &status) == 0 && !S_ISREG(status.st_mode))
			continue;
		struct row_stream stream = open_stream(rows, i);
		agree(rows, &rows->stream, &stream);
		close_stream(&stream);
	}
}

struct rows *
rows_open(const char *const *paths, int count, const char *unit, const char *field,
    const struct rows *like, bool any_model, const char *reason, bool terms,
    enum similarity similarity)
{
	struct rows *rows = mem_zero(1, sizeof *rows);

	rows->paths = paths;
	rows->count = count;
	rows->unit = unit;
	rows->field = field;
	rows->like = like;
	rows->any_model = any_model;
	rows->reason = reason;
	rows->terms = terms;
	rows->similarity = similarity;
	rows->stream = open_stream(rows, 0);
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
	const char *passages = /* of tok --passages */
	    "passages repeat an id: the first one of each id counts; 'near --best' takes the best one, 'mts cat --rename' of the id all";

	for (int i = 0; i < ROW_FAULTS; i++)
		warning_print(&rows->faults[i], rows_stream(rows),
		    i == ROW_REPEATED &&
			    stream_find(rows_vectors(rows)->reader, "start") >= 0
			? passages
			: what[i]);
}

/* The current stream reports its progress. */
static void
watch(struct rows *rows)
{
	if (rows->again || !rows->progress)
		return;
	progress_file(rows->progress);
	stream_watch(rows->stream.vectors->reader, rows->progress);
}

/* Steps to the next record with rows, of this stream or the next; false at the end. */
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
		if (stream_next(rows->stream.vectors->reader, &rows->record)) {
			if (rows->record.rows == 0)
				continue;
			rows->pass = rows->conditions ? conditions_pass(rows->conditions,
							    &rows->record)
						      : NULL;
			vectors_load(rows->stream.vectors, &rows->record);
			return true;
		}
		tell(rows);
		if (rows->at + 1 == rows->count) {
			if (rows->conditions)
				conditions_end(rows->conditions);
			return false;
		}
		struct row_stream stream = open_stream(rows, ++rows->at);
		agree(rows, &rows->stream, &stream);
		close_stream(&rows->stream);
		rows->stream = stream;
		rows->first = rows->number;
		bind_conditions(rows);
		watch(rows);
	}
}

static void
take_id(struct rows *rows, struct row *row)
{
	const struct reader *reader = rows->stream.vectors->reader;
	const struct column *column = stream_column(reader, rows->stream.id);
	const struct array *array = &rows->record.columns[rows->stream.id];

	if (values_missing(column, array, rows->row))
		die("%s: record %lld: row %lld has no '%s'", rows_stream(rows),
		    (long long)stream_records(reader), (long long)rows->row + 1,
		    column->name);
	row->id = values_text(column, array, rows->row, rows->room, &row->length);
}

/* Steps over rows that do not pass; returns whether the record ends with them. */
static bool
skip_rows(struct rows *rows)
{
	for (; rows->pass && rows->row < rows->record.rows && !rows->pass[rows->row];
	     rows->row++)
		rows->number++;
	return rows->row == rows->record.rows;
}

bool
rows_next(struct rows *rows, struct row *row)
{
	do {
		if (rows->row == rows->record.rows && !next_record(rows))
			return false;
	} while (skip_rows(rows));
	const struct vectors *vectors = rows->stream.vectors;
	*row = (struct row){ .number = rows->number++ };
	if (vectors->terms) {
		const struct term_lists *terms = vectors->terms;
		int64_t start = terms->offsets[rows->row];
		row->terms = terms->ids + start;
		row->vector = terms->weights + start;
		row->terms_count = terms->offsets[rows->row + 1] - start;
	} else {
		struct vector_range range = vectors_row(vectors, rows->row);
		row->vector = vectors->raw + range.first * vectors->width;
		row->vectors = range.count;
	}
	if (rows->stream.id >= 0)
		take_id(rows, row);
	if (rows->stream.ids == ROW_PLACES) {
		row->id = rows->room;
		row->length = (size_t)snprintf(
		    rows->room, sizeof rows->room, "%lld", (long long)rows->number);
	}
	if (rows->stream.text >= 0)
		row->text =
		    values_shown(stream_column(vectors->reader, rows->stream.text),
			&rows->record.columns[rows->stream.text], rows->row,
			rows->text_room, &row->text_length);
	rows->row++;
	return true;
}

bool
rows_wait(const struct rows *rows, double seconds)
{
	return rows->row == rows->record.rows && rows->row < FEW_ROWS &&
	       stream_waits(rows->stream.vectors->reader, seconds);
}

void
rows_rewind(struct rows *rows)
{
	struct row_stream stream = open_stream(rows, 0);

	agree(rows, &rows->stream, &stream);
	close_stream(&rows->stream);
	rows->stream = stream;
	rows->at = 0;
	rows->record.rows = rows->row = rows->number = rows->first = 0;
	rows->again = true;
	bind_conditions(rows);
}

const char *
rows_task(struct rows *rows, size_t *length)
{
	const struct row_stream *stream = &rows->stream;
	const struct reader *reader = stream->vectors->reader;
	const struct tree *attributes = rows->record.attributes;

	if (stream->task >= 0) {
		values_single(reader, stream->task, 0);
		return values_text(stream_column(reader, stream->task),
		    &rows->record.columns[stream->task], rows->row - 1, rows->task_room,
		    length);
	}
	const char *task = tree_string(tree_get(attributes, "experts"), stream->field,
	    tree_string(attributes, "task", ""));
	*length = strlen(task);
	return task;
}

enum similarity
rows_similarity(const struct rows *rows, enum similarity wanted)
{
	return similarity_of_stream(&rows->stream, wanted);
}

char *
rows_field(const struct rows *rows)
{
	return mem_string(rows->stream.field);
}

enum row_ids
rows_ids(const struct rows *rows)
{
	return rows->stream.ids;
}

bool
rows_name_model(const struct rows *rows)
{
	return rows->model;
}

const struct vectors *
rows_vectors(const struct rows *rows)
{
	return rows->stream.vectors;
}

void
rows_agree_with(const struct rows *rows, const struct vectors_origin *origin)
{
	vectors_agree_with(rows->stream.vectors, origin, rows->any_model);
}

double
rows_search_vector(
    struct rows *rows, enum similarity similarity, float *to, const struct row *row)
{
	int width = row->terms ? (int)row->terms_count : rows->stream.vectors->width;
	bool cosine = similarity == SIMILARITY_COSINE;
	double square = cosine ? similarity_unit(to, row->vector, width)
			       : similarity_dot(row->vector, row->vector, width);

	if (!isfinite(square))
		rows_note(rows, ROW_NOT_FINITE, row);
	else if (square == 0)
		rows_note(rows, ROW_ZERO, row);
	if (cosine)
		return 1 + 0x1p-20; /* rounded to float32 */
	for (int i = 0; i < width; i++)
		to[i] = isfinite(square) ? row->vector[i] : NAN;
	return isfinite(square) ? sqrt(square) : 0;
}

int64_t
rows_read(const struct rows *rows)
{
	return rows->number;
}

const struct record *
rows_record(const struct rows *rows, int64_t *index, bool *ends)
{
	*index = rows->row - 1;
	*ends = rows->row == rows->record.rows;
	return &rows->record;
}

bool
rows_have_texts(const struct rows *rows)
{
	return rows->stream.text >= 0;
}

const char *
rows_stream(const struct rows *rows)
{
	return stream_name(rows->stream.vectors->reader);
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
		warning_add(&rows->faults[fault], row->id, row->length);
}

void
rows_close(struct rows *rows)
{
	progress_free(rows->progress);
	conditions_close(rows->conditions);
	close_stream(&rows->stream);
	free(rows->model);
	free(rows->model_stream);
	free(rows);
}
