#include "token/decoder.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "token/bpe.h"
#include "token/normalizer.h"

struct decoder_step;
typedef void step_run(
    const struct decoder_step *step, const struct pieces *from, struct pieces *to);

/* A step owns its texts. */
struct decoder_step {
	step_run *run;
	char *prefix,
	    *content; /* prefix: WordPiece's ##, Replace's pattern; content: Replace's, Strip's */
	size_t prefix_length, content_length;
	bool cleanup, keep; /* keep: Metaspace keeps blanks of the first token */
	size_t start, stop;
};

struct decoder {
	struct decoder_step *steps;
	size_t count;
	char *file;    /* for messages */
	char *refused; /* why the decoder is not supported; NULL: it is */
};

/* Pieces. -------------------------------------------------------------------------- */

/* Ends the current piece, whose text was appended to the bytes. */
static void
end(struct pieces *pieces)
{
	buffer_add(&pieces->bytes, "", 0); /* an empty piece needs an address, too */
	numbers_add(&pieces->ends, (int64_t)pieces->bytes.used);
}

void
pieces_add(struct pieces *pieces, const char *text, size_t length)
{
	buffer_add(&pieces->bytes, text, length);
	end(pieces);
}

static const char *
piece(const struct pieces *pieces, size_t i, size_t *length)
{
	int64_t from = i ? pieces->ends.data[i - 1] : 0;

	*length = (size_t)(pieces->ends.data[i] - from);
	return pieces->bytes.data + from;
}

void
pieces_free(struct pieces *pieces)
{
	free(pieces->bytes.data);
	free(pieces->ends.data);
}

/* Appends text with every `old` replaced; stops behind `most` bytes. */
static void
add_replaced(struct buffer *to, size_t most, const char *text, size_t length,
    const char *old, size_t old_length, const char *new, size_t new_length)
{
	while (old_length && length && to->used <= most) {
		const char *at = memmem(text, length, old, old_length);
		if (!at)
			break;
		buffer_add(to, text, (size_t)(at - text));
		buffer_add(to, new, new_length);
		length -= (size_t)(at - text) + old_length;
		text = at + old_length;
	}
	buffer_add(to, text, length);
}

/* Steps. --------------------------------------------------------------------------- */

enum { CHARACTERS = 256 + 68 }; /* the last 68 stand for unprintable bytes */

/* Appends the bytes that the characters of a byte-level token stand for; an added token, in which one stands for none,
 * stays unchanged. */
static void
add_bytes(struct buffer *to, const int byte[CHARACTERS], const char *text, size_t length)
{
	char *made = buffer_room(to, length);
	size_t count = 0;

	for (size_t i = 0; i < length;) {
		int32_t code;
		i += utf8_decode(text + i, length - i, &code);
		if (code < 0 || code >= CHARACTERS || byte[code] < 0) {
			buffer_add(to, text, length);
			return;
		}
		made[count++] = (char)byte[code];
	}
	to->used += count;
}

static void
run_bytes(const struct decoder_step *step, const struct pieces *from, struct pieces *to)
{
	int bytes[CHARACTERS];

	(void)step;
	for (int i = 0; i < CHARACTERS; i++)
		bytes[i] = -1;
	for (int i = 0; i < 256; i++)
		bytes[bpe_character((unsigned char)i)] = i;
	for (size_t i = 0; i < from->ends.count; i++) {
		size_t length;
		const char *text = piece(from, i, &length);
		add_bytes(&to->bytes, bytes, text, length);
	}
	end(to);
}

/* The reference's clean-up of English, in its order; within a token only. */
static void
clean_up(struct pieces *to, const char *text, size_t length)
{
	static const char *const rules[][2] = { { " .", "." }, { " ?", "?" },
		{ " !", "!" }, { " ,", "," }, { " ' ", "'" }, { " n't", "n't" },
		{ " 'm", "'m" }, { " do not", " don't" }, { " 's", "'s" },
		{ " 've", "'ve" }, { " 're", "'re" } };
	struct buffer now = { 0 }, next = { 0 };

	buffer_add(&now, text, length);
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		next.used = 0;
		add_replaced(&next, SIZE_MAX, now.data, now.used, rules[i][0],
		    strlen(rules[i][0]), rules[i][1], strlen(rules[i][1]));
		struct buffer other = now;
		now = next;
		next = other;
	}
	pieces_add(to, now.data, now.used);
	free(now.data);
	free(next.data);
}

