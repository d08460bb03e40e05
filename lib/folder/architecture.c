#include "folder/architecture.h"

#include <string.h>

const char *
architecture_name(const struct tree *config)
{
	const struct tree *names = tree_get(config, "architectures");
	const char *name = NULL;

	if (names && names->kind == TREE_LIST && names->count)
		name = names->items[0]->string;
	return name ? name : "";
}

bool
architecture_ends(const struct tree *config, const char *end)
{
	const char *name = architecture_name(config);
	size_t length = strlen(name), n = strlen(end);

	return length >= n && !strcmp(name + length - n, end);
}

bool
architecture_sees(const struct tree *config)
{
	return tree_get(config, "vision_config");
}

bool
architecture_answers(const struct tree *config)
{
	return architecture_ends(config, "ForCausalLM") ||
	       (architecture_sees(config) &&
		   architecture_ends(config, "ForConditionalGeneration"));
}
