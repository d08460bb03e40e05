#include "papers/mote/inter_task_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/status_line.h"
#include "score/measure/significance.h"
#include "score/measure/stats.h"
#include "text/json.h"
#include "text/lines.h"

enum { SPREAD = 7, OWN = 1 + SPREAD, NUMBERS = OWN + SPREAD + 7 };

static const char *const names[] = { "tasks", "texts", "mean", "deviation", "min", "q1",
	"median", "q3", "max", "against_mean", "against_deviation", "against_min",
	"against_q1", "against_median", "against_q3", "against_max", "difference",
	"welch_t", "welch_df", "welch_p", "paired_t", "paired_df", "paired_p", NULL };

struct inter_task_table {
	const struct strings *tasks, *ids;
	double **lists, **against; /* see inter_task_lists; against NULL: none */
	int lines;		   /* pairs, and "all" */
	int64_t texts;
};

static struct inter_task_table *
table_new(const struct inter_task *inter_task, const struct inter_task *against)
{
	struct inter_task_table *table = mem_zero(1, sizeof *table);

	table->tasks = inter_task->tasks;
	table->ids = inter_task->ids;
	table->lists = inter_task_lists(inter_task, inter_task);
	table->against = against ? inter_task_lists(against, inter_task) : NULL;
	table->lines = inter_task_pairs(inter_task) + 1;
	table->texts = strings_count(inter_task->ids);
	return table;
}

static void
table_free(struct inter_task_table *table)
{
	for (int i = 0; i < table->lines; i++) {
		free(table->lists[i]);
		if (table->against)
			free(table->against[i]);
	}
	free(table->lists);
	free(table->against);
	free(table);
}

/* The tasks of a line; false: it is "all". */
static bool
tasks_of(const struct inter_task_table *table, int line, const char *tasks[2])
{
	int count = (int)strings_count(table->tasks), first = 0;

	if (line == table->lines - 1)
		return false;
	for (int after; line >= (after = count - 1 - first); first++)
		line -= after;
	tasks[0] = strings_get(table->tasks, first);
	tasks[1] = strings_get(table->tasks, first + 1 + line);
	return true;
}

static char *
line_name(const struct inter_task_table *table, int line)
{
	const char *tasks[2];

	return tasks_of(table, line, tasks) ? mem_format("%s:%s", tasks[0], tasks[1])
					    : mem_string("all");
}

static void
spread(double to[SPREAD], const double *list, int64_t n)
{
	double *sorted = mem_new((size_t)n, sizeof *sorted);

	to[0] = stats_mean(list, n);
	to[1] = n > 1 ? stats_deviation(list, n, 1) : NAN;
	memcpy(sorted, list, (size_t)n * sizeof *sorted);
	stats_sort(sorted, n);
	for (int i = 0; i <= 4; i++)
		to[2 + i] = stats_quantile(sorted, n, i / 4.0);
	free(sorted);
}

static void
compare(double to[7], const double *list, const double *against, int64_t n)
{
	double *differences = mem_new((size_t)n, sizeof *differences);

	for (int64_t i = 0; i < n; i++)
		differences[i] = list[i] - against[i];
	struct t_test welch = significance_welch(list, n, against, n);
	struct t_test paired = significance_paired(differences, n);
	to[0] = stats_mean(differences, n);
	memcpy(to + 1,
	    (double[]){
		welch.t, welch.freedom, welch.p, paired.t, paired.freedom, paired.p },
	    6 * sizeof *to);
	free(differences);
}

/* Computes the numbers of a line; returns their number. */
static int
measure(const struct inter_task_table *table, int line, double numbers[NUMBERS])
{
	const double *list = table->lists[line];

	numbers[0] = (double)table->texts;
	spread(numbers + 1, list, table->texts);
	if (!table->against)
		return OWN;
	const double *against = table->against[line];
	spread(numbers + OWN, against, table->texts);
	compare(numbers + OWN + SPREAD, list, against, table->texts);
	return NUMBERS;
}

static void
print_tsv(const struct inter_task_table *table)
{
	const struct lines lines = { stdout, false, 1 };
	const char *head[NUMBERS + 2] = { NULL };
	double numbers[NUMBERS];

	memcpy(
	    head, names, (size_t)((table->against ? NUMBERS : OWN) + 1) * sizeof *head);
	lines_head(&lines, head);
	for (int i = 0; i < table->lines; i++) {
		char *name = line_name(table, i);
		int count = measure(table, i, numbers);
		lines_put(&lines, (const char *const[]){ name }, numbers, NULL, count);
		free(name);
	}
}

static void
set_numbers(struct tree *to, const struct inter_task_table *table, int line)
{
	double numbers[NUMBERS];
	int count = measure(table, line, numbers);

	for (int i = 1; i < count; i++)
		tree_set(to, names[i + 1], tree_of_number(numbers[i]));
}

static struct tree *
list_of(const char *const *texts, int count)
{
	struct tree *list = tree_list();

	for (int i = 0; i < count; i++)
		tree_add(list, tree_of_string(texts[i]));
	return list;
}

static void
print_json(const struct inter_task_table *table)
{
	struct tree *root = tree_object(), *pairs = tree_list();
	const char *tasks[INTER_TASK_MOST];
	int count = (int)strings_count(table->tasks);

	for (int i = 0; i < count; i++)
		tasks[i] = strings_get(table->tasks, i);
	tree_set(root, "texts", tree_of_integer(table->texts));
	tree_set(root, "tasks", list_of(tasks, count));
	tree_set(root, "pairs", pairs);
	for (int i = 0; tasks_of(table, i, tasks); i++) {
		struct tree *pair = tree_add(pairs, tree_object());
		tree_set(pair, "tasks", list_of(tasks, 2));
		set_numbers(pair, table, i);
	}
	set_numbers(tree_set(root, "all", tree_object()), table, table->lines - 1);
	json_print(root);
	tree_free(root);
}

static void
write_texts(const struct inter_task_table *table, struct per_query *to)
{
	for (int64_t i = 0; i < table->texts; i++)
		per_query_add(
		    to, strings_get(table->ids, i), strings_length(table->ids, i));
	for (int i = 0; i < table->lines * (table->against ? 2 : 1); i++) {
		bool other = i >= table->lines;
		int line = i % table->lines;
		char *name = line_name(table, line);
		per_query_column(to, (other ? table->against : table->lists)[line],
		    "%s%s", other ? "against " : "", name);
		free(name);
	}
	per_query_finish(to);
}

void
inter_task_compare(const char *const *paths, int count, const char *const *against,
    int against_count, const struct inter_task_options *options)
{
	struct per_query *per_text =
	    options->per_text ? per_query_create(options->per_text) : NULL;
	struct inter_task *other = NULL;
	struct inter_task *own =
	    inter_task_read(paths, count, options->field, options->any_model);

	if (against_count)
		other = inter_task_read(
		    against, against_count, options->field, options->any_model);
	struct inter_task_table *table = table_new(own, other);
	status_line_stop();
	if (per_text)
		write_texts(table, per_text);
	(options->json ? print_json : print_tsv)(table);
	table_free(table);
	if (other)
		inter_task_free(other);
	inter_task_free(own);
}
