/*
 * rows - the rows of one or several streams, concatenated: each has an id, a vector and perhaps a text.
 *
 * Ids are "_id" or "id"; without such a column, if allowed, the rows' numbers from 1.  Dies if the streams differ in
 * width, model or kind of ids.
 */
#ifndef SEARCH_ROWS_H
#define SEARCH_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/vectors.h"

enum row_ids {
	ROW_NAMES,   /* text */
	ROW_NUMBERS, /* integers */
	ROW_PLACES   /* no column: rows are numbered from 1 */
};

struct row {
	int64_t number; /* from 0, over all streams */
	const char *id; /* id, vector and text are borrowed until the next row */
	size_t length;
	const float *vector;  /* [width]; of terms [terms_count], their weights */
	const int32_t *terms; /* [terms_count], ascending; NULL: vectors */
	int64_t terms_count;
	int64_t vectors;  /* 1; of tokens, as many as the row has, [vectors, width] */
	const char *text; /* NULL: none */
	size_t text_length;
};

struct rows;

/* `unit`: what the progress display counts; NULL: no progress.  `field`: as in vectors_open.  `like`: rows that
 * these must agree with (vectors_agree, `any_model`), borrowed, or NULL.  `reason`: why ids are required, for the
 * message ("by which the qrels name the rows"); NULL: they are optional.  `terms`: rows may have weights of terms and, if
 * similarity, or the model's where it is SIMILARITY_OF_MODEL, is MaxSim, the vectors of their tokens. */
struct rows *rows_open(const char *const *paths, int count, const char *unit,
    const char *field, const struct rows *like, bool any_model, const char *reason,
    bool terms, enum similarity similarity);

/* Takes the rows' texts from this column (text or numbers), required in each stream; by default from FIELD or "text".
 * Call before the first row; the name is borrowed. */
void rows_show(struct rows *rows, const char *column);

/* Leaves out the rows for which not all conditions hold (condition.h).  They keep their numbers.  Call before the first
 * row; the texts are borrowed. */
void rows_where(struct rows *rows, const char *const *conditions, int count);
bool rows_next(struct rows *rows, struct row *row);

/* Whether the stream is a pipe that pauses after few rows for so many seconds: its writer may be waiting for an answer. */
bool rows_wait(const struct rows *rows, double seconds);

/* Restarts at the first row, without progress display and repeated warnings. */
void rows_rewind(struct rows *rows);

/* The task of the last row, borrowed until the next: its value in a column "task" or FIELD.expert, else the record's
 * attribute "experts" (written by tok --task) or "task"; else empty. */
const char *rows_task(struct rows *rows, size_t *length);

/* vectors_any_similarity of the current stream. */
enum similarity rows_similarity(const struct rows *rows, enum similarity wanted);
char *rows_field(const struct rows *rows); /* FIELD of FIELD.emb; the caller frees it */
enum row_ids rows_ids(const struct rows *rows);
bool rows_name_model(
    const struct rows *rows); /* whether a stream opened so far names its model */

/* The vectors of the current stream, borrowed until the next stream. */
const struct vectors *rows_vectors(const struct rows *rows);

/* vectors_agree_with of the current stream. */
void rows_agree_with(const struct rows *rows, const struct vectors_origin *origin);

/* Writes the vector, or the weights of a row's terms, to search with: for cosine the unit vector; all NaN if the row's is not finite.  Returns its
 * length, for cosine slightly above 1.  Notes faults. */
double rows_search_vector(
    struct rows *rows, enum similarity similarity, float *to, const struct row *row);

/* The number of rows read so far, with those left out. */
int64_t rows_read(const struct rows *rows);

/* The record of the last row, borrowed until the next row; index: its row there.  *ends: whether it is the last one. */
const struct record *rows_record(const struct rows *rows, int64_t *index, bool *ends);

/* Whether rows have texts. */
bool rows_have_texts(const struct rows *rows);

/* The stream of the last row: its name, its index, and the number of its first row. */
const char *rows_stream(const struct rows *rows);
int rows_stream_number(const struct rows *rows);
int64_t rows_first(const struct rows *rows);

/* Faults of rows, reported once per stream, at its end, with the first id. */
enum row_fault { ROW_NOT_FINITE, ROW_ZERO, ROW_REPEATED, ROW_FAULTS };
void rows_note(struct rows *rows, enum row_fault fault, const struct row *row);

void rows_close(struct rows *rows);

/* A warning about several rows, printed once: their number, and the id of the first. */
struct warning {
	int64_t count;
	char *first;
};
void warning_add(struct warning *warning, const char *id, size_t length);

/* Prints "STREAM: 3 what; first: 'id'" unless count is 0, and resets it. */
void warning_print(struct warning *warning, const char *stream, const char *what);

#endif
