#include "stream/condition.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/stream_format.h"
#include "stream/values.h"
#include "text/comparison.h"

struct condition {
	struct comparison *comparison;
	const struct reader *reader;
	int column;	 /* -1: an attribute */
	bool with;	 /* some record had the attribute */
	int64_t without; /* the first record without it; 0: none */
};

struct condition *
condition_new(const char *text)
{
	struct condition *condition = mem_zero(1, sizeof *condition);

	exit_failed = EXIT_USAGE;
	condition->comparison = comparison_new("--where", text);
	exit_failed = EXIT_DATA;
	return condition;
}

/* Binding. ------------------------------------------------------------------------- */

static void
fail_kind(const struct condition *condition, const char *what)
{
	char *column = column_text(stream_column(condition->reader, condition->column));

	die("%s: column %s: '%s': %s", stream_name(condition->reader), column,
	    comparison_text(condition->comparison), what);
}

void
condition_bind(struct condition *condition, const struct reader *reader)
{
	struct comparison *comparison = condition->comparison;
	const char *value = comparison_value(comparison);

	condition->reader = reader;
	condition->column = stream_find(reader, comparison_name(comparison));
	if (condition->column < 0)
		return;
	const struct column *column = stream_column(reader, condition->column);
	if (column->rank || column->depth > column->text)
		fail_kind(condition, "a condition is of one value a row");
	if (column->text || comparison_is_expression(comparison))
		return;
	if (column->dtype == DTYPE_BOOL) {
		bool known = !strcmp(value, "true") || !strcmp(value, "false");
		if (comparison_is_order(comparison) || !known)
			fail_kind(condition, "it can only be = or != true or false");
	} else if (!comparison_is_number(comparison)) {
		fail_kind(condition, "the column is numbers, the value is none");
	}
	if (dtype_is_float(column->dtype) && column->dtype != DTYPE_F64)
		comparison_as_float(comparison);
}

/* Comparing. ----------------------------------------------------------------------- */

static bool
holds_row(const struct condition *condition, const struct column *column,
    const struct array *array, int64_t row, int64_t before)
{
	const struct comparison *comparison = condition->comparison;
	char room[VALUES_ROOM];
	const char *text;
	size_t length;
	bool holds;

	if (!column->text && column->dtype != DTYPE_BOOL &&
	    !comparison_is_expression(comparison))
		return comparison_of_number(
		    comparison, tensor_number(array->data, column->dtype, row));
	text = values_shown(column, array, row, room, &length);
	if (!comparison_of_text(comparison, text, length, &holds))
		die("%s: row %lld: column '%s': '%.*s' is not a number, which '%s' asks for",
		    stream_name(condition->reader), (long long)(before + row + 1),
		    column->name, length < 60 ? (int)length : 60, text,
		    comparison_text(comparison));
	return holds;
}

static void
apply_attribute(struct condition *condition, const struct record *record, bool *pass)
{
	const struct comparison *comparison = condition->comparison;
	const char *name = comparison_name(comparison),
		   *stream = stream_name(condition->reader);
	const struct tree *attribute = tree_get(record->attributes, name);
	int64_t number = stream_records(condition->reader);
	bool holds;

	if (!comparison_of_tree(comparison, attribute, &holds))
		die("%s: record %lld: attribute '%s' is not a number, which '%s' asks for",
		    stream, (long long)number, name, comparison_text(comparison));
	if (attribute)
		condition->with = true;
	else if (!condition->without)
		condition->without = number;
	for (int64_t i = 0; !holds && i < record->rows; i++)
		pass[i] = false;
}

void
condition_apply(
    struct condition *condition, const struct record *record, int64_t before, bool *pass)
{
	if (condition->column < 0) {
		apply_attribute(condition, record, pass);
		return;
	}
	const struct column *column = stream_column(condition->reader, condition->column);
	const struct array *array = &record->columns[condition->column];
	for (int64_t i = 0; i < record->rows; i++)
		if (pass[i])
			pass[i] = holds_row(condition, column, array, i, before);
}

void
condition_end(const struct condition *condition)
{
	const char *name = comparison_name(condition->comparison);

	if (condition->without && !condition->with)
		stream_lacks(condition->reader, name);
	if (condition->without)
		warn("%s: record %lld has no attribute '%s', and there is no such column",
		    stream_name(condition->reader), (long long)condition->without, name);
}

void
condition_free(struct condition *condition)
{
	comparison_free(condition->comparison);
	free(condition);
}

/* Several. ------------------------------------------------------------------------- */

struct conditions {
	int count;
	int64_t rows;
	bool *pass;
	size_t room;
	struct condition *at[];
};

struct conditions *
conditions_open(const char *const *texts, int count, const struct reader *reader)
{
	struct conditions *conditions =
	    mem_zero(1, sizeof *conditions + (size_t)count * sizeof(struct condition *));

	conditions->count = count;
	for (int i = 0; i < count; i++) {
		conditions->at[i] = condition_new(texts[i]);
		condition_bind(conditions->at[i], reader);
	}
	return conditions;
}

void
conditions_bind(struct conditions *conditions, const struct reader *reader)
{
	conditions->rows = 0;
	for (int i = 0; i < conditions->count; i++) {
		struct condition *old = conditions->at[i];
		struct condition *made = conditions->at[i] =
		    condition_new(comparison_text(old->comparison));
		made->with = old->with;
		made->without = old->without;
		condition_free(old);
		condition_bind(made, reader);
	}
}

const bool *
conditions_pass(struct conditions *conditions, const struct record *record)
{
	size_t rows = (size_t)record->rows;

	conditions->pass = mem_grow(conditions->pass, &conditions->room, rows + 1, 1);
	memset(conditions->pass, true, rows);
	for (int i = 0; i < conditions->count; i++)
		condition_apply(
		    conditions->at[i], record, conditions->rows, conditions->pass);
	conditions->rows += record->rows;
	return conditions->pass;
}

int64_t
conditions_rows(const struct conditions *conditions)
{
	return conditions->rows;
}

void
conditions_end(const struct conditions *conditions)
{
	for (int i = 0; i < conditions->count; i++)
		condition_end(conditions->at[i]);
}

void
conditions_close(struct conditions *conditions)
{
	for (int i = 0; conditions && i < conditions->count; i++)
		condition_free(conditions->at[i]);
	if (conditions)
		free(conditions->pass);
	free(conditions);
}
