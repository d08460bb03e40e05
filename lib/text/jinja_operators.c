#include <stdlib.h>
#include <string.h>

#include "text/jinja_internal.h"

/* Reads one of `signs` that is an operator: what follows it is no end of a tag.  Returns 0 if none is there. */
static char
operator(struct jinja_run *run, const char *signs)
{
	const char *before = run->at;

	for (; *signs; signs++) {
		char sign[] = { *signs, '\0' };
		if (!jinja_sign(run, sign))
			continue;
		const char *after = run->at;
		if ((*signs != '%' || *run->at != '}') && !jinja_sign(run, "%}") &&
		    !jinja_sign(run, "}}")) {
			run->at = after;
			return *signs;
		}
		run->at = before;
		return 0;
	}
	return 0;
}

static int64_t
integer(struct jinja_run *run, const struct tree *value, const char *what)
{
	return jinja_need(run, value, TREE_INTEGER, what)->integer;
}

/* Reads a value with its signs. */
static const struct tree *
signed_value(struct jinja_run *run)
{
	bool any = false, negative = false;

	for (; jinja_sign(run, "-"); negative = !negative)
		any = true;
	const struct tree *value = jinja_whole(run);
	if (!any)
		return value;
	int64_t number = integer(run, value, "'-' is supported before whole numbers");
	return jinja_keep(run, tree_of_integer(negative ? -number : number), false);
}

static const struct tree *
remainder_of(struct jinja_run *run)
{
	const char *what = "'%' is supported for whole numbers from 0 on";
	const struct tree *value = signed_value(run);

	while (operator(run, "%")) {
		int64_t a = integer(run, value, what),
			b = integer(run, signed_value(run), what);
		if (a < 0 || b <= 0)
			jinja_fault(run, what);
		value = jinja_keep(run, tree_of_integer(b > 0 ? a % b : 0), false);
	}
	return value;
}

static const struct tree *
joined(struct jinja_run *run)
{
	const struct tree *value = remainder_of(run);

	while (jinja_sign(run, "~"))
		value = jinja_joined(run, value, remainder_of(run));
	return value;
}

static const struct tree *
sum(struct jinja_run *run)
{
	const char *what =
	    "'+' and '-' are supported for whole numbers, '+' for texts, too";
	const struct tree *value = joined(run);
	char sign;

	while ((sign = operator(run, "+-"))) {
		const struct tree *other = joined(run);
		if (sign == '+' && value && value->kind == TREE_STRING) {
			jinja_need(run, other, TREE_STRING, what);
			value = jinja_joined(run, value, other);
			continue;
		}
		int64_t a = integer(run, value, what), b = integer(run, other, what);
		if (llabs(a) > JINJA_MOST || llabs(b) > JINJA_MOST)
			jinja_die(run, "the number is too large");
		value =
		    jinja_keep(run, tree_of_integer(sign == '+' ? a + b : a - b), false);
	}
	return value;
}

static bool
holds(struct jinja_run *run, const struct tree *item, const struct tree *in)
{
	if (!in || in->kind < TREE_STRING ||
	    (in->kind == TREE_STRING && (!item || item->kind != TREE_STRING))) {
		jinja_fault(run, "'in' is supported for texts, lists and objects");
		return false;
	}
	jinja_work(run, in->length);
	if (in->kind == TREE_STRING)
		return strstr(in->string, item->string) != NULL;
	for (size_t i = 0; i < in->count; i++)
		if (in->kind == TREE_OBJECT ? item && item->kind == TREE_STRING &&
						  !strcmp(in->items[i]->key, item->string)
					    : jinja_equal(run, in->items[i], item))
			return true;
	return false;
}

/* The comparison of a value by order with the one after it; without a sign there, the value. */
static const struct tree *
ordered(struct jinja_run *run, const struct tree *value)
{
	const char *what = "'<' and '>' are supported for whole numbers";
	bool less = jinja_sign(run, "<");

	if (!less && !jinja_sign(run, ">"))
		return value;
	bool equal = jinja_sign(run, "=");
	int64_t a = integer(run, value, what), b = integer(run, sum(run), what);
	return jinja_boolean(run, (less ? a < b : a > b) || (equal && a == b));
}

static const struct tree *
comparison(struct jinja_run *run)
{
	const struct tree *value = sum(run);

	bool not = false, equals = jinja_sign(run, "==");
	if (equals || jinja_sign(run, "!="))
		return jinja_boolean(run, jinja_equal(run, value, sum(run)) == equals);
	const char *before = run->at;
	not = jinja_word(run, "not");
	if (jinja_word(run, "in"))
		return jinja_boolean(run, holds(run, value, sum(run)) != not );
	run->at = before;
	return ordered(run, value);
}

static const struct tree *
negation(struct jinja_run *run)
{
	if (!jinja_word(run, "not"))
		return comparison(run);
	jinja_enter(run);
	bool value = !jinja_true(negation(run));
	run->depth--;
	return jinja_boolean(run, value);
}

/* Drops the fault of a part that does not count.  faulty: there was one before it. */
static void
forgive(struct jinja_run *run, bool faulty)
{
	if (faulty)
		return;
	free(run->fault);
	run->fault = NULL;
}

static const struct tree *
conjunction(struct jinja_run *run)
{
	const struct tree *value = negation(run);

	while (jinja_word(run, "and")) {
		bool counts = jinja_true(value), faulty = run->fault;
		const struct tree *other = negation(run);
		if (!counts)
			forgive(run, faulty);
		value = counts ? other : value;
	}
	return value;
}

static const struct tree *
disjunction(struct jinja_run *run)
{
	const struct tree *value = conjunction(run);

	while (jinja_word(run, "or")) {
		bool known = jinja_true(value), faulty = run->fault;
		const struct tree *other = conjunction(run);
		if (known)
			forgive(run, faulty);
		value = known ? value : other;
	}
	return value;
}

const struct tree *
jinja_choice(struct jinja_run *run)
{
	const struct tree *value = disjunction(run);

	if (run->fault)
		jinja_die(run, "%s", run->fault);
	return value;
}

const struct tree *
jinja_part(struct jinja_run *run)
{
	bool faulty = run->fault, fits = true;

	jinja_enter(run);
	const struct tree *value = disjunction(run), *other = NULL;
	if (jinja_word(run, "if")) {
		char *fault =
		    run->fault; /* of the value, which the condition may leave out */
		run->fault = NULL;
		fits = jinja_true(disjunction(run));
		if ((fits && fault) || faulty) {
			free(run->fault);
			run->fault = fault;
		} else {
			free(fault);
		}
		bool before = run->fault;
		if (jinja_word(run, "else"))
			other = jinja_part(run);
		if (fits)
			forgive(run, before);
	}
	run->depth--;
	return fits ? value : other;
}

const struct tree *
jinja_expression(struct jinja_run *run)
{
	const struct tree *value = jinja_part(run);

	if (run->fault)
		jinja_die(run, "%s", run->fault);
	return value;
}
