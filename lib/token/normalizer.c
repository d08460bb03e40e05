#include "token/normalizer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "token/charsmap.h"
#include "token/splitter.h"

/* Those from REPLACE on track the lead. */
enum kind {
	NFC = UTF8_NFC,
	NFD = UTF8_NFD,
	NFKC = UTF8_NFKC,
	NFKD = UTF8_NFKD,
	LOWERCASE,
	STRIP_ACCENTS,
	BERT,
	REPLACE,
	PREPEND,
	STRIP,
	PRECOMPILED,
	KINDS
};
static const char *const types[KINDS] = { "NFC", "NFD", "NFKC", "NFKD", "Lowercase",
	"StripAccents", "BertNormalizer", "Replace", "Prepend", "Strip", "Precompiled" };

struct normalizer_step {
	enum kind kind;
	struct wordpiece *bert;	   /* BERT */
	struct splitter *splitter; /* REPLACE */
	char *text;		   /* REPLACE, PREPEND */
	size_t length;
	bool left, right;	   /* STRIP */
	struct charsmap *charsmap; /* PRECOMPILED */
};

struct normalizer {
	char *file; /* for messages */
	struct normalizer_step *step;
	size_t count, capacity;
};

void
normalizer_bert_rules(const struct tree *node, struct wordpiece_rules *rules)
{
	rules->clean_text = tree_boolean(node, "clean_text", true);
	rules->chinese_chars = tree_boolean(node, "handle_chinese_chars", true);
	rules->lowercase = tree_boolean(node, "lowercase", true);
	rules->strip_accents = tree_boolean(node, "strip_accents", rules->lowercase);
}

static void
take_text(struct normalizer_step *step, const struct tree *node, const char *key)
{
	const struct tree *text = tree_need(node, key);

	if (text->kind != TREE_STRING)
		tree_die(node, "normalizer: '%s' must be a string", key);
	step->length = text->length;
	step->text = mem_new(text->length + 1, 1);
	memcpy(step->text, text->string, text->length);
}

static void
read_bert(struct normalizer_step *step, const struct tree *node)
{
	struct wordpiece_rules rules = { 0 };

	normalizer_bert_rules(node, &rules);
	step->bert = wordpiece_new(NULL, &rules);
}

static void
add(struct normalizer *normalizer, const struct tree *node)
{
	const char *type = tree_string(node, "type", "");
	struct normalizer_step step = { 0 };

	if (!strcmp(type, "Sequence")) {
		const struct tree *list = tree_need(node, "normalizers");
		for (size_t i = 0; i < list->count; i++)
			add(normalizer, list->items[i]);
		return;
	}
	while (step.kind < KINDS && strcmp(type, types[step.kind]))
		step.kind++;
	switch (step.kind) {
	case BERT: read_bert(&step, node); break;
	case REPLACE:
		step.splitter = splitter_of_pattern(node, "normalizer");
		take_text(&step, node, "content");
		break;
	case PREPEND: take_text(&step, node, "prepend"); break;
	case STRIP:
		step.left = tree_boolean(node, "strip_left", true);
		step.right = tree_boolean(node, "strip_right", true);
		break;
	case PRECOMPILED: step.charsmap = charsmap_new(node); break;
	case KINDS: tree_die(node, "normalizer: '%s' is not supported", type);
	default: break;
	}
	normalizer->step = mem_grow(
	    normalizer->step, &normalizer->capacity, normalizer->count + 1, sizeof step);
	normalizer->step[normalizer->count++] = step;
}

struct normalizer *
normalizer_new(const struct tree *node)
{
	struct normalizer *normalizer = mem_zero(1, sizeof *normalizer);

	if (node) {
		normalizer->file = mem_string(node->file ? node->file : "normalizer");
		add(normalizer, node);
	}
	return normalizer;
}

const char *
normalizer_without_lead(const struct normalizer *normalizer)
{
	for (size_t i = 0; i < normalizer->count; i++)
		if (normalizer->step[i].kind < REPLACE)
			return types[normalizer->step[i].kind];
	return NULL;
}

/* The steps.  Each returns NULL when it changes nothing. ------------------------------- */

static char *
finish(struct buffer *buffer, size_t *made)
{
	buffer_add(buffer, "", 0); /* an empty text is not NULL */
	*made = buffer->used;
	return buffer->data;
}

static char *
map(const struct normalizer_step *step, const char *text, size_t length, size_t *made)
{
	struct buffer buffer = { 0 };
	bool lower = step->kind == LOWERCASE;
	int32_t code, part[2] = { 0 };

	for (size_t at = 0, bytes; at < length; at += bytes) {
		char utf8[8];
		bytes = utf8_decode(text + at, length - at, &code);
		part[0] = code < 0 ? UTF8_REPLACEMENT : code;
		if (!lower && utf8_traits(part[0]) & UTF8_COMBINING)
			continue;
		int count = lower ? utf8_lower(part[0], part) : 1;
		for (int i = 0; i < count; i++)
			buffer_add(&buffer, utf8, utf8_encode(part[i], utf8));
	}
	return finish(&buffer, made);
}

