#include "text/comparison.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"
#include "text/expression.h"
#include "text/json.h"

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

struct comparison {
	char *text, *name;
	enum relation relation;
	const char *value; /* points into the text */
	size_t length;
	bool is_number;
	long double number; /* VALUE; exact for all of int64_t */
	struct expression *expression;
};

/* Longer operators come first. */
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
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(text, names[i].name)) {
			*number = names[i].number;
			return true;
		}
	return number_read_long(text, strlen(text), number);
}

struct comparison *
comparison_new(const char *where, const char *text)
{
	struct comparison *comparison = mem_zero(1, sizeof *comparison);
	size_t length = strcspn(text, "=!<>~"), i = 0;
	const char *at = text + length;

	comparison->text = mem_string(text);
	while (i < sizeof relations / sizeof *relations &&
	       strncmp(at, relations[i].text, strlen(relations[i].text)) != 0)
		i++;
	while (length && text[length - 1] == ' ')
		length--;
	if (!length || i == sizeof relations / sizeof *relations)
		die("%s: '%s' is not NAME=VALUE, nor with !=, <, <=, >, >=, ~ or !~",
		    where, text);
	comparison->name = mem_format("%.*s", (int)length, text);
	comparison->relation = relations[i].relation;
	at += strlen(relations[i].text);
	at += strspn(at, " ");
	comparison->value = comparison->text + (at - text);
	comparison->length = strlen(comparison->value);
	comparison->is_number = read_value(comparison->value, &comparison->number);
	if (comparison_is_order(comparison) && !comparison->is_number)
		die("%s: '%s': < and > need a number; '%s' is not one", where, text,
		    comparison->value);
	if (comparison_is_expression(comparison))
		comparison->expression =
		    expression_new(where, comparison->value, comparison->length);
	return comparison;
}

const char *
comparison_text(const struct comparison *comparison)
{
	return comparison->text;
}

const char *
comparison_name(const struct comparison *comparison)
{
	return comparison->name;
}

const char *
comparison_value(const struct comparison *comparison)
{
	return comparison->value;
}

bool
comparison_is_number(const struct comparison *comparison)
{
	return comparison->is_number;
}

bool
comparison_is_order(const struct comparison *comparison)
{
	return comparison->relation > OTHER && comparison->relation < MATCHES;
}

bool
comparison_is_expression(const struct comparison *comparison)
{
	return comparison->relation >= MATCHES;
}

void
comparison_as_float(struct comparison *comparison)
{
	if (fabsl(comparison->number) <= (long double)FLT_MAX)
		comparison->number = (long double)(float)comparison->number;
}

bool
comparison_of_number(const struct comparison *comparison, long double number)
{
	long double asked = comparison->number;
	bool same = number == asked || (isnan(number) && isnan(asked));

	switch (comparison->relation) {
	case EQUAL: return same;
	case OTHER: return !same;
	case BELOW: return number < asked;
	case BELOW_OR_EQUAL: return number <= asked;
	case ABOVE: return number > asked;
	default: return number >= asked;
	}
}

/* Whether the condition holds for a missing value: true for != and !~. */
static bool
of_nothing(const struct comparison *comparison)
{
	return comparison->relation == OTHER || comparison->relation == MATCHES_NOT;
}

static bool
is_found(const struct comparison *comparison, const char *text, size_t length)
{
	char *repaired = utf8_repaired(text, length, &length);
	bool found =
	    expression_found(comparison->expression, repaired ? repaired : text, length);

	free(repaired);
	return found;
}

bool
comparison_of_text(
    const struct comparison *comparison, const char *text, size_t length, bool *holds)
{
	long double number;

	if (comparison_is_expression(comparison)) {
		*holds = is_found(comparison, text, length) ==
			 (comparison->relation == MATCHES);
	} else if (comparison_is_order(comparison)) {
		if (length && !number_read_long(text, length, &number))
			return false;
		*holds = length && comparison_of_number(comparison, number);
	} else {
		bool same = length == comparison->length &&
			    (!length || !memcmp(text, comparison->value, length));
		*holds = same == (comparison->relation == EQUAL);
	}
	return true;
}

bool
comparison_of_tree(
    const struct comparison *comparison, const struct tree *value, bool *holds)
{
	if (tree_is_missing(value))
		value = NULL;
	bool number = value && (value->kind == TREE_INTEGER || value->kind == TREE_REAL);

	if (!value) {
		*holds = of_nothing(comparison);
		return true;
	}
	if (number && !comparison_is_expression(comparison) && comparison->is_number) {
		long double exact = value->kind == TREE_INTEGER
					? (long double)value->integer
					: (long double)value->real;
		if (value->kind == TREE_REAL && value->string)
			number_read_long(value->string, value->length, &exact);
		*holds = comparison_of_number(comparison, exact);
		return true;
	}
	if (value->kind == TREE_STRING)
		return comparison_of_text(
		    comparison, value->string, value->length, holds);
	char *text = json_text(value, 0);
	bool known = comparison_of_text(comparison, text, strlen(text), holds);
	free(text);
	return known;
}

void
comparison_free(struct comparison *comparison)
{
	if (comparison->expression)
		expression_free(comparison->expression);
	free(comparison->name);
	free(comparison->text);
	free(comparison);
}
