/* JSON, JSON as Python reads it, YAML, recipes.  The first byte selects the kind.  A tree that is written must read back
 * equal. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sample/recipe.h"
#include "text/json.h"
#include "text/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const char *text, *path;
	size_t size;
	unsigned kind;
};

static struct tree *
read_tree(const struct input *input)
{
	switch (input->kind) {
	case 0: return json_parse(input->text, input->size, "x.json", 1);
	case 1: return json_parse_python(input->text, input->size, "x.json", 1);
	default: return yaml_parse(input->text, input->size, "x.yaml", 1);
	}
}

static void
read_twice(const struct input *input)
{
	struct tree *tree = read_tree(input);
	char *text = json_text(tree, 0);
	struct tree *again = json_parse_python(text, strlen(text), "again.json", 1);
	char *same = json_text(again, 0);

	if (strcmp(text, same) != 0)
		abort();
	free(text);
	free(same);
	tree_free(tree);
	tree_free(again);
}

static void
run(void *context)
{
	const struct input *input = context;

	if (input->kind < 3) {
		read_twice(input);
		return;
	}
	struct recipe *recipe = recipe_open(input->path);
	recipe_tell_unused(recipe);
	recipe_close(recipe);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct input input = { (const char *)data + 1,
		harness_file("recipe.yaml", data + 1, size - 1), size - 1, data[0] % 4 };

	harness_run(run, &input);
	return 0;
}
