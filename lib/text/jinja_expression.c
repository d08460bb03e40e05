#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/jinja_internal.h"

/* Signs and names. ----------------------------------------------------------------- */

static bool
in_name(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (!first && c >= '0' && c <= '9');
}

static void
skip_space(struct jinja_run *run)
{
	while (run->at < run->end && jinja_space(*run->at))
		run->at++;
}

bool
jinja_sign(struct jinja_run *run, const char *sign)
{
	size_t length = strlen(sign);

	skip_space(run);
	if ((size_t)(run->end - run->at) < length || memcmp(run->at, sign, length))
		return false;
	run->at += length;
	return true;
}

bool
jinja_word(struct jinja_run *run, const char *word)
{
	const char *before = run->at;

	if (jinja_sign(run, word) && (run->at == run->end || !in_name(*run->at, false)))
		return true;
	run->at = before;
	return false;
}

void
jinja_expect(struct jinja_run *run, const char *sign)
{
	if (!jinja_sign(run, sign))
		jinja_die(run, "'%s' is missing", sign);
}

size_t
jinja_name(struct jinja_run *run, const char **name)
{
	skip_space(run);
	*name = run->at;
	if (run->at == run->end || !in_name(*run->at, true))
		return 0;
	while (run->at < run->end && in_name(*run->at, false))
		run->at++;
	return (size_t)(run->at - *name);
}

const char *
jinja_need_name(struct jinja_run *run)
{
	const char *name;
	size_t length = jinja_name(run, &name);

	if (!length)
		jinja_die(run, "a name is missing");
	return jinja_keep(run, tree_of_bytes(name, length), false)->string;
}

/* Expressions. --------------------------------------------------------------------- */

static const struct tree *
read_text(struct jinja_run *run, char quote)
{
	struct buffer text = { 0 };
	static const char escapes[] = "n\nt\tr\r\\\\'''\"\"";

	for (run->at++; run->at < run->end && *run->at != quote; run->at++) {
		char c = *run->at;
		if (c == '\\' && run->at + 1 < run->end) {
			const char *found = strchr(escapes, *++run->at);
			if (!found || !*found)
				jinja_die(
				    run, "the escape '\\%c' is not known", *run->at);
			c = found[1];
		}
		buffer_add(&text, &c, 1);
	}
	if (run->at >= run->end)
		jinja_die(run, "a text has no end");
	run->at++;
	buffer_add(&text, "", 0);
	const struct tree *made =
	    jinja_keep(run, tree_of_bytes(text.data, text.used), false);
	free(text.data);
	return made;
}

static const struct tree *
read_number(struct jinja_run *run)
{
	int64_t number = 0;

	for (; run->at < run->end && *run->at >= '0' && *run->at <= '9'; run->at++) {
		if (number > 1000000000)
			jinja_die(run, "the number is too large");
		number = number * 10 + *run->at - '0';
	}
	return jinja_keep(run, tree_of_integer(number), false);
}

static const struct tree *
variable(struct jinja_run *run, const char *name)
{
	size_t length = strlen(name);

	jinja_work(run, run->count);
	for (size_t i = run->count; i-- > 0;)
		if (run->locals[i].length == length &&
		    !memcmp(run->locals[i].name, name, length))
			return run->locals[i].value;
	return jinja_member(run, run->variables, name);
}

static const struct tree *
named(struct jinja_run *run)
{
	const char *name = jinja_need_name(run);

	if (!strcmp(name, "true") || !strcmp(name, "True"))
		return jinja_boolean(run, true);
	if (!strcmp(name, "false") || !strcmp(name, "False"))
		return jinja_boolean(run, false);
	if (!strcmp(name, "none") || !strcmp(name, "None"))
		return jinja_keep(run, tree_of_null(), false);
	if (!strcmp(name, "raise_exception") && jinja_sign(run, "(")) {
		const struct tree *what = jinja_part(run);
		jinja_expect(run, ")");
		jinja_fault(
		    run, what && what->kind == TREE_STRING ? what->string : "an error");
		return NULL;
	}
	return variable(run, name);
}

static const struct tree *
read_list(struct jinja_run *run)
{
	enum { ITEMS = 64 };
	struct tree *list = jinja_list(run, ITEMS);

	while (!jinja_sign(run, "]")) {
		const struct tree *item = jinja_part(run);
		if (list->count == ITEMS || !item)
			jinja_die(run,
			    "a list has more than %d items, or one that is not defined",
			    ITEMS);
		list->items[list->count++] = (struct tree *)item;
		if (!jinja_sign(run, ",")) {
			jinja_expect(run, "]");
			break;
		}
	}
	return list;
}

