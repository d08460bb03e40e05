/*
 * comparison - "NAME OPERATOR VALUE", with =, !=, <, <=, >, >=, and ~, !~ for an expression: what is
 * asked of a column's or a field's values.  Blanks beside the operator do not count; == is =.
 *
 *	text		= and != compare bytes: 007 is not 7.  < <= > >= compare what it says as
 *			a number
 *	numbers		by value.  NaN, Infinity and -Infinity are values, too; but for = NaN and
 *			for !=, no comparison with NaN holds
 *	~		a regular expression that is found in the text: Oniguruma's with Ruby's
 *			syntax, where ^ and $ stand at the ends of lines
 */
#ifndef TEXT_COMPARISON_H
#define TEXT_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#include "text/tree.h"

struct comparison;

/* The text is copied; dies on one that is none, naming `where` it stands. */
struct comparison *comparison_new(const char *where, const char *text);

const char *comparison_text(const struct comparison *comparison);
const char *comparison_name(const struct comparison *comparison);

/* Its VALUE, and whether that is a number. */
const char *comparison_value(const struct comparison *comparison);
bool comparison_is_number(const struct comparison *comparison);

/* Whether it is one of < <= > >=; one of ~ !~. */
bool comparison_is_order(const struct comparison *comparison);
bool comparison_is_expression(const struct comparison *comparison);

/* From now on its number is the float that is printed so: 0.1 is 0.1f. */
void comparison_as_float(struct comparison *comparison);

/* Whether it holds.  The number is compared exactly, all of int64_t. */
bool comparison_of_number(const struct comparison *comparison, long double number);

/* Whether it holds where there is no value: != and !~ do. */
bool comparison_of_nothing(const struct comparison *comparison);

/* Of text, which need not be valid UTF-8; false: an order is asked for, and the text is no number. */
bool comparison_of_text(
    const struct comparison *comparison, const char *text, size_t length, bool *holds);

/* Of a value by its kind, of NULL as of nothing; what is neither a number nor a string is its
 * JSON.  False as comparison_of_text. */
bool comparison_of_tree(
    const struct comparison *comparison, const struct tree *value, bool *holds);
void comparison_free(struct comparison *comparison);

#endif
