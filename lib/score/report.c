#include "score/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/status_line.h"
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

/* JSON has no NaN: null says that there is no such value. */
static struct tree *
number(double value)
{
	return isfinite(value) ? tree_of_real(value) : tree_of_null();
}

void
report_score(struct report *report, double value, const char *format, ...)
{
	va_list arguments;
	char name[256];

	va_start(arguments, format);
	vsnprintf(name, sizeof name, format, arguments);
	va_end(arguments);
	tree_set(report->scores, name, number(value));
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
		tree_add(list, number(values[i]));
	tree_set(report->scores, name, list);
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

static void
print_lines(const struct report *report)
{
	printf("# mteb-score %s:", report->type);
	for (size_t i = 0; i < report->settings->count; i++) {
		const struct tree *setting = report->settings->items[i];
		printf("%s %s %s", i ? "," : "", setting->key, setting->string);
	}
	putchar('\n');
	for (size_t i = 0; i < report->scores->count; i++) {
		const struct tree *score = report->scores->items[i];
		printf("%s\t", score->key);
		if (score->kind != TREE_LIST)
			print_number(score);
		for (size_t j = 0; score->kind == TREE_LIST && j < score->count; j++) {
			if (j)
				putchar(' ');
			print_number(score->items[j]);
		}
		putchar('\n');
	}
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
