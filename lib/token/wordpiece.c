#include "token/wordpiece.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { STACK = 1024, BYTE_WORD = 0, BYTE_SPACE, BYTE_PUNCT, BYTE_DROP, BYTE_WIDE };

/* Hash table of tokens; the vocabulary confirms a match. */
struct word_table {
	struct word_slot {
		uint32_t tag;
		int32_t id; /* -1: empty */
	} * slot;
	int shift;	      /* 64 - log2(slots) */
	size_t mask, longest; /* bytes */
};

struct wordpiece {
	const struct vocabulary *vocabulary;
	struct wordpiece_rules rules;
	size_t prefix; /* length of the continuation mark */
	struct word_table first, rest;
	unsigned char kind[2][256]; /* class of a byte; [1]: in normalised text */
	unsigned char small[2][128];
};

/* A word as it grows, with the hash of each of its prefixes; or, without a model, the
 * normalised text. */
struct word {
	const struct wordpiece *model;
	struct ids *out;
	bool one;	      /* treat the text as one word */
	wordpiece_each *each; /* called for words instead of encoding them, or NULL */
	void *context;
	unsigned char *byte;
	uint64_t *hash; /* hash[n]: of the first n bytes */
	size_t bytes, chars, room;
	char *text; /* result of wordpiece_normal, or NULL */
	size_t made, capacity;
	int32_t *marks; /* run of non-starters after strip_accents */
	size_t run, run_capacity;
};

static uint64_t
hash_step(uint64_t hash, unsigned char byte)
{
	return (hash ^ byte) * 0x9E3779B97F4A7C15u;
}

static uint64_t
spread(uint64_t hash)
{
	return (hash ^ hash >> 32) * 0xff51afd7ed558ccdu;
}

static void
table_open(struct word_table *table, size_t count)
{
	int bits = 10;

	while (((size_t)1 << bits) < 2 * count)
		bits++;
	size_t slots = (size_t)1 << bits;
	table->slot = mem_new(slots, sizeof *table->slot);
	memset(table->slot, 0xFF, slots * sizeof *table->slot);
	table->shift = 64 - bits;
	table->mask = slots - 1;
}

static void
table_add(struct word_table *table, const char *text, size_t length, int32_t id)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < length; i++)
		hash = hash_step(hash, (unsigned char)text[i]);
	hash = spread(hash);
	size_t at = hash >> table->shift;
	while (table->slot[at].id >= 0)
		at = (at + 1) & table->mask;
	table->slot[at] = (struct word_slot){ (uint32_t)hash, id };
	if (length > table->longest)
		table->longest = length;
}

/* The id of a piece, or -1.  skip: length of the continuation mark before it. */
static int32_t
table_find(const struct word_table *table, const struct vocabulary *vocabulary,
    size_t skip, uint64_t hash, const unsigned char *text, size_t length)
{
	hash = spread(hash);
	for (size_t at = hash >> table->shift; table->slot[at].id >= 0;
	     at = (at + 1) & table->mask) {
		if (table->slot[at].tag != (uint32_t)hash)
			continue;
		size_t size;
		const char *symbol =
		    vocabulary_text(vocabulary, table->slot[at].id, &size);
		if (size == length + skip && !memcmp(symbol + skip, text, length))
			return table->slot[at].id;
	}
	return -1;
}

static void
fill_bytes(struct wordpiece *model)
{
	for (int normal = 0; normal < 2; normal++)
		for (int byte = 0; byte < 256; byte++) {
			bool clean = model->rules.clean_text && !normal;
			bool kept = byte == '\t' || byte == '\n' || byte == '\r';
			unsigned traits = byte < 128 ? utf8_traits(byte) : 0;
			model->kind[normal][byte] =
			    byte >= 128				      ? BYTE_WIDE
			    : clean && traits & UTF8_CONTROL && !kept ? BYTE_DROP
			    : traits & UTF8_SPACE		      ? BYTE_SPACE
			    : traits & UTF8_PUNCT		      ? BYTE_PUNCT
								      : BYTE_WORD;
			if (byte < 128)
				model->small[normal][byte] =
				    (unsigned char)(byte +
						    (model->rules.lowercase && !normal &&
								byte >= 'A' && byte <= 'Z'
							    ? 32
							    : 0));
		}
}

struct wordpiece *
wordpiece_new(const struct vocabulary *vocabulary, const struct wordpiece_rules *rules)
{
	struct wordpiece *model = mem_zero(1, sizeof *model);
	size_t mark = rules->continuation ? strlen(rules->continuation) : 0, length;
	int32_t size = vocabulary ? vocabulary_size(vocabulary) : 0;

	model->vocabulary = vocabulary;
	model->rules = *rules;
	model->rules.continuation = NULL;
	model->prefix = mark;
	table_open(&model->first, (size_t)size);
	table_open(&model->rest, (size_t)size);
	for (int32_t id = 0; id < size; id++) {
		const char *text = vocabulary_text(vocabulary, id, &length);
		if (!text || !length)
			continue;
		table_add(&model->first, text, length, id);
		if (rules->continuation && length > mark &&
		    !memcmp(text, rules->continuation, mark))
			table_add(&model->rest, text + mark, length - mark, id);
	}
	if (!rules->continuation)
		model->rules.max_chars = (int)model->first.longest;
	fill_bytes(model);
	return model;
}

