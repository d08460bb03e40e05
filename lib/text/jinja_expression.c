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
		if (number > JINJA_MOST)
			jinja_die(run, "the number is too large");
		number = number * 10 + *run->at - '0';
	}
	return jinja_keep(run, tree_of_integer(number), false);
}

const struct tree *
jinja_variable(struct jinja_run *run, const char *name, size_t length)
{
	jinja_work(run, run->count);
	for (size_t i = run->count; i-- > 0;)
		if (run->locals[i].length == length &&
		    !memcmp(run->locals[i].name, name, length))
			return run->locals[i].value;
	for (size_t i = 0; i < run->variables->count; i++)
		if (strlen(run->variables->items[i]->key) == length &&
		    !memcmp(run->variables->items[i]->key, name, length))
			return run->variables->items[i];
	return NULL;
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
	if (!strcmp(name, "namespace") && jinja_sign(run, "("))
		return jinja_namespace(run);
	return jinja_variable(run, name, strlen(name));
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

/* startswith and endswith, after the parenthesis. */
static const struct tree *
touches(struct jinja_run *run, const struct tree *of, bool end)
{
	const char *expected = "startswith and endswith take a text, of a text";
	const struct tree *part = jinja_need(run, jinja_part(run), TREE_STRING, expected);

	jinja_expect(run, ")");
	of = jinja_need(run, of, TREE_STRING, expected);
	size_t from = end && of->length > part->length ? of->length - part->length : 0;
	return jinja_boolean(
	    run, part->length <= of->length &&
		     !memcmp(of->string + from, part->string, part->length));
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
	if (!strcmp(name, "startswith") || !strcmp(name, "endswith"))
		return touches(run, of, *name == 'e');
	bool left = strcmp(name, "rstrip"), right = strcmp(name, "lstrip");
	if (left && right && strcmp(name, "strip"))
		jinja_die(run, "the method '%s' is not supported", name);
	jinja_expect(run, ")");
	return jinja_trimmed(run, of, left, right);
}

static const char bounds[] = "the bounds of a slice are whole numbers";

/* Reads a bound of a slice, if there is one; true if so. */
static bool
bound(struct jinja_run *run, int64_t *to)
{
	const char *before = run->at;

	if (jinja_sign(run, ":") || jinja_sign(run, "]")) {
		run->at = before;
		return false;
	}
	*to = jinja_need(run, jinja_part(run), TREE_INTEGER, bounds)->integer;
	return true;
}

static int64_t
clamp(int64_t at, int64_t count)
{
	at = at < 0 ? at + count : at;
	return at < 0 ? 0 : at > count ? count : at;
}

/* The slice [FROM:TO] of a list, where FROM (NULL: none) and the first colon are read; [::-1] is the list backwards. */
static const struct tree *
slice(struct jinja_run *run, const struct tree *of, const int64_t *from)
{
	int64_t to = INT64_MAX, step = 1;

	of = jinja_need(run, of, TREE_LIST, "slices are of lists");
	bool ends = bound(run, &to), steps = jinja_sign(run, ":") && bound(run, &step);
	if (steps && (step != -1 || from || ends))
		jinja_die(run, "a slice with a step is supported as [::-1]");
	jinja_expect(run, "]");
	int64_t count = (int64_t)of->count, first = from ? clamp(*from, count) : 0;
	struct tree *made = jinja_list(run, of->count);
	for (int64_t i = first; i < clamp(to, count); i++)
		made->items[made->count++] = of->items[steps ? count - 1 - i : i];
	return made;
}

static const struct tree *
element(struct jinja_run *run, const struct tree *of)
{
	if (jinja_sign(run, ":"))
		return slice(run, of, NULL);
	const struct tree *at = jinja_part(run);
	if (jinja_sign(run, ":"))
		return slice(
		    run, of, &jinja_need(run, at, TREE_INTEGER, bounds)->integer);
	jinja_expect(run, "]");
	if (at && at->kind == TREE_STRING)
		return jinja_member(run, of, at->string);
	at = jinja_need(
	    run, at, TREE_INTEGER, "'[]' takes the number or the name of an element");
	of = jinja_need(run, of, TREE_LIST, "'[]' with a number is for lists");
	int64_t count = (int64_t)of->count;
	int64_t i = at->integer < 0 ? count + at->integer : at->integer;
	return i >= 0 && i < count ? of->items[i] : NULL;
}

/* Whether a value passes a test; an undefined value is also an empty list. */
static bool
fits(struct jinja_run *run, const struct tree *value, const char *test)
{
	static const char *const several[] = { "iterable", "sequence", NULL };
	int kind = value ? (int)value->kind : -1;

	if (!strcmp(test, "defined") || !strcmp(test, "undefined"))
		return (value != NULL) == (*test == 'd');
	if (!strcmp(test, "none"))
		return kind == TREE_NULL;
	if (!strcmp(test, "string"))
		return kind == TREE_STRING;
	if (!strcmp(test, "mapping"))
		return kind == TREE_OBJECT;
	if (tree_listed(several, test))
		return !value || value->kind >= TREE_STRING;
	if (!strcmp(test, "integer"))
		return kind == TREE_INTEGER;
	if (!strcmp(test, "number"))
		return kind == TREE_BOOL || kind == TREE_INTEGER || kind == TREE_REAL;
	if (!strcmp(test, "boolean"))
		return kind == TREE_BOOL;
	if (!strcmp(test, "true") || !strcmp(test, "false"))
		return kind == TREE_BOOL && value->boolean == (*test == 't');
	jinja_die(run, "the test '%s' is not supported", test);
}

/* Reads the test after "is". */
static const struct tree *
tested(struct jinja_run *run, const struct tree *value)
{
	bool not = jinja_word(run, "not");
	const char *test = jinja_need_name(run);
	return jinja_boolean(run, fits(run, value, test) != not );
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
const struct tree *
jinja_whole(struct jinja_run *run)
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
