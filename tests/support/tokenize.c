/*
 * tokenize DIR [MOST [bare [FILE GROUP]]] - texts as token ids
 *
 * Standard input: JSON strings, one a line, whose ids are printed; or objects
 * {"text", "ids"[, "most"]}, whose ids are compared.  FILE GROUP: the list of such objects
 * that a JSON file calls GROUP.  The last line counts the comparisons.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "text/json.h"
#include "token/tokenizer.h"

struct check {
	struct tokenizer *tokenizer;
	size_t most;
	bool specials;
	int64_t right, wrong;
};

static void
print(const struct ids *ids)
{
	for (size_t i = 0; i < ids->count; i++)
		printf("%s%d", i ? " " : "", ids->id[i]);
	printf("\n");
}

static void
compare(struct check *check, const struct tree *item)
{
	const struct tree *text = tree_need(item, "text"),
			  *wanted = tree_need(item, "ids");
	size_t most = (size_t)tree_integer(item, "most", (int64_t)check->most);
	struct ids ids = { 0 };

	tokenizer_encode(
	    check->tokenizer, text->string, text->length, most, check->specials, &ids);
	bool same = ids.count == wanted->count;
	for (size_t i = 0; same && i < ids.count; i++)
		same = ids.id[i] == wanted->items[i]->integer;
	if (!same) {
		char *line = json_text(item, 0);
		printf("wanted: %s\nfound: ", line);
		print(&ids);
		free(line);
	}
	check->right += same;
	check->wrong += !same;
	ids_free(&ids);
}

static void
take_lines(struct check *check)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	for (int number = 1; (length = getline(&line, &room, stdin)) >= 0; number++) {
		struct tree *item = json_parse(line, (size_t)length, "<stdin>", number);
		struct ids ids = { 0 };
		if (item->kind == TREE_STRING) {
			tokenizer_encode(check->tokenizer, item->string, item->length,
			    check->most, check->specials, &ids);
			print(&ids);
		} else {
			compare(check, item);
		}
		ids_free(&ids);
		tree_free(item);
	}
	free(line);
}

int
main(int argc, char **argv)
{
	program_name = "tokenize";
	if (argc < 2)
		die("DIR is missing");
	struct check check = { .tokenizer = tokenizer_open(argv[1]),
		.specials = argc<4, .most = argc> 2 ? strtoul(argv[2], NULL, 10) : 0 };
	if (argc > 5) {
		struct tree *file = json_read(argv[4]);
		const struct tree *group = tree_need(file, argv[5]);
		for (size_t i = 0; i < group->count; i++)
			compare(&check, group->items[i]);
		tree_free(file);
	} else {
		take_lines(&check);
	}
	if (check.right + check.wrong)
		printf("%lld right, %lld wrong\n", (long long)check.right,
		    (long long)check.wrong);
	tokenizer_close(check.tokenizer);
	return check.wrong > 0;
}
