#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "text/jinja_internal.h"

/* Values. -------------------------------------------------------------------------- */

bool
jinja_true(const struct tree *value)
{
	if (!value)
		return false;
	switch (value->kind) {
	case TREE_NULL: return false;
	case TREE_BOOL: return value->boolean;
	case TREE_INTEGER: return value->integer != 0;
	case TREE_REAL: return value->real != 0;
	case TREE_STRING: return value->length > 0;
	default: return value->count > 0;
	}
}

const struct tree *
jinja_boolean(struct jinja_run *run, bool value)
{
	return jinja_keep(run, tree_of_boolean(value), false);
}

void
jinja_print(struct jinja_run *run, struct buffer *to, const struct tree *value)
{
	if (!value)
		return;
	char *number = NULL;
	switch (value->kind) {
	case TREE_NULL: buffer_add(to, "None", 4); return;
	case TREE_BOOL:
		buffer_add(to, value->boolean ? "True" : "False", value->boolean ? 4 : 5);
		return;
	case TREE_INTEGER:
		number = mem_format("%lld", (long long)value->integer);
		buffer_add(to, number, strlen(number));
		free(number);
		return;
	case TREE_STRING: buffer_add(to, value->string, value->length); return;
	default: jinja_fault(run, "lists, objects and reals are not printed");
	}
}

struct tree *
jinja_list(struct jinja_run *run, size_t count)
{
	struct tree *list = tree_list();

	list->items = mem_new(count + 1, sizeof *list->items);
	list->capacity = count + 1;
	jinja_keep(run, list, true);
	return list;
}

const struct tree *
jinja_need(struct jinja_run *run, const struct tree *value, enum tree_kind kind,
    const char *what)
{
	/* by kind, in place of a faulty value */
	static const char nothing[] = "";
	static const struct tree empty[] = { { .kind = TREE_NULL }, { .kind = TREE_BOOL },
		{ .kind = TREE_INTEGER }, { .kind = TREE_REAL },
		{ .kind = TREE_STRING, .string = (char *)nothing }, { .kind = TREE_LIST },
		{ .kind = TREE_OBJECT } };

	if (value && value->kind == kind)
		return value;
	jinja_fault(run, what);
	return &empty[kind];
}

const struct tree *
jinja_member(struct jinja_run *run, const struct tree *of, const char *key)
{
	if (!of)
		jinja_fault(run, "a value whose member is asked for is not defined");
	if (!of || of->kind != TREE_OBJECT)
		return NULL;
	jinja_work(run, of->count + run->member_count);
	for (size_t i = run->member_count; i-- > 0;)
		if (run->members[i].of == of && !strcmp(run->members[i].name, key))
			return run->members[i].value;
	for (size_t i = 0; i < of->count; i++)
		if (!strcmp(of->items[i]->key, key))
			return of->items[i];
	return NULL;
}

static void
add_member(struct jinja_run *run, const struct tree *of, const char *name,
    const struct tree *value)
{
	run->members = mem_grow(
	    run->members, &run->member_room, run->member_count + 1, sizeof *run->members);
	run->members[run->member_count++] = (struct jinja_member){ of, name, value };
}

const struct tree *
jinja_namespace(struct jinja_run *run)
{
	const struct tree *made = jinja_keep(run, tree_object(), false);

	/* a member without a name marks the object as a namespace */
	add_member(run, made, "", NULL);
	while (!jinja_sign(run, ")")) {
		const char *name = jinja_need_name(run);
		jinja_expect(run, "=");
		add_member(run, made, name, jinja_part(run));
		if (!jinja_sign(run, ",")) {
			jinja_expect(run, ")");
			break;
		}
	}
	return made;
}

void
jinja_assign(struct jinja_run *run, const struct tree *of, const char *name,
    const struct tree *value)
{
	size_t i = 0;

	jinja_work(run, run->member_count);
	while (i < run->member_count && run->members[i].of != of)
		i++;
	if (!of || i == run->member_count)
		jinja_die(run, "'set' of a member is for a namespace");
	add_member(run, of, name, value);
}