static void
run_wordpiece(
    const struct decoder_step *step, const struct pieces *from, struct pieces *to)
{
	struct buffer word = { 0 };

	for (size_t i = 0; i < from->ends.count; i++) {
		size_t length, prefix = step->prefix_length;
		const char *text = piece(from, i, &length);
		word.used = 0;
		if (i && length >= prefix && !memcmp(text, step->prefix, prefix)) {
			text += prefix;
			length -= prefix;
		} else if (i) {
			buffer_add(&word, " ", 1);
		}
		buffer_add(&word, text, length);
		if (step->cleanup)
			clean_up(to, word.data, word.used);
		else
			pieces_add(to, word.data, word.used);
	}
	free(word.data);
}

static void
run_replace(const struct decoder_step *step, const struct pieces *from, struct pieces *to)
{
	for (size_t i = 0; i < from->ends.count; i++) {
		size_t length;
		const char *text = piece(from, i, &length);
		add_replaced(&to->bytes, to->most, text, length, step->prefix,
		    step->prefix_length, step->content, step->content_length);
		end(to);
	}
}

/* Replaces marks (the prefix) by blanks, and removes them in the first token. */
static void
run_metaspace(
    const struct decoder_step *step, const struct pieces *from, struct pieces *to)
{
	for (size_t i = 0; i < from->ends.count; i++) {
		size_t length;
		const char *text = piece(from, i, &length);
		add_replaced(&to->bytes, to->most, text, length, step->prefix,
		    step->prefix_length, " ", i > 0 || step->keep);
		end(to);
	}
}

static void
run_fuse(const struct decoder_step *step, const struct pieces *from, struct pieces *to)
{
	(void)step;
	pieces_add(to, from->bytes.data, from->bytes.used);
}

static void
run_strip(const struct decoder_step *step, const struct pieces *from, struct pieces *to)
{
	size_t width = step->content_length;

	for (size_t i = 0; i < from->ends.count; i++) {
		size_t length;
		const char *text = piece(from, i, &length);
		for (size_t n = 0; n < step->start && width && length >= width &&
				   !memcmp(text, step->content, width);
		     n++) {
			text += width;
			length -= width;
		}
		for (size_t n = 0; n < step->stop && width && length >= width &&
				   !memcmp(text + length - width, step->content, width);
		     n++)
			length -= width;
		pieces_add(to, text, length);
	}
}

/* The byte of <0x0A>, or -1. */
static int
fallback(const char *text, size_t length)
{
	bool is = length == 6 && !memcmp(text, "<0x", 3) && text[5] == '>' &&
		  isxdigit((unsigned char)text[3]) && isxdigit((unsigned char)text[4]);

	return is ? (int)strtol(text + 3, NULL, 16) : -1;
}

/* A run of byte tokens becomes text if it is UTF-8, else one U+FFFD for each byte. */
static void
run_fallback(
    const struct decoder_step *step, const struct pieces *from, struct pieces *to)
{
	struct buffer *bytes = &to->bytes;

	(void)step;
	for (size_t i = 0, next; i < from->ends.count; i = next) {
		size_t length, first = bytes->used;
		const char *text = piece(from, i, &length);
		int byte = fallback(text, length);
		next = i + 1;
		if (byte < 0) {
			pieces_add(to, text, length);
			continue;
		}
		for (next = i; next < from->ends.count; next++) {
			text = piece(from, next, &length);
			if ((byte = fallback(text, length)) < 0)
				break;
			buffer_add(bytes, &(char){ (char)byte }, 1);
		}
		length = bytes->used - first;
		if (utf8_valid(bytes->data + first, length) < length) {
			bytes->used = first;
			for (size_t n = i; n < next; n++)
				buffer_add(bytes, "\xef\xbf\xbd", 3);
		}
		end(to);
	}
}

/* Reading. ------------------------------------------------------------------------- */

static struct decoder_step *
add_step(struct decoder *decoder, step_run *run)
{
	decoder->steps =
	    mem_resize(decoder->steps, decoder->count + 1, sizeof *decoder->steps);
	struct decoder_step *step = &decoder->steps[decoder->count++];
	*step = (struct decoder_step){ .run = run };
	return step;
}

