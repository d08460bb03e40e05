/*
 * gate_columns - what routing appends to a stream: the gate of each row, and its score with every gate.
 *
 *	gate		text			the gate's name
 *	score.GATE	f32 or f64, a number	for each gate, where there are scores
 *
 * Those that the stream had go.
 */
#ifndef GATE_COLUMNS_H
#define GATE_COLUMNS_H

#include <stdint.h>

#include "base/strings.h"
#include "stream/stream.h"

struct gate_columns;

/* What scores there are. */
enum gate_columns_scores { GATE_COLUMNS_NONE, GATE_COLUMNS_F32, GATE_COLUMNS_F64 };

/* The names are borrowed. */
struct gate_columns *gate_columns_new(struct writer *writer, const struct reader *reader,
    const struct strings *gates, enum gate_columns_scores scores);

/* Room for those of so many rows, for the caller to fill before they are put into a record of as many. */
double *gate_columns_scores(
    struct gate_columns *columns, int64_t rows); /* [rows, gates] */
int32_t *gate_columns_chosen(struct gate_columns *columns, int64_t rows);
void gate_columns_put(struct gate_columns *columns, struct record *made);
void gate_columns_free(struct gate_columns *columns);

#endif
