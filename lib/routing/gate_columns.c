#include "routing/gate_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"

struct gate_columns {
	const struct strings *gates;
	enum gate_columns_scores kind;
	int gate, *index; /* columns; index [gates] */
	double *scores;
	int32_t *chosen;
	char *cells; /* [gates, rows] of f32 or f64 */
	size_t score_room, chosen_room, cell_room;
	struct buffer names;
	struct numbers offsets;
};

/* Scores of another routing would be taken for those of this one. */
static void
drop_scores(struct writer *writer, const struct reader *reader)
{
	for (int i = 0; i < stream_columns(reader); i++) {
		const char *name = stream_column(reader, i)->name;
		if (strncmp(name, "score.", strlen("score.")) == 0)
			stream_drop(writer, name);
	}
}

struct gate_columns *
gate_columns_new(struct writer *writer, const struct reader *reader,
    const struct strings *gates, enum gate_columns_scores scores)
{
	struct gate_columns *columns = mem_zero(1, sizeof *columns);
	int64_t count = strings_count(gates);

	columns->gates = gates;
	columns->kind = scores;
	columns->index = mem_new((size_t)count, sizeof *columns->index);
	drop_scores(writer, reader);
	columns->gate = stream_add(
	    writer, &(struct column){
			.name = "gate", .dtype = DTYPE_U8, .text = true, .depth = 1 });
	for (int64_t g = 0; g < count && scores != GATE_COLUMNS_NONE; g++) {
		char *name = mem_format("score.%s", strings_get(gates, g));
		columns->index[g] = stream_add(writer,
		    &(struct column){ .name = name,
			.dtype = scores == GATE_COLUMNS_F64 ? DTYPE_F64 : DTYPE_F32 });
		free(name);
	}
	return columns;
}

double *
gate_columns_scores(struct gate_columns *columns, int64_t rows)
{
	size_t numbers =
	    mem_multiply((size_t)rows, (size_t)strings_count(columns->gates), "scores");

	columns->scores = mem_grow(
	    columns->scores, &columns->score_room, numbers, sizeof *columns->scores);
	return columns->scores;
}

int32_t *
gate_columns_chosen(struct gate_columns *columns, int64_t rows)
{
	columns->chosen = mem_grow(columns->chosen, &columns->chosen_room, (size_t)rows,
	    sizeof *columns->chosen);
	return columns->chosen;
}

static void
put_scores(struct gate_columns *columns, struct record *made)
{
	int64_t gates = strings_count(columns->gates), rows = made->rows;
	size_t bytes = (size_t)rows * sizeof(double);
	/* each column begins where its numbers are aligned */
	size_t stride = (bytes + 63) / 64 * 64;

	columns->cells =
	    mem_grow(columns->cells, &columns->cell_room, (size_t)gates, stride + 1);
	for (int64_t g = 0; g < gates; g++) {
		char *cells = columns->cells + (size_t)g * stride;
		for (int64_t row = 0; row < rows; row++) {
			double score = columns->scores[row * gates + g];
			if (columns->kind == GATE_COLUMNS_F64)
				((double *)cells)[row] = score;
			else
				((float *)cells)[row] = (float)score;
		}
		made->columns[columns->index[g]].data = cells;
	}
}

void
gate_columns_put(struct gate_columns *columns, struct record *made)
{
	columns->names.used = 0;
	columns->offsets.count = 0;
	buffer_add(&columns->names, "", 0);
	numbers_add(&columns->offsets, 0);
	for (int64_t row = 0; row < made->rows; row++) {
		int64_t gate = columns->chosen[row];
		buffer_add(&columns->names, strings_get(columns->gates, gate),
		    strings_length(columns->gates, gate));
		numbers_add(&columns->offsets, (int64_t)columns->names.used);
	}
	made->columns[columns->gate] =
	    (struct array){ { columns->offsets.data }, columns->names.data };
	if (columns->kind != GATE_COLUMNS_NONE)
		put_scores(columns, made);
}

void
gate_columns_free(struct gate_columns *columns)
{
	free(columns->index);
	free(columns->scores);
	free(columns->chosen);
	free(columns->cells);
	free(columns->names.data);
	free(columns->offsets.data);
	free(columns);
}
