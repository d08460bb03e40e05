#define PCRE2_CODE_UNIT_WIDTH 8
#include "token/expression.h"

#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

struct expression {
	pcre2_code *code;
	char *file, *pattern;
};

/* From Oniguruma's words to PCRE2's. ------------------------------------------------- */

/* Its \w; outside of a class that has Latin-1's signs of fractions and powers too. */
static const char word[] = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}",
		  latin[] = "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}";

struct translation {
	const char *file, *pattern, *at, *end;
	char *to; /* room for all of it is there from the start */
	bool class;
};

_Noreturn static void
refuse(const struct translation *made, const char *what)
{
	die("%s: expression '%.*s': %s is not supported", made->file,
	    (int)(made->end - made->pattern), made->pattern, what);
}

static void
put(struct translation *made, const char *text, size_t length)
{
	memcpy(made->to, text, length);
	made->to += length;
}

static void
put_string(struct translation *made, const char *text)
{
	put(made, text, strlen(text));
}

/* \p{NAME}: a category of one or two letters, else a script.  PCRE2 alone would take a script
 * for its extensions. */
static void
translate_property(struct translation *made)
{
	const char *close = memchr(made->at, '}', (size_t)(made->end - made->at));

	if (made->end - made->at < 4 || made->at[2] != '{' || !close)
		refuse(made, "\\p without {}");
	const char *name = made->at + 3;
	bool no = *name == '^';
	name += no;
	put(made, made->at, 3);
	if (no)
		put_string(made, "^");
	if (close - name > 2)
		put_string(made, "sc:");
	put(made, name, (size_t)(close + 1 - name));
	made->at = close + 1;
}

static void
translate_unicode(struct translation *made)
{
	if (made->end - made->at < 6)
		refuse(made, "\\u without four digits");
	put_string(made, "\\x{");
	put(made, made->at + 2, 4);
	put_string(made, "}");
	made->at += 6;
}

static void
translate_word(struct translation *made, bool negated)
{
	if (made->class && negated)
		refuse(made, "\\W in a class");
	if (!made->class)
		put_string(made, negated ? "[^" : "[");
	put_string(made, word);
	if (!made->class) {
		put_string(made, latin);
		put_string(made, "]");
	}
	made->at += 2;
}

static void
translate_escape(struct translation *made)
{
	char what[] = { '\\', 0, 0 };

	if (made->end - made->at < 2)
		refuse(made, "a backslash at the end");
	switch (what[1] = made->at[1]) {
	case 's': put_string(made, "\\p{White_Space}"); break;
	case 'S': put_string(made, "\\P{White_Space}"); break;
	case 'd': put_string(made, "\\p{Nd}"); break;
	case 'D': put_string(made, "\\P{Nd}"); break;
	case 'v': put_string(made, "\\x0B"); break;
	case 'w': translate_word(made, false); return;
	case 'W': translate_word(made, true); return;
	case 'p':
	case 'P': translate_property(made); return;
	case 'u': translate_unicode(made); return;
	case 'x':
		if (made->end - made->at < 3 || made->at[2] != '{')
			refuse(made, "\\x without {}");
		put(made, made->at, 2);
		break;
	default:
		if (strchr("nrtfae", what[1]) == NULL &&
		    ((unsigned char)what[1] >= 128 ||
			utf8_traits(what[1]) & (UTF8_LETTER | UTF8_NUMBER)) &&
		    (made->class || !strchr("Az", what[1])))
			refuse(made, what);
		put(made, made->at, 2);
		break;
	}
	made->at += 2;
}

static void
check_group(const struct translation *made)
{
	static const char *const good[] = { "?:", "?=", "?!", "?>", "?<=", "?<!",
		"?i:", "?-i:", NULL };
	size_t left = (size_t)(made->end - made->at) - 1;

	if (!left || made->at[1] != '?')
		return;
	for (int i = 0; good[i]; i++)
		if (left >= strlen(good[i]) &&
		    !memcmp(made->at + 1, good[i], strlen(good[i])))
			return;
	if (made->at == made->pattern && left > 3 && !memcmp(made->at, "(?i)", 4))
		return;
	refuse(made, "a group of its kind");
}