/* Splits the word from byte `from` on; false if a part is not in the vocabulary. */
static bool
cut_rest(struct word *word, size_t from)
{
	const struct wordpiece *model = word->model;

	while (from < word->bytes) {
		size_t left = word->bytes - from;
		size_t most = left < model->rest.longest ? left : model->rest.longest;
		const unsigned char *text = word->byte + from;
		uint64_t hash[STACK];
		if (most > STACK)
			most = STACK;
		uint64_t h = 0;
		for (size_t i = 0; i < most; i++)
			hash[i] = h = hash_step(h, text[i]);
		int32_t id = -1;
		size_t length = most;
		for (; length > 0; length--)
			if ((id = table_find(&model->rest, model->vocabulary,
				 model->prefix, hash[length - 1], text, length)) >= 0)
				break;
		if (id < 0)
			return false;
		ids_push(word->out, id);
		from += length;
	}
	return true;
}

static void
cut(struct word *word)
{
	const struct wordpiece *model = word->model;
	size_t before = word->out->count;
	size_t most =
	    word->bytes < model->first.longest ? word->bytes : model->first.longest;

	for (size_t length = most; length > 0; length--) {
		int32_t id = table_find(&model->first, model->vocabulary, 0,
		    word->hash[length], word->byte, length);
		if (id < 0)
			continue;
		ids_push(word->out, id);
		if (cut_rest(word, length))
			return;
		break;
	}
	word->out->count = before;
	ids_push(word->out, model->rules.unknown);
}

static void
word_end(struct word *word)
{
	if (!word->chars)
		return;
	bool fits = word->chars <= (size_t)word->model->rules.max_chars;
	if (word->each && fits)
		word->each(word->context, (const char *)word->byte, word->bytes);
	else if (fits)
		cut(word);
	else if (!word->each)
		ids_push(word->out, word->model->rules.unknown);
	word->bytes = word->chars = 0;
}

/* Adds a code point to the word; beyond max_chars it is only counted. */
static void
word_add(struct word *word, int32_t code)
{
	char bytes[4];
	size_t count = utf8_encode(code, bytes);

	word->chars++;
	if (word->bytes + count > word->room)
		return;
	for (size_t i = 0; i < count; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		word->byte[word->bytes] = byte;
		word->hash[word->bytes + 1] = hash_step(word->hash[word->bytes], byte);
		word->bytes++;
	}
}

/* Appends a normalised code point to the text or to the word. */
static void
emit(struct word *word, int32_t code)
{
	if (word->text) {
		word->text = mem_grow(word->text, &word->capacity, word->made + 4, 1);
		word->made += utf8_encode(code, word->text + word->made);
		return;
	}
	unsigned traits = utf8_traits(code);
	if (traits & (UTF8_SPACE | UTF8_PUNCT))
		word_end(word);
	if (traits & UTF8_SPACE)
		return;
	word_add(word, code);
	if (traits & UTF8_PUNCT)
		word_end(word);
}

static void
emit_lower(struct word *word, int32_t code)
{
	int32_t small[2];

	if (!word->model->rules.lowercase) {
		emit(word, code);
		return;
	}
	int count = utf8_lower(code, small);
	for (int i = 0; i < count; i++)
		emit(word, small[i]);
}

/* Ends a run of non-starters: puts it into canonical order. */
static void
flush(struct word *word)
{
	if (!word->run)
		return;
	if (word->run > 1) {
		int32_t *scratch = mem_new(word->run, sizeof *scratch);
		utf8_order(word->marks, scratch, word->run);
		free(scratch);
	}
	size_t count = word->run;
	word->run = 0;
	for (size_t i = 0; i < count; i++)
		emit_lower(word, word->marks[i]);
}

/* strip_accents: decomposes, orders, drops Mn. */
static void
emit_stripped(struct word *word, int32_t code)
{
	int32_t part[UTF8_DECOMPOSED];

	if (!word->model->rules.strip_accents) {
		emit_lower(word, code);
		return;
	}
	int count = utf8_decompose(code, part);
	for (int i = 0; i < count; i++) {
		bool starter = !utf8_combining(part[i]);
		if (starter)
			flush(word);
		if (utf8_traits(part[i]) & UTF8_MARK)
			continue;
		if (starter) {
			emit_lower(word, part[i]);
			continue;
		}
		word->marks = mem_grow(
		    word->marks, &word->run_capacity, word->run + 1, sizeof *word->marks);
		word->marks[word->run++] = part[i];
	}
}

