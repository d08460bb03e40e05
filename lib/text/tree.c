#include "text/tree.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"

static const char *const kinds[] = { "null", "a boolean", "an integer", "a number",
	"a string", "a list", "an object", "an entry that is not read" };

void
tree_die(const struct tree *node, const char *format, ...)
{
	va_list arguments;
	char what[1024];

	va_start(arguments, format);
	vsnprintf(what, sizeof what, format, arguments);
	va_end(arguments);
	const char *file = node->file ? node->file : "configuration";
	if (node->line)
		die("%s:%d: %s", file, node->line, what);
	die("%s: %s", file, what);
}

static size_t
find(const struct tree *object, const char *key)
{
	size_t i = 0;

	while (i < object->count && strcmp(object->items[i]->key, key))
		i++;
	return i;
}

void
tree_once(const struct tree *member)
{
	if (member->repeated)
		tree_die(member, "'%s' is given twice", member->key);
}

bool
tree_is_missing(const struct tree *value)
{
	return !value || value->kind == TREE_NULL ||
	       (value->kind == TREE_REAL && isnan(value->real));
}

static bool
is_whole(double value)
{
	return value > -1e15 && value < 1e15 && value == (double)(int64_t)value;
}

bool
tree_is_whole(const struct tree *value)
{
	return value->kind == TREE_INTEGER ||
	       (value->kind == TREE_REAL && is_whole(value->real));
}

struct tree *
tree_get(const struct tree *object, const char *key)
{
	if (!object)
		return NULL;
	if (object->kind != TREE_OBJECT)
		tree_die(object, "'%s' is looked for in %s, not in an object", key,
		    kinds[object->kind]);
	size_t i = find(object, key);
	if (i < object->count)
		tree_once(object->items[i]);
	if (i == object->count || object->items[i]->kind == TREE_NULL)
		return NULL;
	return object->items[i];
}

struct tree *
tree_need(const struct tree *object, const char *key)
{
	struct tree *node = tree_get(object, key);

	if (!node)
		tree_die(object, "'%s' is missing", key);
	return node;
}

static const struct tree *
typed(const struct tree *object, const char *key, enum tree_kind kind)
{
	const struct tree *node = tree_get(object, key);

	bool close = node && ((kind == TREE_REAL && node->kind == TREE_INTEGER) ||
				 (kind == TREE_INTEGER && tree_is_whole(node)));
	if (node && node->kind != kind && !close)
		tree_die(node, "'%s' is %s; it must be %s", key, kinds[node->kind],
		    kinds[kind]);
	if (node && !isfinite(node->real))
		tree_die(
		    node, "'%s' is NaN or infinite; it must be a finite number", key);
	return node;
}

const char *
tree_string(const struct tree *object, const char *key, const char *otherwise)
{
	const struct tree *node = typed(object, key, TREE_STRING);

	return node ? node->string : otherwise;
}

int64_t
tree_integer(const struct tree *object, const char *key, int64_t otherwise)
{
	const struct tree *node = typed(object, key, TREE_INTEGER);

	return node ? node->integer : otherwise;
}

double
tree_real(const struct tree *object, const char *key, double otherwise)
{
	const struct tree *node = typed(object, key, TREE_REAL);

	return node ? node->real : otherwise;
}

bool
tree_boolean(const struct tree *object, const char *key, bool otherwise)
{
	const struct tree *node = typed(object, key, TREE_BOOL);

	return node ? node->boolean : otherwise;
}

int64_t
tree_integer_in(const struct tree *object, const char *key, int64_t least, int64_t most)
{
	const struct tree *node = tree_need(object, key);
	int64_t value = tree_integer(object, key, 0);

	if (value < least || value > most)
		tree_die(node, "'%s' is %lld; it must be in %lld..%lld", key,
		    (long long)value, (long long)least, (long long)most);
	return value;
}

int64_t
tree_integer_or(const struct tree *object, const char *key, int64_t otherwise,
    int64_t least, int64_t most)
{
	return tree_get(object, key) ? tree_integer_in(object, key, least, most)
				     : otherwise;
}

static _Noreturn void
die_unknown(const struct tree *member, const char *const *keys)
{
	char *known = mem_string("");

	for (; *keys; keys++)
		known = mem_list(known, *keys);
	tree_die(member, "'%s' is not known here; known are %s", member->key, known);
}

int
tree_word(
    const struct tree *object, const char *key, const char *const *words, int otherwise)
{
	const char *word = tree_string(object, key, NULL);
	char *known = NULL;

	if (!word)
		return otherwise;
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	for (int i = 0; words[i]; i++)
		known = mem_list(known, words[i]);
	tree_die(tree_get(object, key), "'%s' is not known as '%s'; it is one of %s",
	    word, key, known);
}

void
tree_expect(const struct tree *object, const char *key, const char *expected)
{
	const char *text = tree_string(object, key, expected);

	if (strcmp(text, expected))
		tree_die(tree_get(object, key), "'%s' is '%s'; only '%s' is supported",
		    key, text, expected);
}

