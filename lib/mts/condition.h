/*
 * condition - "NAME OPERATOR VALUE": what is asked of a row, with =, !=, <, <=, >, >=, and ~, !~ for
 * an expression.
 *
 * NAME is a column that has one value a row or, where there is none of that name, an attribute of
 * the records.  Blanks beside the operator do not count; == is =.
 *
 *	text		= and != compare bytes: 007 is not 7.  < <= > >= compare what it says as
 *			a number, and die, naming row and column, where it is none
 *	numbers		by value; f32, f16 and bf16 as floats, so that 0.1 is what is printed as 0.1.
 *			NaN, Infinity and -Infinity are values, too; but for = NaN and for !=, no
 *			comparison with NaN holds
 *	booleans	= and != with true or false
 *	~		a regular expression that is found in the text, or in the number as it is
 *			printed: Oniguruma's with Ruby's syntax, where ^ and $ stand at the ends of lines
 *	an attribute	as its kind says; where a record has none, only != and !~ hold
 */
#ifndef CONDITION_H
#define CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/stream.h"

struct condition;

/* A usage fault where it is none.  The text is copied. */
struct condition *condition_new(const char *text);

/* Find its column, and whether the column's values can be compared so; dies saying why not.  Before
 * condition_apply. */
void condition_bind(struct condition *condition, const struct reader *reader);

/* Take away from `pass` [record->rows] the rows where it does not hold; looks only at the others.
 * `before`: rows of the stream before the record, for messages. */
void condition_apply(
    struct condition *condition, const struct record *record, int64_t before, bool *pass);

/* At the stream's end: dies where the name was neither a column nor an attribute of any record. */
void condition_end(const struct condition *condition);
void condition_free(struct condition *condition);

#endif
