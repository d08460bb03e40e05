#include "mteb/instruction.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/hub.h"

static const char place[] = "{instruction}";

char *
instruction_template(const struct model_meta *model, const char *given)
{
	if (given && !strcmp(given, "no"))
		return NULL;
	if (given && !strstr(given, place))
		die_usage("--instruct: it is 'no', or a text with %s", place);
	if (given)
		return mem_string(given);
	struct model_meta plain = { .folder = model->folder, .name = model->name };
	char *name = model_meta_name(&plain), *owner = strrchr(name, '/');
	char *known = hub_instruction(owner ? owner + 1 : name);
	free(name);
	return known;
}

char *
instruction_prompt(
    const char *template, const struct registry_task *task, int side, bool sided)
{
	const char *const *own = task->instruction;
	const char *text = side == REGISTRY_QUERY || !sided ? own[REGISTRY_QUERY] : NULL;

	if (!sided && !text)
		text = own[REGISTRY_DOCUMENT];
	if (!text)
		return NULL;
	const char *at = strstr(template, place);
	return mem_format(
	    "%.*s%s%s", (int)(at - template), template, text, at + strlen(place));
}
