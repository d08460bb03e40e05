#include "papers/mote/inter_task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "search/rows.h"
#include "search/similarity.h"
#include "text/tsv.h"

enum { LONGEST_NAME = 100 };

/* An embedding that waits for those of the other tasks. */
struct waiting_embedding {
	double square; /* of its length */
	float vector[];
};

struct task_stream {
	struct rows *rows;
	int task; /* with several streams, its task; -1: not known yet */
	bool done;
};

struct inter_task_reader {
	struct inter_task *found;
	struct task_stream *streams;
	int count, width;
	uint64_t *known; /* [texts] a bit for each task that was read */
	int64_t room;	 /* texts */
	struct task {
		const char *stream;
		struct waiting_embedding **held; /* [texts] */
		int64_t rows;
	} tasks[INTER_TASK_MOST];
};

static int
task_count(const struct inter_task *found)
{
	return (int)strings_count(found->tasks);
}

/* Grows all arrays that have an entry per text. */
static void
grow(struct inter_task_reader *reading)
{
	struct inter_task *found = reading->found;
	int64_t texts = strings_count(found->ids), before = reading->room;

	if (texts <= before)
		return;
	size_t room = (size_t)(reading->room = 2 * texts), more = room - (size_t)before;
	reading->known = mem_resize(reading->known, room, sizeof *reading->known);
	found->texts = mem_resize(found->texts, room, sizeof *found->texts);
	memset(reading->known + before, 0, more * sizeof *reading->known);
	for (int i = 0; i < task_count(found); i++) {
		struct waiting_embedding ***held = &reading->tasks[i].held;
		*held = mem_resize(*held, room, sizeof **held);
		memset(*held + before, 0, more * sizeof **held);
	}
	for (int i = 0; i < inter_task_pairs(found); i++)
		found->cosines[i] =
		    mem_resize(found->cosines[i], room, sizeof *found->cosines[i]);
}

static void
begin_task(struct inter_task_reader *reading, int number, const char *stream)
{
	struct inter_task *found = reading->found;
	size_t pairs = (size_t)inter_task_pairs(found), room = (size_t)reading->room;

	if (number >= INTER_TASK_MOST)
		die("%s: it is of more than %d tasks; the last is '%s'", stream,
		    INTER_TASK_MOST, strings_get(found->tasks, number));
	struct task *task = &reading->tasks[number];
	task->stream = stream;
	task->held = mem_zero(room, sizeof(struct waiting_embedding *));
	if (number == 0)
		return;
	found->cosines = mem_resize(found->cosines, pairs, sizeof(double *));
	for (int i = inter_task_pair(0, number); i < (int)pairs; i++)
		found->cosines[i] = mem_new(room, sizeof(double));
}

/* The task of a stream's row, or else the stream's name. */
static int
task_of(
    struct inter_task_reader *reading, struct task_stream *stream, const struct row *row)
{
	struct strings *tasks = reading->found->tasks;
	const char *path = rows_stream(stream->rows);
	size_t length;
	bool fresh;
	const char *name = rows_task(stream->rows, &length);

	if (!length && reading->count == 1)
		die("%s: row %lld does not say for what task it was embedded (column 'task', or attribute 'experts', as tok --task writes it); give a stream for each task",
		    path, (long long)row->number + 1);
	if (!length)
		name = file_bare_name(path, &length);
	int task = (int)strings_add(tasks, name, length, &fresh);
	name = strings_get(tasks, task);
	if (fresh)
		begin_task(reading, task, path);
	if (fresh && (strcspn(name, "\t\r\n") != length || length > LONGEST_NAME))
		die("%s: the name of the task '%.100s' has a tab, an end of line or a NUL in it, or more than %d bytes; rename it",
		    path, name, LONGEST_NAME);
	if (reading->count > 1 && stream->task < 0 && !fresh)
		die("%s: it is of the task '%s', as %s is; give a stream for each task",
		    path, name, reading->tasks[task].stream);
	if (reading->count > 1 && stream->task >= 0 && stream->task != task)
		die("%s: it is of the tasks '%s' and '%s'; give a stream for each task, or one with all of them",
		    path, strings_get(tasks, stream->task), name);
	return stream->task = task;
}