bool
tree_listed(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

void
tree_only(const struct tree *object, const char *const *keys)
{
	if (object->kind != TREE_OBJECT)
		tree_die(object, "an object is expected, not %s", kinds[object->kind]);
	for (size_t i = 0; i < object->count; i++) {
		if (!tree_listed(keys, object->items[i]->key))
			die_unknown(object->items[i], keys);
		tree_once(object->items[i]);
	}
}

static struct tree *
node_new(enum tree_kind kind)
{
	struct tree *tree = mem_zero(1, sizeof *tree);

	tree->kind = kind;
	return tree;
}

struct tree *
tree_object(void)
{
	return node_new(TREE_OBJECT);
}

struct tree *
tree_list(void)
{
	return node_new(TREE_LIST);
}

struct tree *
tree_of_null(void)
{
	return node_new(TREE_NULL);
}

struct tree *
tree_of_bytes(const char *text, size_t length)
{
	struct tree *tree = node_new(TREE_STRING);

	tree->string = mem_new(mem_add(length, 1, "string"), 1);
	memcpy(tree->string, text, length);
	tree->string[length] = 0;
	tree->length = length;
	return tree;
}

struct tree *
tree_of_string(const char *text)
{
	return tree_of_bytes(text, strlen(text));
}

struct tree *
tree_of_integer(int64_t value)
{
	struct tree *tree = node_new(TREE_INTEGER);

	tree->integer = value;
	tree->real = (double)value;
	return tree;
}

struct tree *
tree_of_real(double value)
{
	struct tree *tree = node_new(TREE_REAL);

	tree->real = value;
	if (is_whole(value))
		tree->integer = (int64_t)value;
	return tree;
}

struct tree *
tree_of_number(double value)
{
	return isfinite(value) ? tree_of_real(value) : tree_of_null();
}

struct tree *
tree_of_digits(const char *digits, size_t length, double value)
{
	struct tree *tree = tree_of_bytes(digits, length);

	tree->kind = TREE_REAL;
	tree->real = value;
	return tree;
}

struct tree *
tree_of_boolean(bool value)
{
	struct tree *tree = node_new(TREE_BOOL);

	tree->boolean = value;
	return tree;
}

struct tree *
tree_add(struct tree *list, struct tree *value)
{
	list->items =
	    mem_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
	return list->items[list->count++] = value;
}

struct tree *
tree_set(struct tree *object, const char *key, struct tree *value)
{
	size_t i = find(object, key);

	char *old = value->key; /* freed after the copy: `key` may be the same string */
	value->key = mem_string(key);
	free(old);
	if (i == object->count)
		return tree_add(object, value);
	tree_free(object->items[i]);
	return object->items[i] = value;
}

static int
by_key(const void *a, const void *b)
{
	const struct tree *const *x = a, *const *y = b;

	int order = strcmp((*x)->key, (*y)->key);

	return order ? order : (*x)->line - (*y)->line;
}

const struct tree *
tree_repeated(const struct tree *object)
{
	enum { FEW = 12 };
	const struct tree *repeated = NULL;

	if (object->count > FEW) {
		struct tree **sorted = mem_new(object->count, sizeof *sorted);
		memcpy(sorted, object->items, object->count * sizeof *sorted);
		qsort(sorted, object->count, sizeof *sorted, by_key);
		for (size_t i = 1; i < object->count && !repeated; i++)
			if (!strcmp(sorted[i - 1]->key, sorted[i]->key))
				repeated = sorted[i];
		free(sorted);
		return repeated;
	}
	for (size_t i = 1; i < object->count && !repeated; i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(object->items[j]->key, object->items[i]->key))
				repeated = object->items[i];
	return repeated;
}

bool
tree_unify(struct tree *object)
{
	size_t kept = 0;

	if (!tree_repeated(object))
		return false;
	struct strings *names = strings_new();
	for (size_t i = 0; i < object->count; i++) {
		struct tree *item = object->items[i];
		bool fresh;
		int64_t place = strings_add(names, item->key, strlen(item->key), &fresh);
		if (fresh) {
			object->items[kept++] = item;
			continue;
		}
		struct tree **old = &object->items[place];
		item->repeated = (*old)->repeated || !tree_equal(*old, item);
		tree_free(*old);
		*old = item;
	}
	object->count = kept;
	strings_free(names);
	return true;
}

void
tree_remove(struct tree *object, const char *key)
{
	size_t i = find(object, key);

	if (i == object->count)
		return;
	tree_free(object->items[i]);
	memmove(object->items + i, object->items + i + 1,
	    (--object->count - i) * sizeof *object->items);
}

struct tree *
tree_copy(const struct tree *tree)
{
	struct tree *copy = node_new(tree->kind);

	*copy = *tree;
	copy->file = copy->name =
	    NULL; /* the copy may outlive the root that owns the name */
	copy->items = NULL;
	copy->count = copy->capacity = 0;
	if (tree->key)
		copy->key = mem_string(tree->key);
	if (tree->string) {
		copy->string = mem_new(tree->length + 1, 1);
		memcpy(copy->string, tree->string, tree->length + 1);
	}
	for (size_t i = 0; i < tree->count; i++)
		tree_add(copy, tree_copy(tree->items[i]));
	return copy;
}

bool
tree_equal(const struct tree *a, const struct tree *b)
{
	if (a->kind != b->kind || a->count != b->count)
		return false;
	switch (a->kind) {
	case TREE_NULL: return true;
	case TREE_BOOL: return a->boolean == b->boolean;
	case TREE_INTEGER: return a->integer == b->integer;
	case TREE_REAL:
		if (a->string && b->string)
			return !strcmp(a->string, b->string);
		return a->real == b->real || (isnan(a->real) && isnan(b->real));
	case TREE_STRING:
		return a->length == b->length && !memcmp(a->string, b->string, a->length);
	default: break;
	}
	for (size_t i = 0; i < a->count; i++) {
		size_t j = a->kind == TREE_OBJECT ? find(b, a->items[i]->key) : i;
		if (j == b->count || !tree_equal(a->items[i], b->items[j]))
			return false;
	}
	return true;
}

void
tree_free(struct tree *tree)
{
	if (!tree)
		return;
	for (size_t i = 0; i < tree->count; i++)
		tree_free(tree->items[i]);
	free(tree->items);
	free(tree->name);
	free(tree->key);
	free(tree->string);
	free(tree);
}
