#include "text/yaml_entries.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "text/yaml.h"

/* Returns the end of the key at `at`, in quotes or plain, if ':' and a blank or the end of the line follow; else NULL. */
static const char *
key_end(const char *at, const char *end)
{
	const char *from = at;
	bool quoted = at < end && *at == '"';

	if (!quoted && (at == end || !isalnum((unsigned char)*at)))
		return NULL;
	if (quoted)
		for (at++; at < end && *at != '"' && *at != '\\'; at++)
			;
	else
		while (at < end && (isalnum((unsigned char)*at) || strchr("._-+/", *at)))
			at++;
	if (quoted && (at == end || *at++ != '"' || at == from + 2))
		return NULL;
	return at < end && *at == ':' && (at + 1 == end || at[1] == ' ') ? at : NULL;
}

static const char *
skip_blanks(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return at;
}

/* Whether a value or a key may start after the character. */
static bool
starts_after(char before)
{
	return before == ' ' || before == ',' || before == ':' || before == '[' ||
	       before == '{';
}

/* The end of a text in quotes that starts at `at`; `end` if it does not end before. */
static const char *
quoted_end(const char *at, const char *end)
{
	char quote = *at++;

	for (; at < end && *at != quote; at++)
		at += *at == '\\' && quote == '"' && at + 1 < end;
	return at;
}

/* Whether a line's value is a mapping in flow style that ends with the line.  A comment, an anchor, an alias or a tag is
 * left to libyaml. */
static bool
is_flow(const char *at, const char *end)
{
	int depth = 0;

	if (at == end || *at != '{')
		return false;
	for (; at < end; at++) {
		switch (*at) {
		case '{':
		case '[': depth++; break;
		case '}':
		case ']':
			if (--depth == 0)
				return at + 1 == end;
			break;
		case '"':
		case '\'':
			if (starts_after(at[-1]))
				at = quoted_end(at, end);
			break;
		case '\t': return false;
		case '#':
		case '&':
		case '*':
		case '!':
			if (starts_after(at[-1]))
				return false;
			break;
		default: break;
		}
	}
	return false;
}

static struct tree *
add(struct tree *object, struct tree *value, const char *key, size_t length, int line)
{
	bool quoted = *key == '"';

	value->key = mem_format("%.*s", (int)length - 2 * quoted, key + quoted);
	value->line = line;
	object->kind = TREE_OBJECT;
	return tree_add(object, value);
}

/* Moves a value into the node that has its key. */
static void
take_value(struct tree *node, struct tree *value)
{
	char *key = node->key;

	free(value->key);
	free(node->string);
	*node = *value;
	node->key = key;
	free(value);
}

/* Parses lines "KEY: VALUE" and moves their values into the nodes, one for each. */
static void
take_lines(
    struct tree *const *nodes, size_t count, const char *text, size_t length, int first)
{
	struct tree *lines = yaml_parse(text, length, nodes[0]->file, first);

	for (size_t i = 0; i < count; i++)
		take_value(nodes[i], lines->items[i]);
	lines->count = 0;
	tree_free(lines);
}

/* Adds the key of a line, and its value if that is on the same line.  Returns false if the line is not in the form.
 * *section: the last top-level key without a value on its line, or NULL. */
static bool
split_line(
    struct tree *root, struct tree **section, const char *at, const char *end, int number)
{
	const char *key = skip_blanks(at, end), *after;

	if (key == end || *key == '#')
		return true;
	after = key_end(key, end);
	if (!after)
		return false;
	size_t length = (size_t)(after - key);
	const char *value = skip_blanks(after + 1, end);
	if (key - at == 2 && *section && is_flow(value, end)) {
		struct tree *entry = tree_of_bytes(key, (size_t)(end - key));
		entry->kind = TREE_UNREAD;
		entry->file = root->file;
		add(*section, entry, key, length, number);
		return true;
	}
	if (key != at)
		return false;
	struct tree *top = add(root, tree_of_null(), key, length, number);
	top->file = root->file;
	*section = value == end ? top : NULL;
	if (value == end)
		return true;
	size_t rest = (size_t)(end - value);
	if (!isalnum((unsigned char)*value) || memchr(value, '#', rest) ||
	    memchr(value, ':', rest))
		return false;
	take_lines(&top, 1, key, (size_t)(end - key), number);
	return true;
}

static void
check_once(const struct tree *object)
{
	const struct tree *twice = tree_repeated(object);

	if (twice)
		die("%s:%d: '%s' is given twice", object->file, twice->line, twice->key);
}

/* The text's tree with unread entries; NULL if it is not in the form. */
static struct tree *
split(char *text, size_t length, const char *path)
{
	struct tree *root = tree_object(), *section = NULL;
	const char *at = text;
	bool fits = strlen(text) == length;

	root->file = root->name = mem_string(path);
	for (int number = 1; fits && *at; number++) {
		const char *end = strchrnul(at, '\n');
		fits = split_line(root, &section, at, end, number);
		at = end + (*end == '\n');
	}
	if (!fits || !root->count) {
		tree_free(root);
		return NULL;
	}
	check_once(root);
	for (size_t i = 0; i < root->count; i++)
		check_once(root->items[i]);
	return root;
}

struct tree *
yaml_read_entries(const char *path)
{
	struct stat about;
	struct tree *tree = NULL;

	if (!stat(path, &about) && S_ISREG(about.st_mode)) {
		size_t length;
		char *text = file_need(path, &length);
		tree = split(text, length, path);
		free(text);
	}
	return tree ? tree : yaml_read(path);
}

struct tree *
yaml_entry(struct tree *entry)
{
	if (entry->kind == TREE_UNREAD)
		take_lines(&entry, 1, entry->string, entry->length, entry->line);
	return entry;
}

void
yaml_entries(struct tree *section)
{
	struct tree **unread = mem_new(section->count + 1, sizeof *unread);
	size_t count = 0, length = 0;
	char *text;
	FILE *lines = open_memstream(&text, &length);

	if (!lines)
		die("out of memory: %s", section->file);
	for (size_t i = 0; i < section->count; i++) {
		struct tree *entry = section->items[i];
		if (entry->kind != TREE_UNREAD)
			continue;
		/* each on its own line of the file, for messages */
		for (int line = count ? unread[count - 1]->line : entry->line;
		     line < entry->line; line++)
			fputc('\n', lines);
		fwrite(entry->string, 1, entry->length, lines);
		unread[count++] = entry;
	}
	fclose(lines);
	if (count)
		take_lines(unread, count, text, length, unread[0]->line);
	free(text);
	free(unread);
}
