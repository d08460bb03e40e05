#include "mts/condition.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"
#include "stream/stream_format.h"
#include "stream/values.h"
#include "text/json.h"
#include "token/expression.h"

enum relation {
	EQUAL,
	OTHER,
	BELOW,
	BELOW_OR_EQUAL,
	ABOVE,
	ABOVE_OR_EQUAL,
	MATCHES,
	MATCHES_NOT
};

struct condition {
	char *text, *name;
	enum relation relation;
	const char *value; /* into the text */
	size_t length;
	bool is_number;
	long double number; /* what the value says; exact for all of i64 */
	struct expression *expression;
	const struct reader *reader;
	int column;	    /* -1: an attribute */
	bool with, without; /* a record had the attribute, or had not */
};

/* Parsing. ------------------------------------------------------------------------- */

/* The longer first. */
static const struct {
	const char *text;
	enum relation relation;
} relations[] = { { "!=", OTHER }, { "!~", MATCHES_NOT }, { "<=", BELOW_OR_EQUAL },
	{ ">=", ABOVE_OR_EQUAL }, { "==", EQUAL }, { "=", EQUAL }, { "<", BELOW },
	{ ">", ABOVE }, { "~", MATCHES } };

static bool
read_value(const char *text, long double *number)
{
	static const struct {
		const char *name;
		long double number;
	} names[] = { { "NaN", NAN }, { "Infinity", INFINITY },
		{ "-Infinity", -INFINITY } };
	size_t length = strlen(text);
	int64_t whole;
	double real;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(text, names[i].name)) {
			*number = names[i].number;
			return true;
		}
	if (number_read_whole(text, length, &whole))
		*number = whole;
	else if (number_read(text, length, &real))
		*number = (long double)real;
	else
		return false;
	return true;
}

static bool
is_expression(const struct condition *condition)
{
	return condition->relation == MATCHES || condition->relation == MATCHES_NOT;
}

static bool
is_order(const struct condition *condition)
{
	return !is_expression(condition) && condition->relation > OTHER;
}

struct condition *
condition_new(const char *text)
{
	struct condition *condition = mem_zero(1, sizeof *condition);
	size_t length = strcspn(text, "=!<>~"), i = 0;
	const char *at = text + length;

	condition->text = mem_string(text);
	while (i < sizeof relations / sizeof *relations &&
	       strncmp(at, relations[i].text, strlen(relations[i].text)) != 0)
		i++;
	while (length && text[length - 1] == ' ')
		length--;
	if (!length || i == sizeof relations / sizeof *relations)
		die_usage("--where: '%s' is not NAME=VALUE, nor with !=, <, <=, >, >=, ~ "
			  "or !~",
		    text);
	condition->name = mem_format("%.*s", (int)length, text);
	condition->relation = relations[i].relation;
	at += strlen(relations[i].text);
	at += strspn(at, " ");
	condition->value = condition->text + (at - text);
	condition->length = strlen(condition->value);
	condition->is_number = read_value(condition->value, &condition->number);
	if (is_order(condition) && !condition->is_number)
		die_usage(
		    "--where: '%s': what is below or above is a number; '%s' is none",
		    text, condition->value);
	if (is_expression(condition)) {
		exit_failed = EXIT_USAGE;
		condition->expression =
		    expression_new("--where", condition->value, condition->length);
		exit_failed = EXIT_DATA;
	}
	return condition;
}

/* Which column. -------------------------------------------------------------------- */

static void
fail_kind(const struct condition *condition, const char *what)
{
	char *column = column_text(stream_column(condition->reader, condition->column));

	die("%s: column %s: '%s': %s", stream_name(condition->reader), column,
	    condition->text, what);
}

void
condition_bind(struct condition *condition, const struct reader *reader)
{
	condition->reader = reader;
	condition->column = stream_find(reader, condition->name);
	if (condition->column < 0)
		return;
	const struct column *column = stream_column(reader, condition->column);
	if (column->rank || column->depth > column->text)
		fail_kind(condition, "a condition is of one value a row");
	if (column->text || is_expression(condition))
		return;
	if (column->dtype == DTYPE_BOOL) {
		bool known = !strcmp(condition->value, "true") ||
			     !strcmp(condition->value, "false");
		if (is_order(condition) || !known)
			fail_kind(condition, "it can only be = or != true or false");
	} else if (!condition->is_number) {
		fail_kind(condition, "the column is numbers, the value is none");
	}
	/* 0.1 is the float that is printed so */
	if (dtype_is_float(column->dtype) && column->dtype != DTYPE_F64 &&
	    fabsl(condition->number) <= (long double)FLT_MAX)
		condition->number = (long double)(float)condition->number;
}