static const struct tree *
primary(struct jinja_run *run)
{
	if (jinja_sign(run, "(")) {
		const struct tree *value = jinja_part(run);
		jinja_expect(run, ")");
		return value;
	}
	if (jinja_sign(run, "["))
		return read_list(run);
	if (run->at < run->end && (*run->at == '"' || *run->at == '\''))
		return read_text(run, *run->at);
	if (run->at < run->end && *run->at >= '0' && *run->at <= '9')
		return read_number(run);
	return named(run);
}

static const struct tree *
method(struct jinja_run *run, const struct tree *of, const char *name)
{
	if (!strcmp(name, "get")) {
		const struct tree *key = jinja_need(run, jinja_part(run), TREE_STRING,
		    "get is supported as get(KEY) or get(KEY, VALUE)");
		const struct tree *other = jinja_sign(run, ",") ? jinja_part(run) : NULL;
		const struct tree *value = jinja_member(run, of, key->string);
		jinja_expect(run, ")");
		return value   ? value
		       : other ? other
			       : jinja_keep(run, tree_of_null(), false);
	}
	bool left = strcmp(name, "rstrip"), right = strcmp(name, "lstrip");
	if (left && right && strcmp(name, "strip"))
		jinja_die(run, "the method '%s' is not supported", name);
	jinja_expect(run, ")");
	return jinja_trimmed(run, of, left, right);
}

static const struct tree *
element(struct jinja_run *run, const struct tree *of)
{
	bool back = jinja_sign(run, "-");
	const struct tree *at = jinja_part(run);

	jinja_expect(run, "]");
	if (at && at->kind == TREE_STRING)
		return jinja_member(run, of, at->string);
	at = jinja_need(
	    run, at, TREE_INTEGER, "'[]' takes the number or the name of an element");
	of = jinja_need(run, of, TREE_LIST, "'[]' with a number is for lists");
	int64_t i = back ? (int64_t)of->count - at->integer : at->integer;
	return i >= 0 && i < (int64_t)of->count ? of->items[i] : NULL;
}

/* Reads the test after "is". */
static const struct tree *
tested(struct jinja_run *run, const struct tree *value)
{
	bool not = jinja_word(run, "not");
	const char *test = jinja_need_name(run);
	bool fits;

	if (!strcmp(test, "defined") || !strcmp(test, "undefined"))
		fits = (value != NULL) == (*test == 'd');
	else if (!strcmp(test, "none"))
		fits = value && value->kind == TREE_NULL;
	else if (!strcmp(test, "string"))
		fits = value && value->kind == TREE_STRING;
	else if (!strcmp(test, "mapping"))
		fits = value && value->kind == TREE_OBJECT;
	else if (!strcmp(test, "true") || !strcmp(test, "false"))
		fits =
		    value && value->kind == TREE_BOOL && value->boolean == (*test == 't');
	else
		jinja_die(run, "the test '%s' is not supported", test);
	return jinja_boolean(run, fits != not );
}

/* The value of .NAME.  Python's objects have methods of these names, and a loop has its neighbours, which are not known here. */
static const struct tree *
attribute(struct jinja_run *run, const struct tree *of, const char *name)
{
	static const char *const others[] = { "clear", "copy", "fromkeys", "get", "items",
		"keys", "nextitem", "pop", "popitem", "previtem", "setdefault", "update",
		"values", NULL };

	if (of && of->kind == TREE_OBJECT && tree_listed(others, name))
		jinja_die(run, "'.%s' is not supported; ['%s'] is a member of an object",
		    name, name);
	return jinja_member(run, of, name);
}

/* Reads a value and the .NAME, [ELEMENT], |FILTER and "is TEST" after it. */
static const struct tree *
whole(struct jinja_run *run)
{
	const struct tree *value = primary(run);

	for (;;) {
		if (jinja_sign(run, ".")) {
			const char *name = jinja_need_name(run);
			value = jinja_sign(run, "(") ? method(run, value, name)
						     : attribute(run, value, name);
		} else if (jinja_sign(run, "[")) {
			value = element(run, value);
		} else if (jinja_sign(run, "|")) {
			value = jinja_filtered(run, value);
		} else if (jinja_word(run, "is")) {
			value = tested(run, value);
		} else {
			return value;
		}
	}
}

static const struct tree *
sum(struct jinja_run *run)
{
	const struct tree *value = whole(run);

	for (;;) {
		const char *before = run->at;
		bool adds = jinja_sign(run, "+");
		/* not the end of a tag */
		if (adds && (jinja_sign(run, "%}") || jinja_sign(run, "}}"))) {
			run->at = before;
			return value;
		}
		if (!adds && !jinja_sign(run, "~"))
			return value;
		const struct tree *other = whole(run);
		if (adds) {
			jinja_need(run, value, TREE_STRING, "'+' is supported for texts");
			jinja_need(run, other, TREE_STRING, "'+' is supported for texts");
		}
		value = jinja_joined(run, value, other);
	}
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
	if (jinja_sign(run, "<") || jinja_sign(run, ">"))
		jinja_die(run, "'<' and '>' are not supported");
	return value;
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