/* The number of a row's text. */
static int64_t
text_of(struct inter_task_reader *reading, const struct task_stream *stream,
    const struct row *row, struct task *task)
{
	struct inter_task *found = reading->found;
	const char *id = row->id;
	char place[VALUES_ROOM];
	size_t length = row->length;
	bool fresh;

	task->rows++;
	if (!found->named) {
		id = place;
		length = number_put_whole(place, task->rows);
	}
	int64_t text = strings_add(found->ids, id, length, &fresh);
	grow(reading);
	uint64_t hash = row->text ? rng_hash(0, row->text, row->text_length) | 1 : 0;
	if (fresh || !found->texts[text])
		found->texts[text] = hash;
	if (hash && hash != found->texts[text])
		die("%s: row '%s' has another text than for another task; compare the same texts, or leave the column out (mts cat -c)",
		    rows_stream(stream->rows), strings_get(found->ids, text));
	return text;
}

static struct waiting_embedding *
hold(const struct inter_task_reader *reading, const struct task_stream *stream,
    const struct row *row, int64_t text)
{
	size_t bytes = (size_t)reading->width * sizeof *row->vector;
	struct waiting_embedding *held = mem_new(1, sizeof *held + bytes);

	memcpy(held->vector, row->vector, bytes);
	held->square = similarity_dot(row->vector, row->vector, reading->width);
	if (!isfinite(held->square) || held->square == 0)
		die("%s: row '%s': its embedding is %s, which has no cosine with others; leave the row out (mts rows)",
		    rows_stream(stream->rows), strings_get(reading->found->ids, text),
		    held->square == 0 ? "zero" : "not finite");
	return held;
}

static void
release(struct inter_task_reader *reading, int64_t text)
{
	for (int i = 0; i < task_count(reading->found); i++) {
		free(reading->tasks[i].held[text]);
		reading->tasks[i].held[text] = NULL;
	}
}

static void
take(struct inter_task_reader *reading, struct task_stream *stream, const struct row *row)
{
	struct inter_task *found = reading->found;
	int number = task_of(reading, stream, row);
	struct task *task = &reading->tasks[number];
	int64_t text = text_of(reading, stream, row, task);

	if (reading->known[text] >> number & 1)
		die("%s: the id '%s' occurs again for the task '%s', and by their ids rows are brought together; rename it",
		    rows_stream(stream->rows), strings_get(found->ids, text),
		    strings_get(found->tasks, number));
	struct waiting_embedding *own = task->held[text] =
	    hold(reading, stream, row, text);
	for (int i = 0; i < task_count(found); i++) {
		const struct waiting_embedding *other = reading->tasks[i].held[text];
		if (i == number || !other)
			continue;
		double dot = similarity_dot(own->vector, other->vector, reading->width);
		found->cosines[inter_task_pair(number, i)][text] =
		    fmax(-1, fmin(1, dot / sqrt(own->square * other->square)));
	}
	reading->known[text] |= (uint64_t)1 << number;
	if (reading->count > 1 &&
	    __builtin_popcountll(reading->known[text]) == reading->count)
		release(reading, text);
}

static void
open_streams(struct inter_task_reader *reading, const char *const *paths,
    const char *field, bool any_model)
{
	struct task_stream *streams = reading->streams =
	    mem_zero((size_t)reading->count, sizeof *streams);

	int named = 0; /* the first that names a model, if one does */

	for (int i = 0; i < reading->count; i++) {
		streams[i] = (struct task_stream){ .task = -1 };
		streams[i].rows = rows_open(&paths[i], 1, i == 0 ? "texts" : NULL, field,
		    i ? streams[named].rows : NULL, any_model, NULL, false,
		    SIMILARITY_COSINE);
		if (!rows_name_model(streams[named].rows))
			named = i;
		if ((rows_ids(streams[i].rows) == ROW_PLACES) !=
		    (rows_ids(streams[0].rows) == ROW_PLACES))
			die("%s: one of it and %s has ids, the other none: nothing says which rows are of one text",
			    paths[i], paths[0]);
	}
	reading->width = rows_vectors(streams[0].rows)->width;
	reading->found->stream = mem_string(rows_stream(streams[0].rows));
	reading->found->named = rows_ids(streams[0].rows) != ROW_PLACES;
}