/* Copies a text for a step. */
static char *
own(const char *text, size_t *length)
{
	*length = strlen(text);
	return mem_string(text);
}

static void
read_section(struct decoder *decoder, const struct tree *node)
{
	const char *type = tree_string(node, "type", "");
	struct decoder_step *step;

	if (!strcmp(type, "Sequence")) {
		const struct tree *list = tree_get(node, "decoders");
		for (size_t i = 0; list && i < list->count; i++)
			read_section(decoder, list->items[i]);
	} else if (!strcmp(type, "ByteLevel")) {
		add_step(decoder, run_bytes);
	} else if (!strcmp(type, "Fuse")) {
		add_step(decoder, run_fuse);
	} else if (!strcmp(type, "ByteFallback")) {
		add_step(decoder, run_fallback);
	} else if (!strcmp(type, "WordPiece")) {
		step = add_step(decoder, run_wordpiece);
		step->prefix =
		    own(tree_string(node, "prefix", "##"), &step->prefix_length);
		step->cleanup = tree_boolean(node, "cleanup", true);
	} else if (!strcmp(type, "Metaspace")) {
		step = add_step(decoder, run_metaspace);
		step->prefix = own(tree_string(node, "replacement", "\xe2\x96\x81"),
		    &step->prefix_length);
		step->keep = !strcmp(tree_string(node, "prepend_scheme", ""), "never") ||
			     !tree_boolean(node, "add_prefix_space", true);
	} else if (!strcmp(type, "Strip")) {
		step = add_step(decoder, run_strip);
		step->content =
		    own(tree_string(node, "content", " "), &step->content_length);
		step->start = (size_t)tree_integer(node, "start", 0);
		step->stop = (size_t)tree_integer(node, "stop", 0);
	} else if (!strcmp(type, "Replace") &&
		   tree_get(tree_get(node, "pattern"), "String")) {
		step = add_step(decoder, run_replace);
		step->prefix = own(tree_string(tree_get(node, "pattern"), "String", ""),
		    &step->prefix_length);
		step->content =
		    own(tree_string(node, "content", ""), &step->content_length);
	} else if (!decoder->refused) {
		decoder->refused = mem_format(
		    "%s: a decoder of type '%s' is not supported", node->file, type);
	}
}

struct decoder *
decoder_new(const struct tree *section)
{
	struct decoder *decoder = mem_zero(1, sizeof *decoder);

	if (section) {
		decoder->file = mem_string(section->file ? section->file : "tokenizer");
		read_section(decoder, section);
	}
	return decoder;
}

/* Joins all pieces and repairs UTF-8; without steps, joins by blanks. */
static char *
joined(const struct decoder *decoder, const struct pieces *pieces, size_t *made)
{
	struct buffer whole = { 0 };

	for (size_t i = 0; i < pieces->ends.count; i++) {
		size_t length;
		const char *text = piece(pieces, i, &length);
		buffer_add(&whole, " ", i && !decoder->count);
		buffer_add(&whole, text, length);
	}
	char *text = mem_new(mem_multiply(whole.used, 3, "a text") + 1, 1);
	*made = utf8_repair(text, whole.data, whole.used, &(int64_t){ 0 });
	free(whole.data);
	return text;
}

char *
decoder_run(const struct decoder *decoder, struct pieces *tokens, size_t *made)
{
	size_t length = tokens->bytes.used, most = normalizer_most(length);
	struct pieces next = { .most = most };

	if (decoder->refused)
		die("%s", decoder->refused);
	tokens->most = most;
	for (size_t i = 0; i < decoder->count; i++) {
		next.bytes.used = next.ends.count = 0;
		decoder->steps[i].run(&decoder->steps[i], tokens, &next);
		if (next.bytes.used > most)
			die("%s: decoder: it makes more than %zu bytes of tokens of %zu",
			    decoder->file, most, length);
		struct pieces other = *tokens;
		*tokens = next;
		next = other;
	}
	char *text = joined(decoder, tokens, made);
	pieces_free(&next);
	return text;
}

void
decoder_free(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->count; i++) {
		free(decoder->steps[i].prefix);
		free(decoder->steps[i].content);
	}
	free(decoder->steps);
	free(decoder->file);
	free(decoder->refused);
	free(decoder);
}
