#include "mts/condition.h"

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
	int column;	    /* -1: an attribute */
	bool with, without; /* some record had the attribute; some had not */
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

	if (column->dtype == DTYPE_BOOL) {
		text = ((const char *)array->data)[row] ? "true" : "false";
		length = strlen(text);
	} else if (!column->text && !comparison_is_expression(comparison)) {
		return comparison_of_number(
		    comparison, tensor_number(array->data, column->dtype, row));
	} else {
		text = values_text(column, array, row, room, &length);
	}
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
	long long number = (long long)stream_records(condition->reader);
	bool holds;

	if (!comparison_of_tree(comparison, attribute, &holds))
		die("%s: record %lld: attribute '%s' is not a number, which '%s' asks for",
		    stream, number, name, comparison_text(comparison));
	if (attribute) {
		condition->with = true;
	} else if (!condition->with && !condition->without) {
		condition->without = true;
		warn("%s: record %lld has no attribute '%s', and there is no such column",
		    stream, number, name);
	}
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
	if (condition->without && !condition->with)
		stream_lacks(condition->reader, comparison_name(condition->comparison));
}

void
condition_free(struct condition *condition)
{
	comparison_free(condition->comparison);
	free(condition);
}
