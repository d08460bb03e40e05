/*
 * rows - the rows of one or several streams, one stream after the other: each an id, a vector and
 * perhaps a text.
 *
 * Ids are "_id" or "id", else, where that is allowed, the rows' numbers from 1.  What several
 * streams disagree in dies: widths, models, whether there are ids.
 */
#ifndef SEARCH_ROWS_H
#define SEARCH_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/vectors.h"

enum row_ids {
	ROW_NAMES,   /* text */
	ROW_NUMBERS, /* whole numbers in the stream */
	ROW_PLACES   /* none: rows are numbered from 1 */
};

struct row {
	int64_t number; /* from 0, of all the streams */
	const char *id; /* this and what follows is borrowed until the next row */
	size_t length;
	const float *vector; /* as the stream has it */
	const char *text;    /* NULL: none */
	size_t text_length;
};

struct rows;

/* What is counted is a `unit`; NULL: nothing is, other rows show how far the work is.  `field` as in
 * vectors_open; `like`: the rows that these are compared with, borrowed, or NULL; `any_model` as in
 * vectors_agree.  `reason` for which there must be ids, or NULL: "by which the qrels name the rows". */
struct rows *rows_open(const char *const *paths, int count, const char *unit,
    const char *field, const struct rows *like, bool any_model, const char *reason);
/* Take a row's text from this column, text or numbers, of which each stream must have one; by default it is the text that
 * the vectors are of, or "text".  Before the first row; the name is borrowed. */
void rows_show(struct rows *rows, const char *column);
bool rows_next(struct rows *rows, struct row *row);

/* Whether the stream is a pipe whose writer gives few rows at a time, and no more now: somebody may
 * wait for an answer. */
bool rows_wait(const struct rows *rows);

/* From the first row of the first stream again, without progress or what was told before. */
void rows_rewind(struct rows *rows);

/* For what task the last row was embedded, borrowed until the next: the row's own word in a column "task" or
 * FIELD.expert, else the record's in the attribute "experts", which tok --task writes, or "task".  Empty
 * where the stream does not say. */
const char *rows_task(struct rows *rows, size_t *length);

/* vectors_own_similarity of the stream at hand. */
enum similarity rows_similarity(const struct rows *rows, enum similarity wanted);
int rows_width(const struct rows *rows);
char *rows_field(const struct rows *rows); /* what is before ".emb"; to be freed */
enum row_ids rows_ids(const struct rows *rows);
bool rows_name_model(const struct rows *rows); /* whether a stream that was opened does */

/* Of the stream that the last row was of: its name, its number among the streams. */
const char *rows_stream(const struct rows *rows);
int rows_stream_number(const struct rows *rows);
int64_t rows_first(const struct rows *rows); /* and its first row */

/* What a row has that is told once a stream, at its end, with the first id. */
enum row_fault { ROW_NOT_FINITE, ROW_ZERO, ROW_REPEATED, ROW_FAULTS };
void rows_note(struct rows *rows, enum row_fault fault, const struct row *row);

void rows_close(struct rows *rows);

/* Something met on the way that has to be told once: how many, and which was the first. */
struct noted {
	int64_t count;
	char *first;
};
void note(struct noted *noted, const char *id, size_t length);

/* Warns "STREAM: 3 what; first: 'id'" unless there was none; empties. */
void note_tell(struct noted *noted, const char *stream, const char *what);

#endif
