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

/* An embedding that waits for the other tasks'. */
struct held {
	double square; /* of its length */
	float vector[];
};

struct source {
	struct rows *rows;
	int task; /* of several sources: its only one; -1: not known yet */
	bool done;
};

struct reading {
	struct inter_task *found;
	struct source *sources;
	int count, width;
	uint64_t *known; /* [texts] a bit for each task that it has come with */
	int64_t room;	 /* texts */
	struct task {
		const char *stream;
		struct held **held; /* [texts] */
		int64_t rows;
	} tasks[INTER_TASK_MOST];
};

static int
task_count(const struct inter_task *found)
{
	return (int)strings_count(found->tasks);
}

/* Room for the texts there are, in all that has an entry a text. */
static void
grow(struct reading *reading)
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
		struct held ***held = &reading->tasks[i].held;
		*held = mem_resize(*held, room, sizeof **held);
		memset(*held + before, 0, more * sizeof **held);
	}
	for (int i = 0; i < inter_task_pairs(found); i++)
		found->cosines[i] =
		    mem_resize(found->cosines[i], room, sizeof *found->cosines[i]);
}

static void
begin_task(struct reading *reading, int number, const char *stream)
{
	struct inter_task *found = reading->found;
	size_t pairs = (size_t)inter_task_pairs(found), room = (size_t)reading->room;

	if (number >= INTER_TASK_MOST)
		die("%s: it is of more than %d tasks; the last is '%s'", stream,
		    INTER_TASK_MOST, strings_get(found->tasks, number));
	struct task *task = &reading->tasks[number];
	task->stream = stream;
	task->held = mem_zero(room, sizeof(struct held *));
	if (number == 0)
		return;
	found->cosines = mem_resize(found->cosines, pairs, sizeof(double *));
	for (int i = inter_task_pair(0, number); i < (int)pairs; i++)
		found->cosines[i] = mem_new(room, sizeof(double));
}

/* The task of a source's row: the stream's name where it does not tell. */
static int
task_of(struct reading *reading, struct source *source, const struct row *row)
{
	struct strings *tasks = reading->found->tasks;
	const char *stream = rows_stream(source->rows);
	size_t length;
	bool fresh;
	const char *name = rows_task(source->rows, &length);

	if (!length && reading->count == 1)
		die("%s: row %lld does not say for what task it was embedded (column 'task', or attribute 'experts', as tok --task writes it); give a stream for each task",
		    stream, (long long)row->number + 1);
	if (!length)
		name = file_bare_name(stream, &length);
	int task = (int)strings_add(tasks, name, length, &fresh);
	name = strings_get(tasks, task);
	if (fresh)
		begin_task(reading, task, stream);
	if (fresh && (strcspn(name, "\t\r\n") != length || length > LONGEST_NAME))
		die("%s: the name of the task '%.100s' has a tab, an end of line or a NUL in it, or more than %d bytes; rename it",
		    stream, name, LONGEST_NAME);
	if (reading->count > 1 && source->task < 0 && !fresh)
		die("%s: it is of the task '%s', as %s is; give a stream for each task",
		    stream, name, reading->tasks[task].stream);
	if (reading->count > 1 && source->task >= 0 && source->task != task)
		die("%s: it is of the tasks '%s' and '%s'; give a stream for each task, or one with all of them",
		    stream, strings_get(tasks, source->task), name);
	return source->task = task;
}

/* The text that a row of a task is of. */
static int64_t
text_of(struct reading *reading, const struct source *source, const struct row *row,
    struct task *task)
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
		    rows_stream(source->rows), strings_get(found->ids, text));
	return text;
}