static void
normalise(struct word *word, int32_t code)
{
	const struct wordpiece_rules *rules = &word->model->rules;

	if (rules->clean_text) {
		unsigned traits = utf8_traits(code);
		bool kept = code == '\t' || code == '\n' || code == '\r';
		if (code == 0 || code == UTF8_REPLACEMENT ||
		    (traits & UTF8_CONTROL && !kept))
			return;
		if (traits & UTF8_SPACE)
			code = ' ';
	}
	if (rules->chinese_chars && utf8_is_ideograph(code)) {
		emit_stripped(word, ' ');
		emit_stripped(word, code);
		emit_stripped(word, ' ');
	} else {
		emit_stripped(word, code);
	}
}

/* Handles code points beyond ASCII, and dropped ASCII between them. */
static const char *
encode_wide(struct word *word, bool normal, const char *at, const char *end)
{
	const unsigned char *kind = word->model->kind[normal];

	do {
		int32_t code;
		at += utf8_decode(at, (size_t)(end - at), &code);
		if (code < 0)
			code = UTF8_REPLACEMENT;
		if (normal)
			emit(word, code);
		else
			normalise(word, code);
	} while (at < end && (kind[(unsigned char)*at] == BYTE_WIDE ||
				 kind[(unsigned char)*at] == BYTE_DROP));
	flush(word);
	return at;
}

/* Handles a run of ASCII bytes of a word. */
static const char *
take_word(struct word *word, const unsigned char *kind, const unsigned char *small,
    const char *at, const char *end)
{
	size_t bytes = word->bytes, room = word->room;
	uint64_t hash = word->hash[bytes];
	const char *start = at;

	for (; at < end && kind[(unsigned char)*at] == BYTE_WORD; at++) {
		if (bytes == room)
			continue; /* beyond max_chars: only counted */
		unsigned char byte = small[(unsigned char)*at];
		word->byte[bytes++] = byte;
		word->hash[bytes] = hash = hash_step(hash, byte);
	}
	word->chars += (size_t)(at - start);
	word->bytes = bytes;
	return at;
}

static void
encode_words(struct word *word, bool normal, const char *at, const char *end, size_t most)
{
	const unsigned char *kind = word->model->kind[normal];
	const unsigned char *small = word->model->small[normal];

	while (at < end && word->out->count <= most)
		switch (kind[(unsigned char)*at]) {
		case BYTE_WORD: at = take_word(word, kind, small, at, end); break;
		case BYTE_SPACE:
			word_end(word);
			at++;
			break;
		case BYTE_PUNCT:
			word_end(word);
			word_add(word, *at++);
			word_end(word);
			break;
		case BYTE_DROP: at++; break;
		default: at = encode_wide(word, normal, at, end); break;
		}
	if (word->out->count <= most)
		word_end(word);
}

/* Takes the whole text as one word. */
static void
encode_one(struct word *word, const char *at, const char *end)
{
	int32_t code;

	while (at < end) {
		at += utf8_decode(at, (size_t)(end - at), &code);
		word_add(word, code < 0 ? UTF8_REPLACEMENT : code);
	}
	word_end(word);
}

static void
run(struct word *word, const char *text, size_t length, bool normal, size_t most)
{
	unsigned char byte[STACK];
	uint64_t hash[STACK + 1];
	size_t room = 4 * (size_t)word->model->rules.max_chars;
	bool large = room > STACK;

	word->room = large ? room : STACK;
	word->byte = large ? mem_new(room, 1) : byte;
	word->hash = large ? mem_new(room + 1, sizeof *word->hash) : hash;
	word->hash[0] = 0;
	if (word->one)
		encode_one(word, text, text + length);
	else
		encode_words(word, normal, text, text + length, most);
	free(word->marks);
	if (large) {
		free(word->byte);
		free(word->hash);
	}
}

void
wordpiece_encode(const struct wordpiece *model, const char *text, size_t length,
    bool normal, size_t most, struct ids *out)
{
	struct word word = { .model = model, .out = out };

	run(&word, text, length, normal, most);
}

void
wordpiece_word(
    const struct wordpiece *model, const char *text, size_t length, struct ids *out)
{
	struct word word = { .model = model, .out = out, .one = true };

	run(&word, text, length, true, SIZE_MAX);
}

void
wordpiece_words(const struct wordpiece *model, const char *text, size_t length,
    wordpiece_each *each, void *context)
{
	struct ids none = { 0 };
	struct word word = {
		.model = model, .out = &none, .each = each, .context = context
	};

	run(&word, text, length, false, SIZE_MAX);
}

char *
wordpiece_normal(
    const struct wordpiece *model, const char *text, size_t length, size_t *made)
{
	struct word word = { .model = model, .capacity = length + 1 };
	const char *at = text, *end = text + length;

	word.text = mem_new(word.capacity, 1);
	while (at < end) {
		int32_t code;
		at += utf8_decode(at, (size_t)(end - at), &code);
		normalise(&word, code < 0 ? UTF8_REPLACEMENT : code);
	}
	flush(&word);
	free(word.marks);
	*made = word.made;
	return word.text;
}

void
wordpiece_free(struct wordpiece *model)
{
	free(model->first.slot);
	free(model->rest.slot);
	free(model);
}
