#include "token/train/vocab.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "token/bpe.h"
#include "token/ids.h"
#include "token/train/pairs.h"
#include "token/train/vocab_internal.h"

const char *const vocab_specials[SPECIALS] = { "[PAD]", "[UNK]", "[CLS]", "[SEP]",
	"[MASK]" };

struct vocab *
vocab_new(enum vocab_kind kind, bool cased)
{
	struct vocab *vocab = mem_zero(1, sizeof *vocab);
	struct wordpiece_rules rules = { .clean_text = true,
		.chinese_chars = true,
		.strip_accents = !cased,
		.lowercase = !cased,
		.max_chars = 100,
		.continuation = "##" };

	vocab->kind = kind;
	vocab->cased = cased;
	vocab->words = symbols_new();
	vocab->tokens = symbols_new();
	if (kind == VOCAB_BPE) {
		struct tree *tree = vocab_pretokenizer();
		vocab->pretoken = pretoken_new(tree);
		pretoken_leave_bytes(vocab->pretoken);
		tree_free(tree);
		return vocab;
	}
	vocab->none = symbols_new();
	vocab->splitter = wordpiece_new(vocab->none, &rules);
	return vocab;
}

static void
count_word(void *context, const char *word, size_t length)
{
	struct vocab *vocab = context;
	int32_t size = symbols_size(vocab->words);

	if (size == SYMBOLS_MAX)
		die("the text has more than %d distinct words; take a sample of it",
		    SYMBOLS_MAX - 1);
	int32_t id = symbols_add(vocab->words, word, length, size);
	vocab->count = mem_grow(
	    vocab->count, &vocab->capacity, (size_t)id + 1, sizeof *vocab->count);
	if (id == size)
		vocab->count[id] = 0;
	vocab->count[id]++;
}

static bool
count_bytes(void *context, const char *word, size_t length)
{
	size_t made;
	char *characters = bpe_characters(word, length, &made);

	count_word(context, characters, made);
	free(characters);
	return true;
}

/* The text repaired and in NFC, to be freed; NULL: it is so already. */
static char *
normal(const char *text, size_t length, size_t *made)
{
	char *repaired = NULL, *composed = NULL;
	int64_t count = 0;

	*made = length;
	if (utf8_valid(text, length) < length) {
		repaired = mem_new(mem_multiply(length, 3, "a text"), 1);
		*made = utf8_repair(repaired, text, length, &count);
		text = repaired;
	}
	if (!utf8_is_normal(text, *made, UTF8_NFC)) {
		composed = utf8_normal(text, *made, UTF8_NFC, made);
		free(repaired);
	}
	return composed ? composed : repaired;
}

void
vocab_count(struct vocab *vocab, const char *text, size_t length)
{
	if (vocab->kind == VOCAB_WORDPIECE) {
		wordpiece_words(vocab->splitter, text, length, count_word, vocab);
		return;
	}
	size_t made;
	char *changed = normal(text, length, &made);
	pretoken_run(vocab->pretoken, changed ? changed : text, made, count_bytes, vocab);
	free(changed);
}

/* The alphabet. -------------------------------------------------------------------- */

enum { CODES = 0x110000 };

struct letter {
	int64_t count;
	int32_t code;
	bool first, inside; /* where in words it stands */
};

static int
by_count(const void *a, const void *b)
{
	const struct letter *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (x->code > y->code) - (x->code < y->code);
}

static int
by_code(const void *a, const void *b)
{
	const struct letter *x = a, *y = b;

	return (x->code > y->code) - (x->code < y->code);
}

/* All characters of the words, the most frequent first. */
static struct letter *
count_letters(const struct vocab *vocab, size_t *letters)
{
	struct letter *letter = mem_zero(CODES, sizeof *letter);
	size_t length, used = 0;

	for (int32_t id = 0; id < symbols_size(vocab->words); id++) {
		const char *word = symbols_text(vocab->words, id, &length);
		for (size_t at = 0; at < length;) {
			int32_t code;
			bool first = at == 0;
			at += utf8_decode(word + at, length - at, &code);
			letter[code].count += vocab->count[id];
			letter[code].code = code;
			letter[code].first |= first;
			letter[code].inside |= !first;
		}
	}
	for (size_t code = 0; code < CODES; code++)
		if (letter[code].count)
			letter[used++] = letter[code];
	qsort(letter, used, sizeof *letter, by_count);
	*letters = used;
	return letter;
}

static int32_t
add_token(struct vocab *vocab, const char *text, size_t length)
{
	return symbols_add(vocab->tokens, text, length, symbols_size(vocab->tokens));
}

/* The token of a character; `made` holds its text: "##" and up to 4 bytes. */
static size_t
letter_text(const struct vocab *vocab, char made[6], int32_t code, bool inside)
{
	inside &= vocab->kind == VOCAB_WORDPIECE;
	memcpy(made, "##", 2);
	return utf8_encode(code, made + 2 * inside) + 2 * inside;
}

/* The characters of all bytes, by code point. */
static void
add_bytes(struct vocab *vocab)
{
	struct letter letter[256];
	char text[6];

	for (int byte = 0; byte < 256; byte++)
		letter[byte].code = bpe_character((unsigned char)byte);
	qsort(letter, 256, sizeof *letter, by_code);
	for (int i = 0; i < 256; i++)
		add_token(vocab, text, letter_text(vocab, text, letter[i].code, false));
}