/* Reads a row of each stream in turn. */
static void
read_all(struct inter_task_reader *reading)
{
	struct row row;

	for (int left = reading->count; left;)
		for (int i = 0; i < reading->count; i++) {
			struct task_stream *stream = &reading->streams[i];
			if (stream->done)
				continue;
			if (rows_next(stream->rows, &row)) {
				take(reading, stream, &row);
				continue;
			}
			if (stream->task < 0)
				die("%s: there is no row in it",
				    rows_stream(stream->rows));
			stream->done = true;
			left--;
		}
}

/* Dies unless each text occurs for each task. */
static void
check_texts(const struct inter_task_reader *reading)
{
	const struct inter_task *found = reading->found;
	int tasks = task_count(found);
	uint64_t all = UINT64_MAX >> (INTER_TASK_MOST - tasks);

	if (tasks < 2)
		die("%s: all of it is of the task '%s'; give the same texts under two tasks at least",
		    found->stream, strings_get(found->tasks, 0));
	for (int64_t i = 0; i < strings_count(found->ids); i++) {
		if (reading->known[i] == all)
			continue;
		int there = __builtin_ctzll(reading->known[i]);
		int missing = __builtin_ctzll(~reading->known[i]);
		const struct task *has = &reading->tasks[there],
				  *lacks = &reading->tasks[missing];
		if (!found->named)
			die("%s: there are %lld rows of the task '%s' and %lld of '%s' (%s); without ids, each task must have the same texts in one order",
			    lacks->stream, (long long)lacks->rows,
			    strings_get(found->tasks, missing), (long long)has->rows,
			    strings_get(found->tasks, there), has->stream);
		die("%s: there is no row '%s' of the task '%s', but one of '%s' (%s)",
		    lacks->stream, strings_get(found->ids, i),
		    strings_get(found->tasks, missing), strings_get(found->tasks, there),
		    has->stream);
	}
}

/* Sorts tasks by name, so that the names of pairs do not depend on the order of the streams. */
static void
sort_tasks(struct inter_task *found)
{
	struct strings *names = found->tasks, *sorted = strings_new();
	double **cosines = mem_new((size_t)inter_task_pairs(found), sizeof *cosines);
	int64_t *order = strings_order(names);
	int count = task_count(found);

	for (int i = 0; i < count; i++) {
		strings_add(sorted, strings_get(names, order[i]),
		    strings_length(names, order[i]), NULL);
		for (int j = 0; j < i; j++)
			cosines[inter_task_pair(i, j)] =
			    found->cosines[inter_task_pair((int)order[i], (int)order[j])];
	}
	free(order);
	free(found->cosines);
	strings_free(names);
	found->cosines = cosines;
	found->tasks = sorted;
}

struct inter_task *
inter_task_read(const char *const *paths, int count, const char *field, bool any_model)
{
	struct inter_task_reader reading = { .count = count };
	struct inter_task *found = reading.found = mem_zero(1, sizeof *found);

	if (count > INTER_TASK_MOST)
		die("there are %d streams; a stream is a task, and there may be %d",
		    count, INTER_TASK_MOST);
	found->tasks = strings_new();
	found->ids = strings_new();
	open_streams(&reading, paths, field, any_model);
	read_all(&reading);
	check_texts(&reading);
	for (int64_t i = 0; i < strings_count(found->ids); i++)
		release(&reading, i);
	for (int i = 0; i < task_count(found); i++)
		free(reading.tasks[i].held);
	for (int i = 0; i < count; i++)
		rows_close(reading.streams[i].rows);
	free(reading.streams);
	free(reading.known);
	sort_tasks(found);
	return found;
}