/* As tree_equal; a list that a template made may hold one list many times, and that another. */
bool
jinja_equal(struct jinja_run *run, const struct tree *a, const struct tree *b)
{
	if (!a || !b)
		return a == b;
	jinja_work(run, 1 + a->length);
	if ((a->kind == TREE_BOOL) != (b->kind == TREE_BOOL)) {
		/* true is 1 to Python */
		const struct tree *truth = a->kind == TREE_BOOL ? a : b,
				  *other = a->kind == TREE_BOOL ? b : a;
		return other->kind == TREE_INTEGER && other->integer == truth->boolean;
	}
	if (a->kind < TREE_LIST || a->kind != b->kind || a->count != b->count)
		return tree_equal(a, b);
	bool same = true;
	jinja_enter(run);
	for (size_t i = 0; same && i < a->count; i++) {
		const struct tree *item = a->items[i];
		same = jinja_equal(run, item,
		    a->kind == TREE_LIST ? b->items[i] : jinja_member(run, b, item->key));
	}
	run->depth--;
	return same;
}

const struct tree *
jinja_joined(struct jinja_run *run, const struct tree *a, const struct tree *b)
{
	struct buffer text = { 0 };

	jinja_print(run, &text, a);
	jinja_print(run, &text, b);
	buffer_add(&text, "", 0);
	const struct tree *made =
	    jinja_keep(run, tree_of_bytes(text.data, text.used), false);
	free(text.data);
	return made;
}

/* Filters. ------------------------------------------------------------------------- */

/* White space to Python's strip. */
static bool
is_space(int32_t code)
{
	return code >= 0 &&
	       ((code >= 0x1C && code <= 0x1F) || utf8_traits(code) & UTF8_SPACE);
}

/* A text without white space at its start, its end, or both. */
const struct tree *
jinja_trimmed(struct jinja_run *run, const struct tree *text, bool left, bool right)
{
	text =
	    jinja_need(run, text, TREE_STRING, "white space is stripped from texts only");
	size_t from = 0, to = text->length;
	int32_t code;
	jinja_work(run, to);
	for (size_t bytes; left && from < to; from += bytes) {
		bytes = utf8_decode(text->string + from, to - from, &code);
		if (!is_space(code))
			break;
	}
	for (size_t start; right && to > from; to = start) {
		start = utf8_before(text->string, to, &code);
		if (!is_space(code))
			break;
	}
	return jinja_keep(run, tree_of_bytes(text->string + from, to - from), false);
}

/* Reads the name of a member.  Jinja takes dots and numbers in it for a path, which is not supported. */
static const char *
read_key(struct jinja_run *run, const char *expected)
{
	const char *key = jinja_need(run, jinja_part(run), TREE_STRING, expected)->string;

	if (strchr(key, '.') || (*key && !key[strspn(key, "0123456789")]))
		jinja_die(run, "'%.60s' is not the name of one member", key);
	return key;
}

/* selectattr and rejectattr: the items whose member is equal to the value, or is true. */
static const struct tree *
selected(struct jinja_run *run, const struct tree *list, bool rejects)
{
	const char *expected =
	    "the filter is supported as selectattr(KEY, \"eq\", VALUE)";

	jinja_expect(run, "(");
	const char *key = read_key(run, expected);
	const struct tree *value = NULL;
	bool compares = jinja_sign(run, ",");
	if (compares) {
		const char *test =
		    jinja_need(run, jinja_part(run), TREE_STRING, expected)->string;
		if (strcmp(test, "eq") && strcmp(test, "equalto") && strcmp(test, "=="))
			jinja_die(run, "the test '%s' is not supported", test);
		jinja_expect(run, ",");
		value = jinja_part(run);
	}
	jinja_expect(run, ")");
	list =
	    jinja_need(run, list, TREE_LIST, "selectattr and rejectattr are for lists");
	struct tree *made = jinja_list(run, list->count);
	for (size_t i = 0; i < list->count; i++) {
		const struct tree *has = jinja_member(run, list->items[i], key);
		bool fits = compares ? jinja_equal(run, has, value) : jinja_true(has);
		if (fits != rejects)
			made->items[made->count++] = list->items[i];
	}
	return made;
}