/* The most frequent characters of the text, those that begin words before those inside. */
static void
add_characters(struct vocab *vocab, int alphabet)
{
	size_t letters;
	struct letter *letter = count_letters(vocab, &letters);
	char text[6];

	if (letters > (size_t)alphabet)
		letters = (size_t)alphabet;
	qsort(letter, letters, sizeof *letter, by_code);
	for (int inside = 0; inside < 2; inside++)
		for (size_t i = 0; i < letters; i++)
			if (inside ? letter[i].inside : letter[i].first)
				add_token(vocab, text,
				    letter_text(vocab, text, letter[i].code, inside));
	free(letter);
}

static void
add_alphabet(struct vocab *vocab, int size, int alphabet)
{
	for (int i = 0; i < SPECIALS; i++)
		add_token(vocab, vocab_specials[i], strlen(vocab_specials[i]));
	if (vocab->kind == VOCAB_BPE)
		add_bytes(vocab);
	else
		add_characters(vocab, alphabet);
	if (symbols_size(vocab->tokens) > size)
		die("a vocabulary of %d is too small: special tokens and characters "
		    "alone are "
		    "%d; ask for more, or for a smaller alphabet",
		    size, symbols_size(vocab->tokens));
}

/* Merging. ------------------------------------------------------------------------- */

/* Words as tokens, one after another; merging shortens them in place. */
struct corpus {
	int32_t *token;
	struct sequence {
		size_t start;
		uint32_t length;
		int64_t count;
	} * word;
	size_t words;
};

static bool
spell(const struct vocab *vocab, int32_t id, struct ids *into)
{
	size_t length, before = into->count;
	const char *word = symbols_text(vocab->words, id, &length);

	for (size_t at = 0; at < length;) {
		int32_t code;
		char text[6];
		bool inside = at > 0;
		at += utf8_decode(word + at, length - at, &code);
		int32_t token = symbols_find(
		    vocab->tokens, text, letter_text(vocab, text, code, inside));
		if (token < 0) {
			into->count = before;
			return false;
		}
		ids_push(into, token);
	}
	return true;
}

static struct corpus
spell_all(const struct vocab *vocab)
{
	size_t words = (size_t)symbols_size(vocab->words);
	struct corpus corpus = { .word = mem_new(words, sizeof *corpus.word) };
	struct ids ids = { 0 };

	for (size_t id = 0; id < words; id++) {
		size_t start = ids.count;
		if (spell(vocab, (int32_t)id, &ids))
			corpus.word[corpus.words++] = (struct sequence){ start,
				(uint32_t)(ids.count - start), vocab->count[id] };
	}
	corpus.token = ids.id;
	return corpus;
}

/* Replace left right by `into` in one word, and count the pairs that go and come. */
static void
merge_word(struct corpus *corpus, struct pairs *pairs, uint32_t index, int32_t left,
    int32_t right, int32_t into)
{
	struct sequence *word = &corpus->word[index];
	int32_t *token = corpus->token + word->start;
	uint32_t made = 0;

	for (uint32_t i = 0; i < word->length; i++) {
		if (i + 1 == word->length || token[i] != left || token[i + 1] != right) {
			token[made++] = token[i];
			continue;
		}
		if (made > 0) {
			pairs_change(pairs, token[made - 1], left, -word->count, index);
			pairs_change(pairs, token[made - 1], into, word->count, index);
		}
		pairs_change(pairs, left, right, -word->count, index);
		if (i + 2 < word->length) {
			pairs_change(pairs, right, token[i + 2], -word->count, index);
			pairs_change(pairs, into, token[i + 2], word->count, index);
		}
		token[made++] = into;
		i++;
	}
	word->length = made;
}

static int32_t
join(struct vocab *vocab, int32_t left, int32_t right)
{
	size_t a, b;
	const char *head = symbols_text(vocab->tokens, left, &a);
	const char *tail = symbols_text(vocab->tokens, right, &b);
	size_t prefix = vocab->kind == VOCAB_WORDPIECE ? 2 : 0; /* the tail's "##" */
	char *text = mem_format("%s%s", head, tail + prefix);
	int32_t id = add_token(vocab, text, a + b - prefix);

	free(text);
	vocab->merges = mem_grow(vocab->merges, &vocab->merge_room,
	    vocab->merge_count + 1, sizeof *vocab->merges);
	vocab->merges[vocab->merge_count][0] = left;
	vocab->merges[vocab->merge_count++][1] = right;
	return id;
}

int
vocab_learn(struct vocab *vocab, int size, int64_t least, int alphabet)
{
	int32_t left, right;

	add_alphabet(vocab, size, alphabet);
	struct corpus corpus = spell_all(vocab);
	struct pairs *pairs = pairs_new();
	for (size_t w = 0; w < corpus.words; w++)
		for (uint32_t i = 1; i < corpus.word[w].length; i++) {
			const int32_t *token = corpus.token + corpus.word[w].start + i;
			pairs_change(pairs, token[-1], token[0], corpus.word[w].count,
			    (uint32_t)w);
		}
	while (symbols_size(vocab->tokens) < size &&
	       pairs_take(pairs, &left, &right) >= least) {
		size_t count;
		uint32_t *where = pairs_where(pairs, left, right, &count);
		int32_t into = join(vocab, left, right);
		for (size_t i = 0; i < count; i++)
			merge_word(&corpus, pairs, where[i], left, right, into);
		free(where);
	}
	pairs_free(pairs);
	free(corpus.token);
	free(corpus.word);
	return symbols_size(vocab->tokens);
}

void
vocab_free(struct vocab *vocab)
{
	if (vocab->kind == VOCAB_BPE) {
		pretoken_free(vocab->pretoken);
	} else {
		wordpiece_free(vocab->splitter);
		symbols_free(vocab->none);
	}
	free(vocab->merges);
	symbols_free(vocab->words);
	symbols_free(vocab->tokens);
	free(vocab->count);
	free(vocab);
}
