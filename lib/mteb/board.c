#include "mteb/board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Rows. ---------------------------------------------------------------------------- */

static struct board_row *
new_row(struct board *board, const char *type, const char *task)
{
	board->rows = mem_grow(
	    board->rows, &board->capacity, board->count + 1, sizeof *board->rows);
	struct board_row *row = &board->rows[board->count++];
	*row = (struct board_row){ .type = type, .task = task };
	row->values = mem_new(board->model_count, sizeof *row->values);
	row->other = mem_zero(board->model_count, sizeof *row->other);
	for (size_t m = 0; m < board->model_count; m++)
		row->values[m] = NAN;
	return row;
}

static bool
has_row(const struct board *board, const char *task)
{
	for (size_t i = 0; i < board->count; i++)
		if (!strcmp(board->rows[i].task, task))
			return true;
	return false;
}

/* The mean of those parts of a set that a model has. */
static void
join_parts(struct board_row *row, const struct benchmark *benchmark,
    const struct results *model, size_t m)
{
	double sum = 0;
	size_t parts = 0, met = 0;

	for (size_t i = 0; i < benchmark->count; i++) {
		const struct benchmark_task *part = benchmark->tasks[i];
		if (!part->part_of || strcmp(part->part_of, row->task) != 0)
			continue;
		const struct result *result = results_find(model, part->name);
		parts++;
		if (!result)
			continue;
		met++;
		sum += result->main;
		row->other[m] |= result->other;
	}
	if (met)
		row->values[m] = sum / (double)met;
	row->other[m] |= met != parts;
}

static void
add_task(
    struct board *board, const struct benchmark *benchmark, const struct result *result)
{
	const struct benchmark_task *known = benchmark_find(benchmark, result->task);
	const char *type = known ? known->type : result->type ? result->type : "Other";
	const char *task = known && known->part_of ? known->part_of : result->task;

	if (has_row(board, task))
		return;
	struct board_row *row = new_row(board, type, task);
	row->metric = known ? known->main : result->metric;
	for (size_t m = 0; m < board->model_count; m++) {
		const struct result *own = results_find(board->models[m], task);
		if (own) {
			row->values[m] = own->main;
			row->other[m] = own->other;
		} else if (task != result->task) {
			join_parts(row, benchmark, board->models[m], m);
		}
	}
}

static int
by_type(const void *a, const void *b)
{
	const struct board_row *x = a, *y = b;
	int order = strcmp(x->type, y->type);

	return order ? order : strcmp(x->task, y->task);
}

static void
add_mean(struct board *board, const char *type, size_t tasks)
{
	struct board_row *row = new_row(board, type, NULL);

	for (size_t m = 0; m < board->model_count; m++) {
		double sum = 0;
		row->sets = 0;
		for (size_t i = 0; i < tasks; i++) {
			if (type && strcmp(board->rows[i].type, type) != 0)
				continue;
			sum += board->rows[i].values[m];
			row->other[m] |= board->rows[i].other[m];
			row->sets++;
		}
		row->values[m] = sum / (double)row->sets;
	}
}

/* By type, each with its mean at its end, that of all at the very end. */
static void
order(struct board *board)
{
	size_t tasks = board->count, kept = 0;

	qsort(board->rows, tasks, sizeof *board->rows, by_type);
	for (size_t i = 0; i < tasks; i++)
		if (i + 1 == tasks ||
		    strcmp(board->rows[i].type, board->rows[i + 1].type) != 0)
			add_mean(board, board->rows[i].type, tasks);
	struct board_row *rows = mem_new(board->count + 1, sizeof *rows);
	for (size_t i = 0, mean = tasks; i < tasks; i++) {
		rows[kept++] = board->rows[i];
		if (i + 1 == tasks ||
		    strcmp(board->rows[i].type, board->rows[i + 1].type) != 0)
			rows[kept++] = board->rows[mean++];
	}
	add_mean(board, NULL, tasks);
	rows[kept++] = board->rows[board->count - 1];
	free(board->rows);
	board->rows = rows;
	board->count = board->capacity = kept;
}

struct board *
board_new(
    const struct benchmark *benchmark, const struct results *const *models, size_t count)
{
	struct board *board = mem_zero(1, sizeof *board);

	board->models = models;
	board->model_count = count;
	board->names = mem_new(count, sizeof *board->names);
	for (size_t m = 0; m < count; m++) {
		bool twice = false;
		for (size_t o = 0; o < count; o++)
			twice |= o != m && !strcmp(models[o]->model, models[m]->model);
		board->names[m] = mem_format("%s%s%.7s", models[m]->model,
		    twice ? "@" : "", twice ? models[m]->revision : "");
	}
	for (size_t m = 0; m < count; m++)
		for (size_t i = 0; i < models[m]->count; i++)
			add_task(board, benchmark, &models[m]->items[i]);
	order(board);
	return board;
}

void
board_free(struct board *board)
{
	for (size_t m = 0; m < board->model_count; m++)
		free(board->names[m]);
	for (size_t i = 0; i < board->count; i++) {
		free(board->rows[i].values);
		free(board->rows[i].other);
	}
	free(board->names);
	free(board->rows);
	free(board);
}

/* Tables of text. ------------------------------------------------------------------ */

const char board_note[] =
    "another set than mteb's of that name, by its size; or not all of its parts";

static char *
task_name(const struct board_row *row)
{
	if (row->task)
		return mem_string(row->task);
	return mem_format("mean of %zu", row->sets);
}

void
board_tsv(const struct board *board, FILE *out)
{
	fputs("type\ttask\tmetric", out);
	for (size_t m = 0; m < board->model_count; m++)
		fprintf(out, "\t%s", board->names[m]);
	fputc('\n', out);
	for (size_t i = 0; i < board->count; i++) {
		const struct board_row *row = &board->rows[i];
		char *name = task_name(row);
		fprintf(out, "%s\t%s\t%s", row->type ? row->type : "all", name,
		    row->metric ? row->metric : "");
		for (size_t m = 0; m < board->model_count; m++)
			if (isnan(row->values[m]))
				fputs("\t", out);
			else
				fprintf(out, "\t%.2f", 100 * row->values[m]);
		fputc('\n', out);
		free(name);
	}
}

void
board_markdown(const struct board *board, FILE *out)
{
	bool noted = false;

	fputs("| type | data set | metric |", out);
	for (size_t m = 0; m < board->model_count; m++)
		fprintf(out, " %s |", board->names[m]);
	fputs("\n|---|---|---|", out);
	for (size_t m = 0; m < board->model_count; m++)
		fputs("---:|", out);
	fputc('\n', out);
	for (size_t i = 0; i < board->count; i++) {
		const struct board_row *row = &board->rows[i];
		const char *bold = row->task ? "" : "**";
		char *name = task_name(row);
		fprintf(out, "| %s | %s%s%s | %s |", row->type ? row->type : "all", bold,
		    name, bold, row->metric ? row->metric : "");
		for (size_t m = 0; m < board->model_count; m++)
			if (isnan(row->values[m])) {
				fputs(" |", out);
			} else {
				bool mark = row->other[m] && row->task;
				fprintf(out, " %s%.2f%s%s |", bold, 100 * row->values[m],
				    bold, mark ? " \\*" : "");
				noted |= mark;
			}
		fputc('\n', out);
		free(name);
	}
	if (noted)
		fprintf(out, "\n\\* %s\n", board_note);
}
