/*
 * comparison - a condition on the values of a column or field: "NAME OPERATOR VALUE".
 *
 * Operators: =, !=, <, <=, >, >=; ~ and !~ for regular expressions; == is =.  Blanks around the operator are ignored.
 *
 *	text		= and != compare bytes: 007 is not 7.  < <= > >= parse the text as a number;
 *			the empty text, an empty cell of a table, satisfies none of them
 *	numbers		by value; VALUE may be NaN, Infinity or -Infinity.  A NaN satisfies only = NaN and !=
 *	~		true if the expression is found in the text: Oniguruma with Ruby's syntax, where ^ and $ match at the
 *			ends of lines
 */
#ifndef TEXT_COMPARISON_H
#define TEXT_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#include "text/tree.h"

struct comparison;

/* Parses and copies the text; dies if it is not a comparison.  `where` starts the message. */
struct comparison *comparison_new(const char *where, const char *text);

const char *comparison_text(const struct comparison *comparison);
const char *comparison_name(const struct comparison *comparison);

/* VALUE, and whether it is a number. */
const char *comparison_value(const struct comparison *comparison);
bool comparison_is_number(const struct comparison *comparison);

/* Whether the operator is one of < <= > >=; one of ~ !~. */
bool comparison_is_order(const struct comparison *comparison);
bool comparison_is_expression(const struct comparison *comparison);

/* Rounds VALUE to float: 0.1 becomes 0.1f.  For columns of f32. */
void comparison_as_float(struct comparison *comparison);

/* Whether the condition holds for a number.  Integers of 64 bits are compared exactly. */
bool comparison_of_number(const struct comparison *comparison, long double number);

/* *holds: whether the condition holds for a text, which may be invalid UTF-8.  Returns false if the operator is < <= >
 * >= and the text is not a number. */
bool comparison_of_text(
    const struct comparison *comparison, const char *text, size_t length, bool *holds);

/* The same for a value by its kind; NULL is a missing value, and lists, objects and booleans are compared as JSON text.
 * Returns false as comparison_of_text does. */
bool comparison_of_tree(
    const struct comparison *comparison, const struct tree *value, bool *holds);
void comparison_free(struct comparison *comparison);

#endif