/* Comparing. ----------------------------------------------------------------------- */

static bool
holds_number(const struct condition *condition, long double number)
{
	long double asked = condition->number;
	bool same = number == asked || (isnan(number) && isnan(asked));

	switch (condition->relation) {
	case EQUAL: return same;
	case OTHER: return !same;
	case BELOW: return number < asked;
	case BELOW_OR_EQUAL: return number <= asked;
	case ABOVE: return number > asked;
	default: return number >= asked;
	}
}

static bool
is_found(const struct condition *condition, const char *text, size_t length)
{
	if (utf8_valid(text, length) == length)
		return expression_found(condition->expression, text, length);
	char *repaired = mem_new(mem_multiply(length, 3, "text"), 1);
	length = utf8_repair(repaired, text, length, &(int64_t){ 0 });
	bool found = expression_found(condition->expression, repaired, length);
	free(repaired);
	return found;
}

static bool
holds_text(const struct condition *condition, const char *text, size_t length)
{
	if (is_expression(condition))
		return is_found(condition, text, length) ==
		       (condition->relation == MATCHES);
	bool same = length == condition->length &&
		    (!length || !memcmp(text, condition->value, length));
	return same == (condition->relation == EQUAL);
}

/* One of a column of integers or reals, exactly. */
static long double
number_at(const struct column *column, const struct array *array, int64_t row)
{
	const char *at =
	    (const char *)array->data + (size_t)row * dtype_size(column->dtype);
	int64_t whole;
	double real;

	if (column->dtype == DTYPE_I64) {
		memcpy(&whole, at, sizeof whole);
		return whole;
	}
	tensor_to_f64(&real, at, column->dtype, 1);
	return (long double)real;
}

static bool
holds_row(const struct condition *condition, const struct column *column,
    const struct array *array, int64_t row, int64_t before)
{
	char room[VALUES_ROOM];
	size_t length;
	double number;

	if (column->dtype == DTYPE_BOOL) {
		bool is = ((const char *)array->data)[row];
		return holds_text(condition, is ? "true" : "false", is ? 4 : 5);
	}
	if (!column->text && !is_expression(condition))
		return holds_number(condition, number_at(column, array, row));
	const char *text = values_text(column, array, row, room, &length);
	if (!is_order(condition))
		return holds_text(condition, text, length);
	if (!number_read(text, length, &number))
		die("%s: row %lld: column '%s': '%.*s' is not a number, which '%s' asks "
		    "for",
		    stream_name(condition->reader), (long long)(before + row + 1),
		    column->name, length < 60 ? (int)length : 60, text, condition->text);
	return holds_number(condition, (long double)number);
}

/* Of an attribute, by its kind; what is neither a number nor a string is its JSON. */
static bool
holds_attribute(const struct condition *condition, const struct tree *attribute)
{
	bool number = attribute->kind == TREE_INTEGER || attribute->kind == TREE_REAL,
	     holds;

	if (number && !is_expression(condition) && condition->is_number)
		return holds_number(condition, attribute->kind == TREE_INTEGER
						   ? (long double)attribute->integer
						   : (long double)attribute->real);
	if (is_order(condition))
		die("%s: record %lld: attribute '%s' is not a number, which '%s' asks "
		    "for",
		    stream_name(condition->reader),
		    (long long)stream_records(condition->reader), condition->name,
		    condition->text);
	if (attribute->kind == TREE_STRING)
		return holds_text(condition, attribute->string, attribute->length);
	char *text = json_text(attribute, 0);
	holds = holds_text(condition, text, strlen(text));
	free(text);
	return holds;
}

static void
apply_attribute(struct condition *condition, const struct record *record, bool *pass)
{
	const struct tree *attribute = tree_get(record->attributes, condition->name);
	bool holds = condition->relation == OTHER || condition->relation == MATCHES_NOT;

	if (attribute) {
		condition->with = true;
		holds = holds_attribute(condition, attribute);
	} else if (!condition->with && !condition->without) {
		condition->without = true;
		warn("%s: record %lld has no attribute '%s', and there is no such column",
		    stream_name(condition->reader),
		    (long long)stream_records(condition->reader), condition->name);
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
		stream_lacks(condition->reader, condition->name);
}

void
condition_free(struct condition *condition)
{
	if (condition->expression)
		expression_free(condition->expression);
	free(condition->name);
	free(condition->text);
	free(condition);
}
