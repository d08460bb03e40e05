/* A regular expression and, after a byte 0xff, the text that it splits. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "harness.h"
#include "text/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct split {
	const char *pattern, *text, *at; /* at: where the next part begins */
	size_t pattern_size, size;
	bool found;
};

static bool
each(void *context, const char *text, size_t length, bool match)
{
	struct split *split = context;

	if (text != split->at)
		abort();
	split->at = text + length;
	split->found = split->found || match;
	return true;
}

static void
run(void *context)
{
	struct split *split = context;
	struct expression *expression =
	    expression_new("x", split->pattern, split->pattern_size);

	expression_parts(expression, split->text, split->size, each, split);
	if (split->at != split->text + split->size)
		abort();
	/* an empty text has no parts, although an expression may match it */
	if (split->size &&
	    expression_found(expression, split->text, split->size) != split->found)
		abort();
	expression_free(expression);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct split split = { 0 };

	split.pattern = (const char *)harness_part(data, size, 0, &split.pattern_size);
	split.text = (const char *)harness_part(data, size, 1, &split.size);
	split.at = split.text;
	/* the readers of tokenizers refuse invalid UTF-8 */
	if (split.text &&
	    utf8_valid(split.pattern, split.pattern_size) == split.pattern_size &&
	    utf8_valid(split.text, split.size) == split.size)
		harness_run(run, &split);
	return 0;
}