struct replace {
	const struct normalizer_step *step;
	struct buffer buffer;
	size_t passed, before,
	    lead;    /* bytes of the text; lead of the text; lead of the result */
	size_t most; /* bytes of the result, where it stops */
};

static bool
replace_part(void *context, const char *text, size_t length, bool match)
{
	struct replace *replace = context;

	size_t left =
	    replace->before > replace->passed ? replace->before - replace->passed : 0;
	int32_t code;

	if (!match)
		left = left < length ? left : length;
	else if (
	    length) /* the content is aligned with the last character that it replaces */
		left =
		    utf8_before(text, length, &code) < left ? replace->step->length : 0;
	else /* or with the one before it */
		left = replace->before && replace->before >= replace->passed
			   ? replace->step->length
			   : 0;
	replace->lead += left;
	replace->passed += length;
	buffer_add(&replace->buffer, match ? replace->step->text : text,
	    match ? replace->step->length : length);
	return replace->buffer.used <= replace->most;
}

static char *
apply_replace(const struct normalizer_step *step, const char *text, size_t length,
    size_t most, size_t *made, size_t *lead)
{
	struct replace replace = { .step = step, .before = *lead, .most = most };

	splitter_parts(step->splitter, text, length, replace_part, &replace);
	*lead = replace.lead;
	return finish(&replace.buffer, made);
}

static char *
apply_prepend(const struct normalizer_step *step, const char *text, size_t length,
    size_t *made, size_t *lead)
{
	struct buffer buffer = { 0 };

	if (!length)
		return NULL;
	*lead += *lead ? step->length : 0;
	buffer_add(&buffer, step->text, step->length);
	buffer_add(&buffer, text, length);
	return finish(&buffer, made);
}

static char *
apply_strip(const struct normalizer_step *step, const char *text, size_t length,
    size_t *made, size_t *lead)
{
	size_t first = step->left ? utf8_space_end(text, length, 0) : 0;
	size_t last = step->right ? utf8_space_start(text, length, first) : length;
	struct buffer buffer = { 0 };

	if (first < last)
		buffer_add(&buffer, text + first, last - first);
	*lead -= *lead < first ? *lead : first;
	return finish(&buffer, made);
}

/* most: bytes of the result; a step that would make more may stop behind them. */
static char *
apply(const struct normalizer_step *step, const char *text, size_t length, size_t most,
    size_t *made, size_t *lead)
{
	enum utf8_form form = (enum utf8_form)step->kind; /* NFC to NFKD */

	switch (step->kind) {
	case LOWERCASE:
	case STRIP_ACCENTS: return map(step, text, length, made);
	case BERT: return wordpiece_normal(step->bert, text, length, made);
	case REPLACE: return apply_replace(step, text, length, most, made, lead);
	case PREPEND: return apply_prepend(step, text, length, made, lead);
	case STRIP: return apply_strip(step, text, length, made, lead);
	case PRECOMPILED:
		return charsmap_apply(step->charsmap, text, length, most, made, lead);
	default:
		return utf8_is_normal(text, length, form)
			   ? NULL
			   : utf8_normal(text, length, form, made);
	}
}

size_t
normalizer_most(size_t length)
{
	enum { TIMES = 64, MORE = 1 << 20 };

	return mem_add(mem_multiply(length, TIMES, "a text"), MORE, "a text");
}

char *
normalizer_apply(const struct normalizer *normalizer, const char *text, size_t length,
    size_t *made, size_t *lead)
{
	char *now = NULL;
	size_t none = 0, most = normalizer_most(length);

	*made = length;
	lead = lead ? lead : &none;
	for (size_t i = 0; i < normalizer->count; i++) {
		char *next = apply(
		    &normalizer->step[i], now ? now : text, *made, most, made, lead);
		if (!next)
			continue;
		if (*made > most)
			die("%s: normalizer: it makes more than %zu bytes of a text of %zu",
			    normalizer->file, most, length);
		free(now);
		now = next;
	}
	return now;
}

void
normalizer_free(struct normalizer *normalizer)
{
	for (size_t i = 0; i < normalizer->count; i++) {
		if (normalizer->step[i].bert)
			wordpiece_free(normalizer->step[i].bert);
		if (normalizer->step[i].splitter)
			splitter_free(normalizer->step[i].splitter);
		if (normalizer->step[i].charsmap)
			charsmap_free(normalizer->step[i].charsmap);
		free(normalizer->step[i].text);
	}
	free(normalizer->file);
	free(normalizer->step);
	free(normalizer);
}
