#include "papers/routing/gate_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "stream/text_column.h"

struct gate_columns {
	const struct strings *gates;
	enum gate_columns_scores kind;
	int gate, *index; /* columns; index [gates] */
	double *scores;
	int32_t *chosen;
	char *cells; /* [gates, texts] of f32 or f64 */
	size_t score_room, chosen_room, cell_room;
	struct text_column names;
};

/* Drops scores of an earlier routing. */
static void
drop_scores(struct writer *writer, const struct reader *reader, const char *prefix)
{
	for (int i = 0; i < stream_columns(reader); i++) {
		const char *name = stream_column(reader, i)->name;
		if (strncmp(name, prefix, strlen(prefix)) == 0)
			stream_drop(writer, name);
	}
}

struct gate_columns *
gate_columns_new(struct writer *writer, const struct reader *reader, const char *field,
    bool lists, const struct strings *gates, enum gate_columns_scores scores)
{
	struct gate_columns *columns = mem_zero(1, sizeof *columns);
	char *gate = field ? mem_format("%s.gate", field) : mem_string("gate");
	char *prefix = field ? mem_format("%s.score.", field) : mem_string("score.");
	int64_t count = strings_count(gates);

	columns->gates = gates;
	columns->kind = scores;
	columns->index = mem_new((size_t)count, sizeof *columns->index);
	drop_scores(writer, reader, prefix);
	columns->gate = stream_add(writer,
	    &(struct column){
		.name = gate, .dtype = DTYPE_U8, .text = true, .depth = lists ? 2 : 1 });
	for (int64_t g = 0; g < count && scores != GATE_COLUMNS_NONE; g++) {
		char *name = mem_format("%s%s", prefix, strings_get(gates, g));
		columns->index[g] = stream_add(writer,
		    &(struct column){ .name = name,
			.dtype = scores == GATE_COLUMNS_F64 ? DTYPE_F64 : DTYPE_F32,
			.depth = lists });
		free(name);
	}
	free(gate);
	free(prefix);
	return columns;
}

double *
gate_columns_scores(struct gate_columns *columns, int64_t count)
{
	size_t numbers =
	    mem_multiply((size_t)count, (size_t)strings_count(columns->gates), "scores");

	columns->scores = mem_grow(
	    columns->scores, &columns->score_room, numbers, sizeof *columns->scores);
	return columns->scores;
}

int32_t *
gate_columns_chosen(struct gate_columns *columns, int64_t count)
{
	columns->chosen = mem_grow(columns->chosen, &columns->chosen_room, (size_t)count,
	    sizeof *columns->chosen);
	return columns->chosen;
}

static void
put_scores(struct gate_columns *columns, struct record *made, int64_t count,
    const int64_t *starts)
{
	int64_t gates = strings_count(columns->gates);
	size_t bytes = (size_t)count * sizeof(double);
	/* each column begins where its numbers are aligned */
	size_t stride = (bytes + 63) / 64 * 64;

	columns->cells =
	    mem_grow(columns->cells, &columns->cell_room, (size_t)gates, stride + 1);
	for (int64_t g = 0; g < gates; g++) {
		char *cells = columns->cells + (size_t)g * stride;
		for (int64_t i = 0; i < count; i++) {
			double score = columns->scores[i * gates + g];
			if (columns->kind == GATE_COLUMNS_F64)
				((double *)cells)[i] = score;
			else
				((float *)cells)[i] = (float)score;
		}
		made->columns[columns->index[g]] = (struct array){ { starts }, cells };
	}
}

void
gate_columns_put(struct gate_columns *columns, struct record *made, int64_t count,
    const int64_t *starts)
{
	struct text_column *names = &columns->names;

	text_column_clear(names);
	for (int64_t i = 0; i < count; i++)
		text_column_add(names, strings_get(columns->gates, columns->chosen[i]),
		    strings_length(columns->gates, columns->chosen[i]));
	struct array *array = &made->columns[columns->gate];
	*array = text_column_array(names);
	if (starts)
		*array =
		    (struct array){ { starts, names->offsets.data }, names->bytes.data };
	if (columns->kind != GATE_COLUMNS_NONE)
		put_scores(columns, made, count, starts);
}

void
gate_columns_free(struct gate_columns *columns)
{
	free(columns->index);
	free(columns->scores);
	free(columns->chosen);
	free(columns->cells);
	text_column_free(&columns->names);
	free(columns);
}
