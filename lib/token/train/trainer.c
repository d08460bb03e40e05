#include "token/train/trainer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "folder/folder.h"
#include "text/json.h"
#include "token/bpe.h"
#include "token/ids.h"
#include "token/pretokenizer.h"
#include "token/train/pair_counts.h"
#include "token/vocabulary.h"
#include "token/wordpiece.h"

/* Special tokens, by id. */
enum { SPECIALS = 5 };
static const char *const specials[SPECIALS] = { "[PAD]", "[UNK]", "[CLS]", "[SEP]",
	"[MASK]" };

struct vocabulary_trainer {
	enum trainer_kind kind;
	bool cased;
	/* WordPiece */
	struct wordpiece *splitter;
	/* BPE; a word is bytes written as characters */
	struct pretokenizer *pretokenizer;
	int32_t (*merges)[2]; /* [merge_count] ids, in the order of merging */
	size_t merge_count, merge_room;

	struct vocabulary *words;
	int64_t *count; /* [words] */
	size_t capacity;
	struct vocabulary *tokens;
};

/* Parses JSON written with ' instead of ". */
static struct tree *
parse(const char *text)
{
	char *json = mem_string(text);

	for (char *at = json; (at = strchr(at, '\'')); at++)
		*at = '"';
	struct tree *tree = json_parse(json, strlen(json), "trainer", 0);
	free(json);
	return tree;
}

static const char byte_level[] = "{'type':'ByteLevel','add_prefix_space':false,"
				 "'trim_offsets':true,'use_regex':true}";

struct vocabulary_trainer *
trainer_new(enum trainer_kind kind, bool cased)
{
	struct vocabulary_trainer *trainer = mem_zero(1, sizeof *trainer);
	struct wordpiece_rules rules = { .clean_text = true,
		.chinese_chars = true,
		.strip_accents = !cased,
		.lowercase = !cased,
		.max_chars = 100,
		.continuation = "##" };

	trainer->kind = kind;
	trainer->cased = cased;
	trainer->words = vocabulary_new();
	trainer->tokens = vocabulary_new();
	if (kind == TRAINER_BPE) {
		struct tree *tree = parse(byte_level);
		trainer->pretokenizer = pretokenizer_new(tree);
		pretokenizer_leave_bytes(trainer->pretokenizer);
		tree_free(tree);
		return trainer;
	}
	trainer->splitter = wordpiece_new(NULL, &rules);
	return trainer;
}

