#include "text/expression.h"

#include <oniguruma.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

struct expression {
	regex_t *regex;
	char *file, *pattern;
};

struct expression *
expression_new(const char *file, const char *pattern, size_t length)
{
	struct expression *made = mem_zero(1, sizeof *made);
	OnigEncoding encoding = ONIG_ENCODING_UTF8;
	OnigErrorInfo info;

	onig_initialize(&encoding, 1);
	int fault = onig_new(&made->regex, (const OnigUChar *)pattern,
	    (const OnigUChar *)pattern + length, ONIG_OPTION_NONE, encoding,
	    ONIG_SYNTAX_RUBY, &info);
	if (fault != ONIG_NORMAL) {
		OnigUChar why[ONIG_MAX_ERROR_MESSAGE_LEN];
		onig_error_code_to_str(why, fault, &info);
		die("%s: expression '%.*s': %s", file, (int)length, pattern, (char *)why);
	}
	made->file = mem_string(file);
	made->pattern = mem_format("%.*s", (int)length, pattern);
	return made;
}

/* The limit of a search's steps, which the caller frees.  Oniguruma limits the steps of one match (ten million back),
 * not the number of matches that a search tries. */
static OnigMatchParam *
effort(const struct expression *expression, size_t length)
{
	enum { STEPS = 10000000, STEPS_BYTE = 100 };
	OnigMatchParam *made = onig_new_match_param();

	if (!made)
		die("%s: out of memory for an expression", expression->file);
	onig_initialize_match_param(made);
	onig_set_retry_limit_in_search_of_match_param(made, STEPS + STEPS_BYTE * length);
	return made;
}

/* The first match at or after `from`; false: there is none. */
static bool
search(const struct expression *expression, OnigMatchParam *effort, OnigRegion *found,
    const char *text, size_t length, size_t from)
{
	const OnigUChar *start = (const OnigUChar *)text, *end = start + length;
	int at = onig_search_with_param(expression->regex, start, end, start + from, end,
	    found, ONIG_OPTION_NONE, effort);

	if (at < 0 && at != ONIG_MISMATCH) {
		OnigUChar why[ONIG_MAX_ERROR_MESSAGE_LEN];
		onig_error_code_to_str(why, at);
		die("%s: expression '%s': a text of %zu bytes cannot be searched: %s",
		    expression->file, expression->pattern, length, (char *)why);
	}
	return at >= 0;
}

bool
expression_parts(const struct expression *expression, const char *text, size_t length,
    bool (*each)(void *context, const char *text, size_t length, bool match),
    void *context)
{
	OnigRegion *found = onig_region_new();
	OnigMatchParam *most = effort(expression, length);
	size_t done = 0, from = 0;
	bool more = true, any = false;

	/* like the reference, finds nothing in an empty text, not even an empty match */
	while (length && more && from <= length &&
	       search(expression, most, found, text, length, from)) {
		size_t start = (size_t)found->beg[0], stop = (size_t)found->end[0];
		int32_t code;
		/* no empty match directly after a match */
		if (start == stop && any && start == done) {
			from += from < length
				    ? utf8_decode(text + from, length - from, &code)
				    : 1;
			continue;
		}
		if (start > done)
			more = each(context, text + done, start - done, false);
		more = more && each(context, text + start, stop - start, true);
		done = from = stop;
		any = true;
	}
	onig_free_match_param(most);
	onig_region_free(found, 1);
	return more &&
	       (done >= length || each(context, text + done, length - done, false));
}

bool
expression_found(const struct expression *expression, const char *text, size_t length)
{
	OnigMatchParam *most = effort(expression, length);
	bool is = search(expression, most, NULL, text, length, 0);

	onig_free_match_param(most);
	return is;
}

void
expression_free(struct expression *expression)
{
	onig_free(expression->regex);
	free(expression->file);
	free(expression->pattern);
	free(expression);
}