/* {n,m}+ is possessive in one and a repetition in the other; {n}? and {,m} differ as well. */
static void
check_interval(const struct translation *made)
{
	const char *close = memchr(made->at, '}', (size_t)(made->end - made->at));

	if (!close || close == made->at + 1 || made->at[1] == ',')
		refuse(made, "an interval without a first number");
	if (close + 1 < made->end && close[1] == '+')
		refuse(made, "a plus after an interval");
	if (close + 1 < made->end && close[1] == '?' &&
	    !memchr(made->at, ',', (size_t)(close - made->at)))
		refuse(made, "a question mark after an interval of one number");
}

static void
translate_class(struct translation *made)
{
	if (*made->at == '[')
		refuse(made, "a class in a class");
	if (*made->at == '&' && made->end - made->at > 1 && made->at[1] == '&')
		refuse(made, "&& in a class");
	made->class = *made->at != ']';
	put(made, made->at++, 1);
}

static void
translate(struct translation *made)
{
	while (made->at < made->end) {
		if (*made->at == '\\') {
			translate_escape(made);
			continue;
		}
		if (made->class) {
			translate_class(made);
			continue;
		}
		if (*made->at == '(')
			check_group(made);
		if (*made->at == '{')
			check_interval(made);
		made->class = *made->at == '[';
		put(made, made->at++, 1);
		if (made->class && made->at < made->end && *made->at == '^')
			put(made, made->at++, 1);
		if (made->class && made->at < made->end && *made->at == ']')
			refuse(made, "an empty class");
	}
}

struct expression *
expression_new(const char *file, const char *pattern, size_t length)
{
	struct expression *made = mem_zero(1, sizeof *made);
	/* \w becomes the longest: two bytes for its spelling and brackets */
	char *text =
	    mem_new(mem_multiply(length + 1, sizeof word + sizeof latin + 3, file), 1);
	struct translation work = { .file = file,
		.pattern = pattern,
		.at = pattern,
		.end = pattern + length,
		.to = text };
	int fault;
	size_t where;

	translate(&work);
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	made->code = pcre2_compile((PCRE2_SPTR)text, (size_t)(work.to - text),
	    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &fault, &where, context);
	pcre2_compile_context_free(context);
	if (!made->code) {
		char why[256];
		pcre2_get_error_message(fault, (PCRE2_UCHAR *)why, sizeof why);
		die("%s: expression '%.*s' is not supported: %s", file, (int)length,
		    pattern, why);
	}
	pcre2_jit_compile(made->code, PCRE2_JIT_COMPLETE); /* without it, slower */
	made->file = mem_string(file);
	made->pattern = mem_format("%.*s", (int)length, pattern);
	free(text);
	return made;
}

bool
expression_may_be_empty(const struct expression *expression)
{
	uint32_t empty = 0;

	pcre2_pattern_info(expression->code, PCRE2_INFO_MATCHEMPTY, &empty);
	return empty;
}

static bool
search(const struct expression *expression, pcre2_match_data *data, const char *text,
    size_t length, size_t from)
{
	int count = pcre2_match(expression->code, (PCRE2_SPTR)text, length, from,
	    PCRE2_NO_UTF_CHECK, data, NULL);

	if (count == PCRE2_ERROR_JIT_STACKLIMIT)
		count = pcre2_match(expression->code, (PCRE2_SPTR)text, length, from,
		    PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, NULL);
	if (count < 0 && count != PCRE2_ERROR_NOMATCH) {
		char why[256];
		pcre2_get_error_message(count, (PCRE2_UCHAR *)why, sizeof why);
		die("%s: expression '%s': a text of %zu bytes cannot be searched: %s",
		    expression->file, expression->pattern, length, why);
	}
	return count > 0;
}

bool
expression_parts(const struct expression *expression, const char *text, size_t length,
    bool (*each)(void *context, const char *text, size_t length, bool match),
    void *context)
{
	pcre2_match_data *data =
	    pcre2_match_data_create_from_pattern(expression->code, NULL);
	const size_t *found = pcre2_get_ovector_pointer(data);
	size_t done = 0, from = 0;
	bool more = true, any = false;

	while (more && from <= length && search(expression, data, text, length, from)) {
		size_t start = found[0], stop = found[1];
		int32_t code;
		/* no empty match right behind a match */
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
	pcre2_match_data_free(data);
	return more &&
	       (done >= length || each(context, text + done, length - done, false));
}

void
expression_free(struct expression *expression)
{
	pcre2_code_free(expression->code);
	free(expression->file);
	free(expression->pattern);
	free(expression);
}