static void
count_word(void *context, const char *word, size_t length)
{
	struct vocabulary_trainer *trainer = context;
	int32_t size = vocabulary_size(trainer->words);

	if (size == VOCABULARY_MAX)
		die("the text has more than %d distinct words; take a sample of it",
		    VOCABULARY_MAX - 1);
	int32_t id = vocabulary_add(trainer->words, word, length, size);
	trainer->count = mem_grow(
	    trainer->count, &trainer->capacity, (size_t)id + 1, sizeof *trainer->count);
	if (id == size)
		trainer->count[id] = 0;
	trainer->count[id]++;
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

/* The text as valid UTF-8 in NFC, to be freed; NULL: unchanged. */
static char *
normal(const char *text, size_t length, size_t *made)
{
	char *repaired = utf8_repaired(text, length, made);

	text = repaired ? repaired : text;
	if (utf8_is_normal(text, *made, UTF8_NFC))
		return repaired;
	char *composed = utf8_normal(text, *made, UTF8_NFC, made);
	free(repaired);
	return composed;
}

void
trainer_count(struct vocabulary_trainer *trainer, const char *text, size_t length)
{
	if (trainer->kind == TRAINER_WORDPIECE) {
		wordpiece_words(trainer->splitter, text, length, count_word, trainer);
		return;
	}
	size_t made;
	char *changed = normal(text, length, &made);
	pretokenizer_run(trainer->pretokenizer, changed ? changed : text, made, 0,
	    count_bytes, trainer);
	free(changed);
}

/* The alphabet. -------------------------------------------------------------------- */

enum { CODES = 0x110000 };

struct letter {
	int64_t count;
	int32_t code;
	bool first, inside; /* occurs first in words; inside words */
};

static int
by_code(const void *a, const void *b)
{
	const struct letter *x = a, *y = b;

	return (x->code > y->code) - (x->code < y->code);
}

static int
by_count(const void *a, const void *b)
{
	const struct letter *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return by_code(a, b);
}

/* The characters of all words, most frequent first. */
static struct letter *
count_letters(const struct vocabulary_trainer *trainer, size_t *letters)
{
	struct letter *letter = mem_zero(CODES, sizeof *letter);
	size_t length, used = 0;

	for (int32_t id = 0; id < vocabulary_size(trainer->words); id++) {
		const char *word = vocabulary_text(trainer->words, id, &length);
		for (size_t at = 0; at < length;) {
			int32_t code;
			bool first = at == 0;
			at += utf8_decode(word + at, length - at, &code);
			letter[code].count += trainer->count[id];
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
add_token(struct vocabulary_trainer *trainer, const char *text, size_t length)
{
	return vocabulary_add(
	    trainer->tokens, text, length, vocabulary_size(trainer->tokens));
}

/* The token of a character; `made` holds its text: "##" and up to 4 bytes. */
static size_t
letter_text(
    const struct vocabulary_trainer *trainer, char made[6], int32_t code, bool inside)
{
	inside &= trainer->kind == TRAINER_WORDPIECE;
	memcpy(made, "##", 2);
	return utf8_encode(code, made + 2 * inside) + 2 * inside;
}

/* The characters of the 256 bytes, sorted by code point. */
static void
add_bytes(struct vocabulary_trainer *trainer)
{
	struct letter letter[256];
	char text[6];

	for (int byte = 0; byte < 256; byte++)
		letter[byte].code = bpe_character((unsigned char)byte);
	qsort(letter, 256, sizeof *letter, by_code);
	for (int i = 0; i < 256; i++)
		add_token(
		    trainer, text, letter_text(trainer, text, letter[i].code, false));
}

/* Adds the most frequent characters: first those at the start of words, then those inside. */
static void
add_characters(struct vocabulary_trainer *trainer, int alphabet)
{
	size_t letters;
	struct letter *letter = count_letters(trainer, &letters);
	char text[6];

	if (letters > (size_t)alphabet)
		letters = (size_t)alphabet;
	qsort(letter, letters, sizeof *letter, by_code);
	for (int inside = 0; inside < 2; inside++)
		for (size_t i = 0; i < letters; i++)
			if (inside ? letter[i].inside : letter[i].first)
				add_token(trainer, text,
				    letter_text(trainer, text, letter[i].code, inside));
	free(letter);
}

static void
add_alphabet(struct vocabulary_trainer *trainer, int size, int alphabet)
{
	for (int i = 0; i < SPECIALS; i++)
		add_token(trainer, specials[i], strlen(specials[i]));
	if (trainer->kind == TRAINER_BPE)
		add_bytes(trainer);
	else
		add_characters(trainer, alphabet);
	if (vocabulary_size(trainer->tokens) > size)
		die("a vocabulary of %d is too small: special tokens and characters "
		    "alone are "
		    "%d; ask for more, or for a smaller alphabet",
		    size, vocabulary_size(trainer->tokens));
}

/* Merging. ------------------------------------------------------------------------- */

/* All words as tokens, concatenated; merges shorten them in place. */
struct word_corpus {
	int32_t *token;
	struct symbol_sequence {
		size_t start;
		uint32_t length;
		int64_t count;
	} * word;
	size_t words;
};

static bool
spell(const struct vocabulary_trainer *trainer, int32_t id, struct ids *into)
{
	size_t length, before = into->count;
	const char *word = vocabulary_text(trainer->words, id, &length);

	for (size_t at = 0; at < length;) {
		int32_t code;
		char text[6];
		bool inside = at > 0;
		at += utf8_decode(word + at, length - at, &code);
		int32_t token = vocabulary_find(
		    trainer->tokens, text, letter_text(trainer, text, code, inside));
		if (token < 0) {
			into->count = before;
			return false;
		}
		ids_push(into, token);
	}
	return true;
}

static struct word_corpus
spell_all(const struct vocabulary_trainer *trainer)
{
	size_t words = (size_t)vocabulary_size(trainer->words);
	struct word_corpus corpus = { .word = mem_new(words, sizeof *corpus.word) };
	struct ids ids = { 0 };

	for (size_t id = 0; id < words; id++) {
		size_t start = ids.count;
		if (spell(trainer, (int32_t)id, &ids))
			corpus.word[corpus.words++] = (struct symbol_sequence){ start,
				(uint32_t)(ids.count - start), trainer->count[id] };
	}
	corpus.token = ids.id;
	return corpus;
}

/* Replaces the pair (left, right) by `into` in a word and updates the counts of pairs. */
static void
merge_word(struct word_corpus *corpus, struct pair_counts *pairs, uint32_t index,
    int32_t left, int32_t right, int32_t into)
{
	struct symbol_sequence *word = &corpus->word[index];
	int32_t *token = corpus->token + word->start;
	uint32_t made = 0;

	for (uint32_t i = 0; i < word->length; i++) {
		if (i + 1 == word->length || token[i] != left || token[i + 1] != right) {
			token[made++] = token[i];
			continue;
		}
		if (made > 0) {
			pair_counts_change(
			    pairs, token[made - 1], left, -word->count, index);
			pair_counts_change(
			    pairs, token[made - 1], into, word->count, index);
		}
		pair_counts_change(pairs, left, right, -word->count, index);
		if (i + 2 < word->length) {
			pair_counts_change(
			    pairs, right, token[i + 2], -word->count, index);
			pair_counts_change(pairs, into, token[i + 2], word->count, index);
		}
		token[made++] = into;
		i++;
	}
	word->length = made;
}

static int32_t
join(struct vocabulary_trainer *trainer, int32_t left, int32_t right)
{
	size_t a, b;
	const char *head = vocabulary_text(trainer->tokens, left, &a);
	const char *tail = vocabulary_text(trainer->tokens, right, &b);
	size_t prefix =
	    trainer->kind == TRAINER_WORDPIECE ? 2 : 0; /* "##" of the right part */
	char *text = mem_format("%s%s", head, tail + prefix);
	int32_t id = add_token(trainer, text, a + b - prefix);

	free(text);
	trainer->merges = mem_grow(trainer->merges, &trainer->merge_room,
	    trainer->merge_count + 1, sizeof *trainer->merges);
	trainer->merges[trainer->merge_count][0] = left;
	trainer->merges[trainer->merge_count++][1] = right;
	return id;
}

int
trainer_learn(struct vocabulary_trainer *trainer, int size, int64_t least, int alphabet)
{
	int32_t left, right;

	add_alphabet(trainer, size, alphabet);
	struct word_corpus corpus = spell_all(trainer);
	struct pair_counts *pairs = pair_counts_new();
	for (size_t w = 0; w < corpus.words; w++)
		for (uint32_t i = 1; i < corpus.word[w].length; i++) {
			const int32_t *token = corpus.token + corpus.word[w].start + i;
			pair_counts_change(pairs, token[-1], token[0],
			    corpus.word[w].count, (uint32_t)w);
		}
	while (vocabulary_size(trainer->tokens) < size &&
	       pair_counts_take(pairs, &left, &right) >= least) {
		size_t count;
		uint32_t *where = pair_counts_where(pairs, left, right, &count);
		int32_t into = join(trainer, left, right);
		for (size_t i = 0; i < count; i++)
			merge_word(&corpus, pairs, where[i], left, right, into);
		free(where);
	}
	pair_counts_free(pairs);
	free(corpus.token);
	free(corpus.word);
	return vocabulary_size(trainer->tokens);
}

/* Writing. ------------------------------------------------------------------------- */

/* Added tokens, normalizer, pre_tokenizer, decoder, model. */
static const char tokenizer_json[] =
    "{'version':'1.0','truncation':null,'padding':null,'added_tokens':[%s],"
    "'normalizer':%s,'pre_tokenizer':%s,'post_processor':{'type':'TemplateProcessing',"
    "'single':[{'SpecialToken':{'id':'[CLS]','type_id':0}},"
    "{'Sequence':{'id':'A','type_id':0}},{'SpecialToken':{'id':'[SEP]','type_id':0}}],"
    "'pair':[{'SpecialToken':{'id':'[CLS]','type_id':0}},"
    "{'Sequence':{'id':'A','type_id':0}},{'SpecialToken':{'id':'[SEP]','type_id':0}},"
    "{'Sequence':{'id':'B','type_id':1}},{'SpecialToken':{'id':'[SEP]','type_id':1}}],"
    "'special_tokens':{'[CLS]':{'id':'[CLS]','ids':[2],'tokens':['[CLS]']},"
    "'[SEP]':{'id':'[SEP]','ids':[3],'tokens':['[SEP]']}}},'decoder':%s,'model':%s}";

/* Text before, between and after the special tokens. */
static const char added_token[] =
    "%s{'id':%d,'content':'%s','single_word':false,'lstrip':false,'rstrip':false,"
    "'normalized':false,'special':true}";

static const char bert_normalizer[] =
    "{'type':'BertNormalizer','clean_text':true,'handle_chinese_chars':true,"
    "'strip_accents':null,'lowercase':true}";

static struct tree *
tokenizer_tree(const struct vocabulary_trainer *trainer)
{
	bool bytes = trainer->kind == TRAINER_BPE;
	struct buffer added = { 0 };

	for (int i = 0; i < SPECIALS; i++) {
		char *token = mem_format(added_token, i ? "," : "", i, specials[i]);
		buffer_add(&added, token, strlen(token));
		free(token);
	}
	buffer_add(&added, "", 1);
	char *text = mem_format(tokenizer_json, added.data,
	    bytes ? "{'type':'NFC'}" : bert_normalizer,
	    bytes ? byte_level : "{'type':'BertPreTokenizer'}",
	    bytes ? byte_level : "{'type':'WordPiece','prefix':'##','cleanup':true}",
	    bytes ? "{'type':'BPE','vocab':{},'merges':[]}"
		  : "{'type':'WordPiece','unk_token':'[UNK]','continuing_subword_prefix':"
		    "'##','max_input_chars_per_word':100,'vocab':{}}");
	struct tree *root = parse(text), *model = tree_get(root, "model");
	struct tree *vocab = tree_get(model, "vocab");
	free(text);
	free(added.data);
	if (trainer->cased && !bytes)
		tree_set(
		    tree_get(root, "normalizer"), "lowercase", tree_of_boolean(false));
	for (int32_t id = 0; id < vocabulary_size(trainer->tokens); id++)
		tree_add(vocab, tree_of_integer(id))->key = /* unique: no search */
		    mem_string(vocabulary_text(trainer->tokens, id, NULL));
	for (size_t i = 0; bytes && i < trainer->merge_count; i++) {
		struct tree *pair = tree_add(tree_get(model, "merges"), tree_list());
		for (int side = 0; side < 2; side++)
			tree_add(pair, tree_of_string(vocabulary_text(trainer->tokens,
					   trainer->merges[i][side], NULL)));
	}
	return root;
}

static struct tree *
config_tree(const struct vocabulary_trainer *trainer, int max_length)
{
	bool bytes = trainer->kind == TRAINER_BPE;
	char *bert = mem_format("'BertTokenizer','do_lower_case':%s,'strip_accents':null,"
				"'tokenize_chinese_chars':true",
	    trainer->cased ? "false" : "true");
	char *text =
	    mem_format("{'tokenizer_class':%s,'model_max_length':%d,"
		       "'pad_token':'[PAD]','unk_token':'[UNK]','cls_token':'[CLS]',"
		       "'sep_token':'[SEP]','mask_token':'[MASK]'}",
		bytes ? "'PreTrainedTokenizerFast'" : bert, max_length);
	struct tree *tree = parse(text);

	free(text);
	free(bert);
	return tree;
}

static char *
lines(const struct vocabulary_trainer *trainer)
{
	struct buffer text = { 0 };
	size_t length;

	for (int32_t id = 0; id < vocabulary_size(trainer->tokens); id++) {
		const char *token = vocabulary_text(trainer->tokens, id, &length);
		buffer_add(&text, token, length);
		buffer_add(&text, "\n", 1);
	}
	buffer_add(&text, "", 1);
	return text.data;
}

void
trainer_writable(const char *dir)
{
	char *weights = folder_weights(dir);
	struct stat status;

	if (!lstat(dir, &status) && (stat(dir, &status) || !S_ISDIR(status.st_mode)))
		die("%s: exists and is not a folder; choose another name", dir);
	if (weights)
		die("%s: holds a model's weights (%s), which were made with its "
		    "vocabulary; choose another folder",
		    dir, weights);
}

/* A new folder is there whole or not at all.  In an old one tokenizer.json comes last: programs read it. */
void
trainer_write(const struct vocabulary_trainer *trainer, const char *dir, int max_length)
{
	struct tree *config = config_tree(trainer, max_length);
	struct tree *tokenizer = tokenizer_tree(trainer);
	char *beside = access(dir, F_OK) ? folder_begin(dir) : NULL;
	const char *folder = beside ? beside : dir;

	trainer_writable(dir);
	if (trainer->kind == TRAINER_WORDPIECE) {
		char *text = lines(trainer);
		folder_write(folder, "vocab.txt", text, strlen(text));
		free(text);
	}
	folder_write_json(folder, "tokenizer_config.json", config);
	folder_write_json(folder, "tokenizer.json", tokenizer);
	if (beside)
		folder_commit(beside, dir);
	tree_free(config);
	tree_free(tokenizer);
}

void
trainer_free(struct vocabulary_trainer *trainer)
{
	if (trainer->kind == TRAINER_BPE)
		pretokenizer_free(trainer->pretokenizer);
	else
		wordpiece_free(trainer->splitter);
	free(trainer->merges);
	vocabulary_free(trainer->words);
	vocabulary_free(trainer->tokens);
	free(trainer->count);
	free(trainer);
}
