/* jinja_show: renders the templates of standard input, lines of {"template": TEXT, "variables": OBJECT}, and prints the texts
 * as JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "text/jinja.h"
#include "text/json.h"

int
main(void)
{
	char *line = NULL;
	size_t room = 0, length;
	ssize_t got;

	while ((got = getline(&line, &room, stdin)) > 0) {
		struct tree *row = json_parse(line, (size_t)got, "stdin", 1);
		const struct tree *source = tree_need(row, "template");
		struct jinja *template =
		    jinja_new(source->string, source->length, "stdin");
		char *text = jinja_render(template, tree_need(row, "variables"), &length);
		struct tree *made = tree_of_bytes(text, length);
		char *json = json_text(made, 0);
		puts(json);
		fflush(stdout);
		free(json);
		tree_free(made);
		free(text);
		jinja_free(template);
		tree_free(row);
	}
	free(line);
	return 0;
}
