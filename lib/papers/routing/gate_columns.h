/*
 * gate_columns - what routing appends to a stream: the gate of each text, and its score with every gate.
 *
 *	gate		text			the gate's name
 *	score.GATE	f32 or f64, a number	for each gate, where there are scores
 *
 * Of a field X that was named they are X.gate and X.score.GATE; where a row has a list of texts, so it has of these.
 * Those that the stream had go.
 */
#ifndef PAPERS_ROUTING_GATE_COLUMNS_H
#define PAPERS_ROUTING_GATE_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "stream/stream.h"

struct gate_columns;

/* What scores there are. */
enum gate_columns_scores { GATE_COLUMNS_NONE, GATE_COLUMNS_F32, GATE_COLUMNS_F64 };

/* field: X, or NULL.  The gates' names are borrowed. */
struct gate_columns *gate_columns_new(struct writer *writer, const struct reader *reader,
    const char *field, bool lists, const struct strings *gates,
    enum gate_columns_scores scores);

/* Room for those of so many texts, for the caller to fill before they are put. */
double *gate_columns_scores(
    struct gate_columns *columns, int64_t count); /* [count, gates] */
int32_t *gate_columns_chosen(struct gate_columns *columns, int64_t count);

/* starts: where the rows' lists of texts begin, and the end; NULL where each row has one. */
void gate_columns_put(struct gate_columns *columns, struct record *made, int64_t count,
    const int64_t *starts);
void gate_columns_free(struct gate_columns *columns);

#endif