static const struct tree *
mapped(struct jinja_run *run, const struct tree *list)
{
	jinja_expect(run, "(");
	if (!jinja_word(run, "attribute"))
		jinja_die(run, "the filter is supported as map(attribute=KEY)");
	jinja_expect(run, "=");
	const char *key = read_key(run, "map's attribute must be a text");
	jinja_expect(run, ")");
	list = jinja_need(run, list, TREE_LIST, "map is for lists");
	struct tree *made = jinja_list(run, list->count);
	for (size_t i = 0; i < list->count; i++) {
		const struct tree *has = jinja_member(run, list->items[i], key);
		if (!has)
			jinja_fault(run, "map: a member is not defined");
		else
			made->items[made->count++] = (struct tree *)has;
	}
	return made;
}

static const struct tree *
otherwise(struct jinja_run *run, const struct tree *value)
{
	const struct tree *other = jinja_keep(run, tree_of_string(""), false);
	bool falses = false;

	if (jinja_sign(run, "(")) {
		other = jinja_part(run);
		if (jinja_sign(run, ",")) {
			if (jinja_word(run, "boolean"))
				jinja_expect(run, "=");
			falses = jinja_true(jinja_part(run));
		}
		jinja_expect(run, ")");
	}
	return (falses ? jinja_true(value) : value != NULL) ? value : other;
}

static const struct tree *
end_of(struct jinja_run *run, const struct tree *list, bool last)
{
	list = jinja_need(run, list, TREE_LIST, "first and last are for lists");
	return list->count ? list->items[last ? list->count - 1 : 0] : NULL;
}

static const struct tree *
length_of(struct jinja_run *run, const struct tree *value)
{
	if (value && value->kind < TREE_LIST)
		jinja_fault(run, "length is for lists and objects");
	return jinja_keep(run, tree_of_integer(value ? (int64_t)value->count : 0), false);
}

static const struct tree *
listed(struct jinja_run *run, const struct tree *list)
{
	const struct tree *between = NULL, *made = NULL;

	if (jinja_sign(run, "(")) {
		between = jinja_part(run);
		jinja_expect(run, ")");
	}
	list = jinja_need(run, list, TREE_LIST, "join is for lists");
	for (size_t i = 0; i < list->count; i++)
		made = jinja_joined(
		    run, i ? jinja_joined(run, made, between) : NULL, list->items[i]);
	return made ? made : jinja_joined(run, NULL, NULL);
}

const struct tree *
jinja_filtered(struct jinja_run *run, const struct tree *value)
{
	const char *name = jinja_need_name(run);

	if (!strcmp(name, "selectattr") || !strcmp(name, "rejectattr"))
		return selected(run, value, *name == 'r');
	if (!strcmp(name, "map"))
		return mapped(run, value);
	if (!strcmp(name, "default") || !strcmp(name, "d"))
		return otherwise(run, value);
	if (!strcmp(name, "join"))
		return listed(run, value);
	if (!strcmp(name, "first") || !strcmp(name, "last"))
		return end_of(run, value, *name == 'l');
	if (!strcmp(name, "list"))
		return jinja_need(run, value, TREE_LIST, "list is for lists");
	if (!strcmp(name, "trim"))
		return jinja_trimmed(run, jinja_joined(run, value, NULL), true, true);
	if (!strcmp(name, "length") || !strcmp(name, "count"))
		return length_of(run, value);
	if (!strcmp(name, "string"))
		return jinja_joined(run, value, NULL);
	jinja_die(run, "the filter '%s' is not supported", name);
}
