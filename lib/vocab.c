#include "vocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "err.h"
#include "folder.h"
#include "ids.h"
#include "json.h"
#include "mem.h"
#include "pairs.h"
#include "symbols.h"
#include "tree.h"
#include "utf8.h"
#include "wordpiece.h"

static const char *const specials[] = { "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]" };
enum { SPECIALS = sizeof specials / sizeof *specials };

struct vocab {
	bool cased;
	struct symbols *none; /* the empty vocabulary of the word splitter */
	struct wordpiece *splitter;
	struct symbols *words;
	int64_t *count; /* [words] */
	size_t capacity;
	struct symbols *tokens;
};

struct vocab *
vocab_new(bool cased)
{
	struct vocab *vocab = mem_zero(1, sizeof *vocab);
	struct wordpiece_rules rules = { .clean_text = true,
		.chinese_chars = true,
		.strip_accents = !cased,
		.lowercase = !cased,
		.max_chars = 100,
		.continuation = "##" };

	vocab->cased = cased;
	vocab->none = symbols_new();
	vocab->splitter = wordpiece_new(vocab->none, &rules);
	vocab->words = symbols_new();
	vocab->tokens = symbols_new();
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

void
vocab_count(struct vocab *vocab, const char *text, size_t length)
{
	wordpiece_words(vocab->splitter, text, length, count_word, vocab);
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
letter_text(char made[6], int32_t code, bool inside)
{
	memcpy(made, "##", 2);
	return utf8_encode(code, made + 2 * inside) + 2 * inside;
}

static void
add_alphabet(struct vocab *vocab, int size, int alphabet)
{
	size_t letters;
	struct letter *letter = count_letters(vocab, &letters);
	char text[6];

	if (letters > (size_t)alphabet)
		letters = (size_t)alphabet;
	qsort(letter, letters, sizeof *letter, by_code);
	for (int i = 0; i < SPECIALS; i++)
		add_token(vocab, specials[i], strlen(specials[i]));
	for (int inside = 0; inside < 2; inside++)
		for (size_t i = 0; i < letters; i++)
			if (inside ? letter[i].inside : letter[i].first)
				add_token(vocab, text,
				    letter_text(text, letter[i].code, inside));
	free(letter);
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
		int32_t token =
		    symbols_find(vocab->tokens, text, letter_text(text, code, inside));
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
	const char *tail = symbols_text(vocab->tokens, right, &b); /* always a "##" one */
	char *text = mem_format("%s%s", head, tail + 2);
	int32_t id = add_token(vocab, text, a + b - 2);

	free(text);
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

/* The folder. ---------------------------------------------------------------------- */

static struct tree *
member(struct tree *object, const char *key, struct tree *value)
{
	tree_set(object, key, value);
	return value;
}

static void
add_specials(struct tree *root)
{
	struct tree *list = member(root, "added_tokens", tree_list());

	for (int i = 0; i < SPECIALS; i++) {
		struct tree *token = tree_add(list, tree_object());
		tree_set(token, "id", tree_of_integer(i));
		tree_set(token, "content", tree_of_string(specials[i]));
		tree_set(token, "single_word", tree_of_boolean(false));
		tree_set(token, "lstrip", tree_of_boolean(false));
		tree_set(token, "rstrip", tree_of_boolean(false));
		tree_set(token, "normalized", tree_of_boolean(false));
		tree_set(token, "special", tree_of_boolean(true));
	}
}

/* One item of a template: a special token, or a text "A" or "B". */
static void
add_item(struct tree *list, const char *kind, const char *id, int type)
{
	struct tree *inner = member(tree_add(list, tree_object()), kind, tree_object());

	tree_set(inner, "id", tree_of_string(id));
	tree_set(inner, "type_id", tree_of_integer(type));
}

static void
add_template(struct tree *root)
{
	struct tree *post = member(root, "post_processor", tree_object());

	tree_set(post, "type", tree_of_string("TemplateProcessing"));
	for (int pair = 0; pair < 2; pair++) {
		struct tree *list = member(post, pair ? "pair" : "single", tree_list());
		add_item(list, "SpecialToken", "[CLS]", 0);
		add_item(list, "Sequence", "A", 0);
		add_item(list, "SpecialToken", "[SEP]", 0);
		if (pair) {
			add_item(list, "Sequence", "B", 1);
			add_item(list, "SpecialToken", "[SEP]", 1);
		}
	}
	struct tree *map = member(post, "special_tokens", tree_object());
	for (int i = 2; i < 4; i++) {
		struct tree *entry = member(map, specials[i], tree_object());
		tree_set(entry, "id", tree_of_string(specials[i]));
		tree_add(member(entry, "ids", tree_list()), tree_of_integer(i));
		tree_add(
		    member(entry, "tokens", tree_list()), tree_of_string(specials[i]));
	}
}

static void
add_model(const struct vocab *vocab, struct tree *root)
{
	struct tree *model = member(root, "model", tree_object());

	tree_set(model, "type", tree_of_string("WordPiece"));
	tree_set(model, "unk_token", tree_of_string("[UNK]"));
	tree_set(model, "continuing_subword_prefix", tree_of_string("##"));
	tree_set(model, "max_input_chars_per_word", tree_of_integer(100));
	struct tree *map = member(model, "vocab", tree_object());
	for (int32_t id = 0; id < symbols_size(vocab->tokens);
	     id++) /* unique: no search */
		tree_add(map, tree_of_integer(id))->key =
		    mem_string(symbols_text(vocab->tokens, id, NULL));
}

static struct tree *
tokenizer_tree(const struct vocab *vocab)
{
	struct tree *root = tree_object();

	tree_set(root, "version", tree_of_string("1.0"));
	tree_set(root, "truncation", tree_of_null());
	tree_set(root, "padding", tree_of_null());
	add_specials(root);
	struct tree *normalizer = member(root, "normalizer", tree_object());
	tree_set(normalizer, "type", tree_of_string("BertNormalizer"));
	tree_set(normalizer, "clean_text", tree_of_boolean(true));
	tree_set(normalizer, "handle_chinese_chars", tree_of_boolean(true));
	tree_set(normalizer, "strip_accents", tree_of_null());
	tree_set(normalizer, "lowercase", tree_of_boolean(!vocab->cased));
	tree_set(member(root, "pre_tokenizer", tree_object()), "type",
	    tree_of_string("BertPreTokenizer"));
	add_template(root);
	struct tree *decoder = member(root, "decoder", tree_object());
	tree_set(decoder, "type", tree_of_string("WordPiece"));
	tree_set(decoder, "prefix", tree_of_string("##"));
	tree_set(decoder, "cleanup", tree_of_boolean(true));
	add_model(vocab, root);
	return root;
}

static struct tree *
config_tree(const struct vocab *vocab, int max_length)
{
	static const char *const keys[SPECIALS] = { "pad_token", "unk_token", "cls_token",
		"sep_token", "mask_token" };
	struct tree *config = tree_object();

	tree_set(config, "tokenizer_class", tree_of_string("BertTokenizer"));
	tree_set(config, "do_lower_case", tree_of_boolean(!vocab->cased));
	tree_set(config, "strip_accents", tree_of_null());
	tree_set(config, "tokenize_chinese_chars", tree_of_boolean(true));
	tree_set(config, "model_max_length", tree_of_integer(max_length));
	for (int i = 0; i < SPECIALS; i++)
		tree_set(config, keys[i], tree_of_string(specials[i]));
	return config;
}

/* Whole or not at all: the file that is in use is the last to change its name. */
static void
put(const char *dir, const char *name, const char *text)
{
	char *temporary = mem_format("%s.new", name);
	char *from = mem_format("%s/%s", dir, temporary),
	     *to = mem_format("%s/%s", dir, name);

	folder_write(dir, temporary, text, strlen(text));
	if (rename(from, to))
		die("%s:", to);
	free(from);
	free(to);
	free(temporary);
}

static void
put_tree(const char *dir, const char *name, struct tree *tree)
{
	char *text = json_text(tree, 2), *line = mem_format("%s\n", text);

	put(dir, name, line);
	free(line);
	free(text);
	tree_free(tree);
}

static char *
lines(const struct vocab *vocab)
{
	size_t used = 0, room = 0, length;
	char *text = NULL;

	for (int32_t id = 0; id < symbols_size(vocab->tokens); id++) {
		const char *token = symbols_text(vocab->tokens, id, &length);
		text = mem_grow(text, &room, used + length + 2, 1);
		memcpy(text + used, token, length);
		used += length;
		text[used++] = '\n';
	}
	text[used] = 0;
	return text;
}

void
vocab_writable(const char *dir)
{
	char *weights = mem_format("%s/model.safetensors", dir);

	if (!access(weights, F_OK))
		die("%s: holds a model's weights, which were made with its vocabulary; "
		    "choose "
		    "another folder",
		    dir);
	free(weights);
}

void
vocab_write(const struct vocab *vocab, const char *dir, int max_length)
{
	vocab_writable(dir);
	char *text = lines(vocab);
	put(dir, "vocab.txt", text);
	put_tree(dir, "tokenizer_config.json", config_tree(vocab, max_length));
	put_tree(dir, "tokenizer.json", tokenizer_tree(vocab));
	free(text);
}

void
vocab_free(struct vocab *vocab)
{
	wordpiece_free(vocab->splitter);
	symbols_free(vocab->none);
	symbols_free(vocab->words);
	symbols_free(vocab->tokens);
	free(vocab->count);
	free(vocab);
}
