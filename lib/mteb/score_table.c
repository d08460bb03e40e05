#include "mteb/score_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "mteb/zero_shot.h"
#include "text/lines.h"

/* Rows. ---------------------------------------------------------------------------- */

static struct score_row *
new_row(struct score_table *table, const char *type, const char *task)
{
	table->rows = mem_grow(
	    table->rows, &table->capacity, table->count + 1, sizeof *table->rows);
	struct score_row *row = &table->rows[table->count++];
	*row = (struct score_row){ .type = type, .task = task };
	row->values = mem_new(table->model_count, sizeof *row->values);
	row->other = mem_zero(table->model_count, sizeof *row->other);
	for (size_t m = 0; m < table->model_count; m++)
		row->values[m] = NAN;
	return row;
}

static bool
has_row(const struct score_table *table, const char *task)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->rows[i].task, task))
			return true;
	return false;
}

static bool
is_named(const char *list, const char *metric)
{
	size_t length = strlen(metric);

	for (const char *at = list; at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (!strncmp(at, metric, length) && (!at[length] || at[length] == ','))
			return true;
	}
	return false;
}

/* Adds a metric to the row's list. */
static void
name_metric(struct score_row *row, const char *metric)
{
	if (metric && !is_named(row->metric, metric))
		row->metric = mem_list(row->metric, metric);
}

/* The data set that a result is a part of; NULL: none. */
static const char *
whole_of(const struct registry *registry, const struct task_result *result)
{
	const struct registry_task *known = registry_find(registry, result->task);
	bool v2 = result->protocol ? result->protocol == 2 : registry->v2;

	if (!known || !known->part_of)
		return NULL;
	if (registry->benchmark)
		return benchmark_has(registry->benchmark, known->part_of, NULL)
			   ? known->part_of
			   : NULL;
	return v2 ? NULL : known->part_of;
}

/* Sets the row's value to the mean of the parts that the model has. */
static void
join_parts(struct score_row *row, const struct registry *registry,
    const struct results *model, size_t m)
{
	double sum = 0;
	size_t parts = 0, met = 0;

	registry_read_all(registry);
	for (size_t i = 0; i < registry->count; i++) {
		const struct registry_task *part = registry_task(registry, i);
		if (!part->part_of || strcmp(part->part_of, row->task) != 0)
			continue;
		const struct task_result *result = results_find(model, part->name);
		parts++;
		if (!result || !whole_of(registry, result))
			continue;
		met++;
		sum += result->main;
		row->other[m] |= result->other || result->missing;
		name_metric(row, result->metric);
	}
	if (met && (!registry->benchmark || met == parts))
		row->values[m] = sum / (double)met;
	row->other[m] |= met != parts;
}

static void
add_task(struct score_table *table, const struct registry *registry,
    const struct task_result *result)
{
	const struct registry_task *known = registry_find(registry, result->task);
	const char *type = known ? known->type : result->type ? result->type : "Other";
	const char *whole = whole_of(registry, result);
	const char *task = whole ? whole : result->task;

	if (has_row(table, task) ||
	    (registry->benchmark && !benchmark_has(registry->benchmark, task, NULL)))
		return;
	struct score_row *row = new_row(table, type, task);
	for (size_t m = 0; m < table->model_count; m++) {
		const struct task_result *own = results_find(table->models[m], task);
		if (own && registry->benchmark && own->missing)
			continue;
		if (own && !whole_of(registry, own)) {
			row->values[m] = own->main;
			row->other[m] = own->other || own->missing;
			name_metric(row, own->metric);
		} else if (whole) {
			join_parts(row, registry, table->models[m], m);
		}
	}
	if (!row->metric && known)
		row->metric = mem_string(known->main);
}

/* Rows of the benchmark's sets that no model has. */
static void
add_missing(struct score_table *table, const struct registry *registry)
{
	const struct tree *tasks = tree_get(registry->benchmark, "tasks");

	for (size_t i = 0; i < tasks->count; i++) {
		const char *task = benchmark_task(tasks->items[i]);
		const struct registry_task *known = registry_find(registry, task);
		if (!known)
			registry_read_all(registry);
		for (size_t k = 0; !known && k < registry->count; k++) {
			const struct registry_task *part = registry_task(registry, k);
			if (part->part_of && !strcmp(part->part_of, task))
				known = part;
		}
		if (!known || has_row(table, task))
			continue;
		struct score_row *row = new_row(table, known->type, task);
		row->metric = mem_string(known->main);
	}
}

static int
compare(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !a - !b;
}

/* By type and name; a mean, which has no name, after its type's rows. */
static int
by_type(const void *a, const void *b)
{
	const struct score_row *x = a, *y = b;
	int order = compare(x->type, y->type);

	if (!order)
		order = compare(x->task, y->task);
	return order ? order : (int)x->summary - (int)y->summary;
}

