#include "score/report.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/status_line.h"
#include "score/measure/stats.h"
#include "text/json.h"

struct report *
report_new(const char *type)
{
	struct report *report = mem_zero(1, sizeof *report);

	report->type = type;
	report->settings = tree_object();
	report->scores = tree_object();
	tree_set(report->scores, "main_score", tree_of_null());
	return report;
}

void
report_set(struct report *report, const char *key, const char *format, ...)
{
	va_list arguments;
	char text[256];

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	tree_set(report->settings, key, tree_of_string(text));
}

void
report_score(struct report *report, double value, const char *format, ...)
{
	va_list arguments;
	char name[256];

	va_start(arguments, format);
	vsnprintf(name, sizeof name, format, arguments);
	va_end(arguments);
	tree_set(report->scores, name, tree_of_number(value));
}

void
report_list(
    struct report *report, const double *values, int64_t count, const char *format, ...)
{
	struct tree *list = tree_list();
	va_list arguments;
	char name[256];

	va_start(arguments, format);
	vsnprintf(name, sizeof name, format, arguments);
	va_end(arguments);
	for (int64_t i = 0; i < count; i++)
		tree_add(list, tree_of_number(values[i]));
	tree_set(report->scores, name, list);
}

void
report_experiments(struct report *report, const char *const *names, int metrics,
    const double *values, int experiments)
{
	struct tree *list =
	    tree_set(report->scores, "scores_per_experiment", tree_list());

	for (int i = 0; i < experiments; i++) {
		struct tree *experiment = tree_add(list, tree_object());
		for (int metric = 0; metric < metrics; metric++)
			tree_set(experiment, names[metric],
			    tree_of_number(values[(int64_t)metric * experiments + i]));
	}
	for (int metric = 0; metric < metrics; metric++)
		report_score(report,
		    stats_mean(values + (int64_t)metric * experiments, experiments), "%s",
		    names[metric]);
}

struct report
report_part(const struct report *report)
{
	return (struct report){ report->settings, tree_object(), report->type };
}

void
report_put(struct report *report, const char *name, struct report *part)
{
	tree_set(report->scores, name, part->scores);
}

void
report_main(struct report *report, const char *metric, const char *why)
{
	const struct tree *value = tree_get(report->scores, metric);

	if (!value)
		warn("%s: %s does not exist: %s", report->type, metric, why);
	tree_set(report->scores, "main_score", value ? tree_copy(value) : tree_of_null());
	report_set(report, "main", "%s", metric);
}

static void
print_number(const struct tree *value)
{
	char room[NUMBER_ROOM];

	fputs(value->kind == TREE_REAL ? number_write(room, value->real, false) : "nan",
	    stdout);
}

/* A line for each metric of a list of objects. */
static void
print_experiments(const struct tree *list)
{
	for (size_t metric = 0; metric < list->items[0]->count; metric++) {
		printf("%s_per_experiment\t", list->items[0]->items[metric]->key);
		for (size_t i = 0; i < list->count; i++) {
			if (i)
				putchar(' ');
			print_number(list->items[i]->items[metric]);
		}
		putchar('\n');
	}
}

static void print_score(const char *name, const struct tree *score);

/* The scores of an object, by its name and theirs: "Level 0" is level_0. */
static void
print_object(const char *name, const struct tree *object)
{
	for (size_t i = 0; i < object->count; i++) {
		char path[512];
		int length =
		    snprintf(path, sizeof path, "%s_%s", name, object->items[i]->key);
		for (int j = 0; j < length && path[j]; j++)
			path[j] =
			    path[j] == ' ' ? '_' : (char)tolower((unsigned char)path[j]);
		print_score(path, object->items[i]);
	}
}

static void
print_score(const char *name, const struct tree *score)
{
	if (score->kind == TREE_OBJECT) {
		print_object(name, score);
		return;
	}
	if (score->kind == TREE_LIST && score->count &&
	    score->items[0]->kind == TREE_OBJECT) {
		print_experiments(score);
		return;
	}
	printf("%s\t", name);
	if (score->kind != TREE_LIST)
		print_number(score);
	for (size_t j = 0; score->kind == TREE_LIST && j < score->count; j++) {
		if (j)
			putchar(' ');
		print_number(score->items[j]);
	}
	putchar('\n');
}

static void
print_lines(const struct report *report)
{
	printf("# mteb-score %s:", report->type);
	for (size_t i = 0; i < report->settings->count; i++) {
		const struct tree *setting = report->settings->items[i];
		printf("%s %s %s", i ? "," : "", setting->key, setting->string);
	}
	putchar('\n');
	for (size_t i = 0; i < report->scores->count; i++)
		print_score(report->scores->items[i]->key, report->scores->items[i]);
}

void
report_print(const struct report *report, bool json)
{
	status_line_stop();
	if (json) {
		struct tree *root = tree_object();
		tree_set(root, "task_type", tree_of_string(report->type));
		tree_set(root, "settings", tree_copy(report->settings));
		tree_set(root, "scores", tree_copy(report->scores));
		json_print(root);
		tree_free(root);
	} else {
		print_lines(report);
	}
	if (fflush(stdout) || ferror(stdout))
		die("standard output:");
}

void
report_free(struct report *report)
{
	tree_free(report->settings);
	tree_free(report->scores);
	free(report);
}
