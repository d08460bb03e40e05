#include "text/json.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"

enum { DEPTH_MAX = 512 };

static void
own_name(struct tree *tree, const char *name, int line)
{
	tree->file = name;
	tree->line = line;
	for (size_t i = 0; i < tree->count; i++)
		own_name(tree->items[i], name, line);
}

/* wide: integers were read as reals, too. */
static struct tree *
convert(json_t *value, bool wide)
{
	struct tree *tree;
	const char *key;
	json_t *member;
	size_t i;

	switch (json_typeof(value)) {
	case JSON_STRING:
		return tree_of_bytes(json_string_value(value), json_string_length(value));
	case JSON_INTEGER: return tree_of_integer(json_integer_value(value));
	case JSON_REAL: {
		double real = json_real_value(value);
		return wide && floor(real) == real && fabs(real) < 0x1p53
			   ? tree_of_integer((int64_t)real)
			   : tree_of_real(real);
	}
	case JSON_TRUE: return tree_of_boolean(true);
	case JSON_FALSE: return tree_of_boolean(false);
	case JSON_NULL: return tree_of_null();
	case JSON_ARRAY:
		tree = tree_list();
		json_array_foreach(value, i, member)
		    tree_add(tree, convert(member, wide));
		return tree;
	default:
		tree = tree_object();
		json_object_foreach(value, key, member)
		{
			/* jansson has refused duplicates, so no search for the key */
			struct tree *item = tree_add(tree, convert(member, wide));
			item->key = mem_string(key);
		}
		return tree;
	}
}

/* jansson recurses; refuse deep nesting before it does. */
static void
check_depth(const char *text, size_t length, const char *name, int line)
{
	int depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		if (quoted) {
			if (c == '\\')
				i++;
			else if (c == '"')
				quoted = false;
		} else if (c == '"') {
			quoted = true;
		} else if (c == '[' || c == '{') {
			if (++depth > DEPTH_MAX)
				die("%s:%d: JSON is nested deeper than %d", name, line,
				    DEPTH_MAX);
		} else if (c == ']' || c == '}') {
			depth--;
		} else if (c == '\n') {
			line++;
		}
	}
}

/* wide: integers beyond 64 bits are reals. */
static struct tree *
parse(const char *text, size_t length, const char *name, int line, bool wide)
{
	size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL;
	json_error_t error;

	check_depth(text, length, name, line);
	json_t *value = json_loadb(text, length, flags, &error);
	wide &= !value && json_error_code(&error) == json_error_numeric_overflow;
	if (wide)
		value = json_loadb(text, length, flags | JSON_DECODE_INT_AS_REAL, &error);
	if (!value)
		die("%s:%d: not valid JSON: %s", name,
		    line - 1 + (error.line > 0 ? error.line : 1), error.text);
	struct tree *tree = convert(value, wide);
	json_decref(value);
	/* jansson keeps no lines: every node says where its text began */
	own_name(tree, name, line > 1 ? line : 0);
	return tree;
}

struct tree *
json_parse(const char *text, size_t length, const char *name, int line)
{
	return parse(text, length, name, line, false);
}

static char *
read_file(const char *path, size_t *length)
{
	struct stat status;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return NULL;
	if (fstat(file, &status))
		die("%s:", path);
	if (!S_ISREG(status.st_mode))
		die("%s: not a regular file", path);
	char *text = mem_new(mem_add((size_t)status.st_size, 1, path), 1);
	*length = 0;
	for (ssize_t got; *length < (size_t)status.st_size; *length += (size_t)got)
		if ((got = read(
			 file, text + *length, (size_t)status.st_size - *length)) <= 0)
			die("%s: cannot be read to its end", path);
	close(file);
	return text;
}

struct tree *
json_read_optional(const char *path)
{
	size_t length;
	char *text = read_file(path, &length);

	if (!text) {
		if (errno == ENOENT || errno == ENOTDIR)
			return NULL;
		die("%s:", path);
	}
	if (length > 24 && !memcmp(text, "version https://git-lfs", 23))
		die("%s: a Git LFS pointer, not the file itself; fetch it with 'git lfs "
		    "pull'",
		    path);
	char *name = mem_string(path); /* the caller's string may die before the tree */
	struct tree *tree = parse(text, length, name, 1, true);
	tree->name = name;
	free(text);
	return tree;
}

struct tree *
json_read(const char *path)
{
	struct tree *tree = json_read_optional(path);

	if (!tree)
		die("%s: no such file", path);
	return tree;
}

static _Noreturn void
die_text(void)
{
	die("a text that is not valid UTF-8 cannot be written as JSON");
}

static json_t *
revert(const struct tree *tree)
{
	json_t *value;

	switch (tree->kind) {
	case TREE_NULL: return json_null();
	case TREE_BOOL: return json_boolean(tree->boolean);
	case TREE_INTEGER: return json_integer(tree->integer);
	case TREE_REAL: return isfinite(tree->real) ? json_real(tree->real) : json_null();
	case TREE_STRING:
		if (!(value = json_stringn(tree->string, tree->length)))
			die_text();
		return value;
	case TREE_LIST:
		value = json_array();
		for (size_t i = 0; i < tree->count; i++)
			json_array_append_new(value, revert(tree->items[i]));
		return value;
	default:
		value = json_object();
		for (size_t i = 0; i < tree->count; i++)
			if (json_object_set_new(
				value, tree->items[i]->key, revert(tree->items[i])))
				die_text();
		return value;
	}
}

/* Digits with which all reals read back as they are: 0.03, not 0.029999999999999999. */
static size_t
digits_of(const struct tree *tree)
{
	double real = tree->kind == TREE_REAL && isfinite(tree->real) ? tree->real : 0;
	size_t digits = (size_t)number_digits(real);

	for (size_t i = 0; i < tree->count; i++) {
		size_t more = digits_of(tree->items[i]);
		digits = more > digits ? more : digits;
	}
	return digits;
}

/* Escape harmful characters (utf8.h) beyond ASCII and U+007F, which can stand in strings alone; frees `text`. */
static char *
escape(char *text)
{
	size_t length = strlen(text), plain = 0;
	struct buffer to = { 0 };
	int32_t code;

	for (size_t at = 0, bytes; at < length; at += bytes) {
		char escaped[8];
		bytes = 1;
		if ((unsigned char)text[at] < 127)
			continue;
		bytes = utf8_decode(text + at, length - at, &code);
		if (!utf8_is_harmful(code))
			continue;
		snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)code & 0xFFFF);
		buffer_add(&to, text + plain, at - plain);
		buffer_add(&to, escaped, 6);
		plain = at + bytes;
	}
	if (!plain)
		return text;
	buffer_add(&to, text + plain, length - plain + 1);
	free(text);
	return to.data;
}

char *
json_text(const struct tree *tree, int indent)
{
	json_t *value = revert(tree);
	char *text =
	    json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits_of(tree)) |
				  (indent ? JSON_INDENT((size_t)indent) : JSON_COMPACT));

	if (!text)
		die_text();
	json_decref(value);
	return escape(text);
}

void
json_print(const struct tree *tree)
{
	char *text = json_text(tree, 2);

	puts(text);
	free(text);
}