static void
add_mean(struct score_table *table, const char *type, size_t tasks)
{
	struct score_row *row = new_row(table, type, NULL);

	for (size_t m = 0; m < table->model_count; m++) {
		double sum = 0;
		row->sets = 0;
		for (size_t i = 0; i < tasks; i++) {
			if (type && strcmp(table->rows[i].type, type) != 0)
				continue;
			sum += table->rows[i].values[m];
			row->other[m] |= table->rows[i].other[m];
			row->sets++;
		}
		row->values[m] = sum / (double)row->sets;
	}
}

/* Adds the mean of the types' means, the rows from `tasks` on. */
static void
add_mean_of_types(struct score_table *table, size_t tasks)
{
	size_t types = table->count - tasks;
	struct score_row *row = new_row(table, NULL, NULL);

	row->summary = SUMMARY_MEAN_OF_TYPES;
	row->sets = types;
	for (size_t m = 0; m < table->model_count; m++) {
		row->values[m] = 0;
		for (size_t i = 0; i < types; i++)
			row->values[m] +=
			    table->rows[tasks + i].values[m] / (double)types;
	}
}

/* The rank of the model, from 1, among those with a value.  Equal values share the mean of their ranks. */
static double
rank_of(const double *values, size_t count, size_t model)
{
	double rank = 0.5;

	for (size_t m = 0; m < count; m++)
		rank += values[m] > values[model]    ? 1
			: values[m] == values[model] ? 0.5
						     : 0;
	return rank;
}

static void
add_borda(struct score_table *table, size_t tasks)
{
	size_t count = table->model_count;
	struct score_row *row = new_row(table, NULL, NULL);
	double *points = mem_zero(count, sizeof *points);

	row->summary = SUMMARY_BORDA;
	row->sets = count > 1 ? tasks : 1;
	for (size_t i = 0; i < tasks; i++)
		for (size_t m = 0; m < count; m++)
			if (!isnan(table->rows[i].values[m]))
				points[m] += (double)count -
					     rank_of(table->rows[i].values, count, m);
	for (size_t m = 0; m < count; m++) {
		row->values[m] = 1;
		for (size_t o = 0; o < count; o++)
			row->values[m] += points[o] > points[m];
	}
	free(points);
}

/* Adds no row where no model's training sets are known. */
static void
add_zero_shot(struct score_table *table, const struct registry *registry, size_t tasks)
{
	struct score_row *row = NULL;

	for (size_t m = 0; m < table->model_count; m++) {
		const struct tree *meta = table->models[m]->meta;
		size_t trained = 0;
		if (!zero_shot_known(meta))
			continue;
		for (size_t i = 0; i < tasks; i++)
			trained += zero_shot_trained(registry, meta, table->rows[i].task);
		if (!row)
			row = new_row(table, NULL, NULL);
		row->values[m] =
		    trunc(100 - 100 * ((double)trained / (double)tasks)) / 100;
		row->summary = SUMMARY_ZERO_SHOT;
		row->sets = tasks;
	}
}

static void
add_summaries(struct score_table *table, const struct registry *registry)
{
	size_t tasks = table->count;

	qsort(table->rows, tasks, sizeof *table->rows, by_type);
	for (size_t i = 0; i < tasks; i++)
		if (i + 1 == tasks ||
		    strcmp(table->rows[i].type, table->rows[i + 1].type) != 0)
			add_mean(table, table->rows[i].type, tasks);
	add_mean_of_types(table, tasks);
	add_mean(table, NULL, tasks);
	add_borda(table, tasks);
	add_zero_shot(table, registry, tasks);
	qsort(table->rows, table->count, sizeof *table->rows, by_type);
}

/* The model's name, with revision and protocol if other columns of the model differ there. */
static char *
column_name(const struct results *const *models, size_t count, size_t m)
{
	const struct results *own = models[m];
	bool revision = false, protocol = false;

	for (size_t o = 0; o < count; o++) {
		if (strcmp(models[o]->model, own->model) != 0)
			continue;
		revision |= strcmp(models[o]->revision, own->revision) != 0;
		protocol |= models[o]->protocol != own->protocol;
	}
	return mem_format("%s%s%.7s%s", own->model, revision ? "@" : "",
	    revision ? own->revision : "",
	    !protocol || !own->protocol ? ""
	    : own->protocol == 1	? " v1"
					: " v2");
}

/* Adds the folder to names that are still equal. */
static void
name_alike(struct score_table *table)
{
	size_t count = table->model_count;
	bool *alike = mem_zero(count, sizeof *alike);

	for (size_t m = 0; m < count; m++)
		for (size_t o = 0; o < count; o++)
			alike[m] |= o != m && !strcmp(table->names[o], table->names[m]);
	for (size_t m = 0; m < count; m++) {
		char *name = table->names[m];
		if (!alike[m])
			continue;
		table->names[m] = mem_format("%s (%s)", name, table->models[m]->dir);
		free(name);
	}
	free(alike);
}

static void
tell_protocols(const struct score_table *table)
{
	const struct results *const *models = table->models;

	for (size_t m = 1; m < table->model_count; m++) {
		int one = models[0]->protocol, other = models[m]->protocol;
		if (!one || !other || one == other)
			continue;
		warn(
		    "%s and %s were scored by different protocols: figures of one task may be of different measures",
		    table->names[0], table->names[m]);
		return;
	}
}

