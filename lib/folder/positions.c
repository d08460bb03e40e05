#include "folder/positions.h"

#include <string.h>

int
positions_first(const struct tree *config)
{
	static const char *const types[] = { "roberta", "xlm-roberta", "camembert" };
	const char *type = tree_string(config, "model_type", "");

	if (!strcmp(
		type, "mpnet")) /* 1 + a pad_token_id of 1, whatever config.json says */
		return 2;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(type, types[i]))
			return 1 + (int)tree_integer_or(
				       config, "pad_token_id", 1, 0, 1 << 24);
	return 0;
}
