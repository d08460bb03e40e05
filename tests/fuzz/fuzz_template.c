/* A chat template, rendered with two texts. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "text/jinja.h"
#include "text/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char variables[] =
    "{\"messages\": [{\"role\": \"system\", \"content\": \"Judge.\"}, {\"role\": \"query\", \"content\": \"a b\"},"
    " {\"role\": \"document\", \"content\": [{\"type\": \"text\", \"text\": \"c\"}]}],"
    " \"bos_token\": \"<s>\", \"add_generation_prompt\": true, \"n\": 3, \"none\": null}";

struct source {
	const char *text;
	size_t size;
};

static void
run(void *context)
{
	const struct source *source = context;
	struct jinja *template = jinja_new(source->text, source->size, "template");
	struct tree *with = json_parse(variables, sizeof variables - 1, "variables", 1);
	size_t length;
	char *text = jinja_render(template, with, &length);

	if (strlen(text) > length)
		abort();
	free(text);
	tree_free(with);
	jinja_free(template);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source source = { (const char *)data, size };

	harness_run(run, &source);
	return 0;
}