struct score_table *
score_table_new(
    const struct registry *registry, const struct results *const *models, size_t count)
{
	struct score_table *table = mem_zero(1, sizeof *table);

	table->models = models;
	table->model_count = count;
	table->names = mem_new(count, sizeof *table->names);
	for (size_t m = 0; m < count; m++)
		table->names[m] = column_name(models, count, m);
	name_alike(table);
	tell_protocols(table);
	for (size_t m = 0; m < count; m++)
		for (size_t i = 0; i < models[m]->count; i++)
			add_task(table, registry, &models[m]->items[i]);
	if (registry->benchmark)
		add_missing(table, registry);
	add_summaries(table, registry);
	return table;
}

void
score_table_free(struct score_table *table)
{
	for (size_t m = 0; m < table->model_count; m++)
		free(table->names[m]);
	for (size_t i = 0; i < table->count; i++) {
		free(table->rows[i].metric);
		free(table->rows[i].values);
		free(table->rows[i].other);
	}
	free(table->names);
	free(table->rows);
	free(table);
}

/* Tables of text. ------------------------------------------------------------------ */

const char score_table_note[] =
    "another set than mteb's of that name, by its size; or not all of its parts";

bool
score_table_shows(const struct score_row *row)
{
	return row->task || row->sets > 1;
}

const char *
score_table_label(const struct score_row *row, char room[SCORE_TEXT_ROOM])
{
	static const char *const formats[] = { "mean of %zu", "mean of %zu types",
		"rank (Borda)", "zero-shot" };

	if (row->task)
		return row->task;
	snprintf(room, SCORE_TEXT_ROOM, formats[row->summary], row->sets);
	return room;
}

const char *
score_table_value(const struct score_row *row, size_t model, char room[SCORE_TEXT_ROOM])
{
	if (!row->task && row->summary == SUMMARY_BORDA)
		snprintf(room, SCORE_TEXT_ROOM, "%.0f", row->values[model]);
	else if (!row->task && row->summary == SUMMARY_ZERO_SHOT)
		snprintf(room, SCORE_TEXT_ROOM, "%.0f", 100 * row->values[model]);
	else
		snprintf(room, SCORE_TEXT_ROOM, "%.2f", 100 * row->values[model]);
	return room;
}

void
score_table_tsv(const struct score_table *table, FILE *out)
{
	fputs("type\ttask\tmetric", out);
	for (size_t m = 0; m < table->model_count; m++) {
		fputc('\t', out);
		lines_text(out, false, table->names[m]);
	}
	fputc('\n', out);
	for (size_t i = 0; i < table->count; i++) {
		const struct score_row *row = &table->rows[i];
		if (!score_table_shows(row))
			continue;
		char room[SCORE_TEXT_ROOM];
		fprintf(out, "%s\t", row->type ? row->type : "all");
		lines_text(out, false, score_table_label(row, room));
		fprintf(out, "\t%s", row->metric ? row->metric : "");
		for (size_t m = 0; m < table->model_count; m++)
			if (isnan(row->values[m]))
				fputs("\t", out);
			else
				fprintf(out, "\t%s", score_table_value(row, m, room));
		fputc('\n', out);
	}
}

void
score_table_markdown(const struct score_table *table, FILE *out)
{
	bool noted = false;

	fputs("| type | data set | metric |", out);
	for (size_t m = 0; m < table->model_count; m++) {
		fputc(' ', out);
		lines_text(out, true, table->names[m]);
		fputs(" |", out);
	}
	fputs("\n|---|---|---|", out);
	for (size_t m = 0; m < table->model_count; m++)
		fputs("---:|", out);
	fputc('\n', out);
	for (size_t i = 0; i < table->count; i++) {
		const struct score_row *row = &table->rows[i];
		if (!score_table_shows(row))
			continue;
		const char *bold = row->task ? "" : "**";
		char room[SCORE_TEXT_ROOM];
		fprintf(out, "| %s | %s", row->type ? row->type : "all", bold);
		lines_text(out, true, score_table_label(row, room));
		fprintf(out, "%s | %s |", bold, row->metric ? row->metric : "");
		for (size_t m = 0; m < table->model_count; m++)
			if (isnan(row->values[m])) {
				fputs(" |", out);
			} else {
				bool mark = row->other[m] && row->task;
				fprintf(out, " %s%s%s%s |", bold,
				    score_table_value(row, m, room), bold,
				    mark ? " \\*" : "");
				noted |= mark;
			}
		fputc('\n', out);
	}
	if (noted)
		fprintf(out, "\n\\* %s\n", score_table_note);
}

void
score_table_print(const struct registry *registry, char *const *folders, int count,
    void (*print)(const struct score_table *, FILE *), FILE *out)
{
	struct results **models = mem_new((size_t)count, sizeof *models);

	for (int i = 0; i < count; i++)
		models[i] = results_read(registry, folders[i]);
	struct score_table *table = score_table_new(
	    registry, (const struct results *const *)models, (size_t)count);
	print(table, out);
	score_table_free(table);
	for (int i = 0; i < count; i++)
		results_free(models[i]);
	free(models);
}
