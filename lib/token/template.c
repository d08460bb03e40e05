#include "token/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "folder/share.h"
#include "text/yaml.h"

static const char place[] = "{text}";

static int
places(const char *text)
{
	int count = 0;

	while ((text = strstr(text, place))) {
		text += strlen(place);
		count++;
	}
	return count;
}

static struct template cut(const char *text)
{
	const char *at = strstr(text, place);

	return (struct template){ mem_format("%.*s", (int)(at - text), text),
		mem_string(at + strlen(place)) };
}

/* The file: an object of templates, each checked, so that a bad line does not wait for its user. */
static struct tree *
read_file(void)
{
	char *path = share_path("templates.yaml");
	struct tree *file = yaml_read(path);

	if (file->kind != TREE_OBJECT)
		tree_die(file, "it must have a line a template, 'name: text'");
	for (size_t i = 0; i < file->count; i++) {
		const struct tree *item = file->items[i];
		if (item->kind != TREE_STRING || places(item->string) != 1)
			tree_die(item, "%s: a template is a text that holds %s once",
			    item->key, place);
	}
	free(path);
	return file;
}

_Noreturn static void
die_unknown(const struct tree *file, const char *name)
{
	const char **names = mem_new(file->count + 1, sizeof *names);
	char *known = mem_string("");

	for (size_t i = 0; i < file->count; i++) {
		names[i] = file->items[i]->key;
		known = mem_list(known, names[i]);
	}
	names[file->count] = NULL;
	die_usage("--template: '%s' is not one of %s, nor a text that holds %s%s", name,
	    known, place, cli_suggestion(name, names));
}

struct template template_find(const char *option)
{
	int count = places(option);

	if (count > 1)
		die_usage(
		    "--template: '%s' holds %s %d times; a template has one place for the text",
		    option, place, count);
	if (count)
		return cut(option);
	struct tree *file = read_file();
	const char *text = tree_string(file, option, NULL);
	if (!text)
		die_unknown(file, option);
	struct template found = cut(text);
	tree_free(file);
	return found;
}

char *
template_text(const char *name)
{
	struct tree *file = read_file();
	const char *text = tree_string(file, name, NULL);
	char *copy = text ? mem_string(text) : NULL;

	tree_free(file);
	return copy;
}

void
template_free(struct template *template)
{
	free(template->before);
	free(template->after);
}
