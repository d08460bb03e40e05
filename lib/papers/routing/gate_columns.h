/*
 * gate_columns - the columns that routing appends to a stream: the chosen gate (pilot_library.h) of each text, and its score with
 * every gate.
 *
 *	gate		text			the gate's name
 *	score.GATE	f32 or f64		for each gate, if there are scores
 *
 * For a named field X they are X.gate and X.score.GATE.  A row with a list of texts has lists of these.  Older columns of these
 * names are dropped.
 */
#ifndef PAPERS_ROUTING_GATE_COLUMNS_H
#define PAPERS_ROUTING_GATE_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "stream/stream.h"

struct gate_columns;

/* The dtype of scores. */
enum gate_columns_scores { GATE_COLUMNS_NONE, GATE_COLUMNS_F32, GATE_COLUMNS_F64 };

/* field: X, or NULL.  The gates' names are borrowed. */
struct gate_columns *gate_columns_new(struct writer *writer, const struct reader *reader,
    const char *field, bool lists, const struct strings *gates,
    enum gate_columns_scores scores);

/* Arrays for `count` texts, which the caller fills before gate_columns_put. */
double *gate_columns_scores(
    struct gate_columns *columns, int64_t count); /* [count, gates] */
int32_t *gate_columns_chosen(struct gate_columns *columns, int64_t count);

/* starts: [rows + 1] offsets of the rows' lists; NULL if each row has one text. */
void gate_columns_put(struct gate_columns *columns, struct record *made, int64_t count,
    const int64_t *starts);
void gate_columns_free(struct gate_columns *columns);

#endif
