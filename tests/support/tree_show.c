/* tree_show [-l] FILE - a YAML or JSON (.json) file as compact JSON; -l: each node's FILE:LINE,
 * with its path.  For tests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/json.h"
#include "text/yaml.h"

static void
show_lines(const struct tree *tree, const char *path)
{
	char below[512];

	printf("%s:%d\t%s\n", tree->file ? tree->file : "(none)", tree->line, path);
	for (size_t i = 0; i < tree->count; i++) {
		if (tree->kind == TREE_OBJECT)
			snprintf(below, sizeof below, "%s/%s", path, tree->items[i]->key);
		else
			snprintf(below, sizeof below, "%s/%zu", path, i);
		show_lines(tree->items[i], below);
	}
}

int
main(int argc, char **argv)
{
	const char *path = argv[argc - 1], *suffix = strrchr(path, '.');
	struct tree *tree =
	    suffix && !strcmp(suffix, ".json") ? json_read(path) : yaml_read(path);

	if (argc > 2 && !strcmp(argv[1], "-l")) {
		show_lines(tree, "");
	} else {
		char *text = json_text(tree, 0);
		puts(text);
		free(text);
	}
	tree_free(tree);
	return 0;
}