static struct held *
hold(const struct reading *reading, const struct source *source, const struct row *row,
    int64_t text)
{
	size_t bytes = (size_t)reading->width * sizeof *row->vector;
	struct held *held = mem_new(1, sizeof *held + bytes);

	memcpy(held->vector, row->vector, bytes);
	held->square = similarity_dot(row->vector, row->vector, reading->width);
	if (!isfinite(held->square) || held->square == 0)
		die("%s: row '%s': its embedding is %s, which has no cosine with others; leave the row out (mts rows)",
		    rows_stream(source->rows), strings_get(reading->found->ids, text),
		    held->square == 0 ? "zero" : "not finite");
	return held;
}

static void
release(struct reading *reading, int64_t text)
{
	for (int i = 0; i < task_count(reading->found); i++) {
		free(reading->tasks[i].held[text]);
		reading->tasks[i].held[text] = NULL;
	}
}

static void
take(struct reading *reading, struct source *source, const struct row *row)
{
	struct inter_task *found = reading->found;
	int number = task_of(reading, source, row);
	struct task *task = &reading->tasks[number];
	int64_t text = text_of(reading, source, row, task);

	if (reading->known[text] >> number & 1)
		die("%s: the id '%s' occurs again for the task '%s', and by their ids rows are brought together; rename it",
		    rows_stream(source->rows), strings_get(found->ids, text),
		    strings_get(found->tasks, number));
	struct held *own = task->held[text] = hold(reading, source, row, text);
	for (int i = 0; i < task_count(found); i++) {
		const struct held *other = reading->tasks[i].held[text];
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
open_sources(
    struct reading *reading, const char *const *paths, const char *field, bool any_model)
{
	struct source *sources = reading->sources =
	    mem_zero((size_t)reading->count, sizeof *sources);

	int named = 0; /* the first that names a model, if one does */

	for (int i = 0; i < reading->count; i++) {
		sources[i] = (struct source){ .task = -1 };
		sources[i].rows = rows_open(&paths[i], 1, i == 0 ? "texts" : NULL, field,
		    i ? sources[named].rows : NULL, any_model, NULL);
		if (!rows_name_model(sources[named].rows))
			named = i;
		if ((rows_ids(sources[i].rows) == ROW_PLACES) !=
		    (rows_ids(sources[0].rows) == ROW_PLACES))
			die("%s: one of it and %s has ids, the other none: nothing says which rows are of one text",
			    paths[i], paths[0]);
	}
	reading->width = rows_width(sources[0].rows);
	reading->found->stream = mem_string(rows_stream(sources[0].rows));
	reading->found->named = rows_ids(sources[0].rows) != ROW_PLACES;
}

/* A row of each source in turn. */
static void
read_all(struct reading *reading)
{
	struct row row;

	for (int left = reading->count; left;)
		for (int i = 0; i < reading->count; i++) {
			struct source *source = &reading->sources[i];
			if (source->done)
				continue;
			if (rows_next(source->rows, &row)) {
				take(reading, source, &row);
				continue;
			}
			if (source->task < 0)
				die("%s: there is no row in it",
				    rows_stream(source->rows));
			source->done = true;
			left--;
		}
}

/* Dies unless each text has come with each task. */
static void
check_texts(const struct reading *reading)
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

/* By their names, so that pairs are called alike however the streams came. */
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
	struct reading reading = { .count = count };
	struct inter_task *found = reading.found = mem_zero(1, sizeof *found);

	if (count > INTER_TASK_MOST)
		die("there are %d streams; a stream is a task, and there may be %d",
		    count, INTER_TASK_MOST);
	found->tasks = strings_new();
	found->ids = strings_new();
	open_sources(&reading, paths, field, any_model);
	read_all(&reading);
	check_texts(&reading);
	for (int64_t i = 0; i < strings_count(found->ids); i++)
		release(&reading, i);
	for (int i = 0; i < task_count(found); i++)
		free(reading.tasks[i].held);
	for (int i = 0; i < count; i++)
		rows_close(reading.sources[i].rows);
	free(reading.sources);
	free(reading.known);
	sort_tasks(found);
	return found;
}
