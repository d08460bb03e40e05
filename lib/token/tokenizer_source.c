#include "token/tokenizer_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "folder/modules.h"
#include "text/json.h"
#include "token/json_map.h"
#include "token/sentencepiece.h"
#include "token/unigram.h"

enum { EXTRA_IDS = 100, DOWNGRADED = -100 };

/* tokenizer.json. ------------------------------------------------------------------- */

static void
add_symbol(void *context, const char *text, size_t length, int64_t id)
{
	struct tokenizer_source *source = context;

	if (id < 0 || id >= VOCABULARY_MAX)
		die("%s: token '%.*s': id %lld is not in 0..%d", source->path,
		    (int)length, text, (long long)id, VOCABULARY_MAX - 1);
	if (!vocabulary_put(source->vocabulary, text, length, (int32_t)id))
		die("%s: token '%.*s': id %lld is also that of '%s'", source->path,
		    (int)length, text, (long long)id,
		    vocabulary_text(source->vocabulary, (int32_t)id, NULL));
}

/* Indexes the vocabulary.  Unigram's pieces are not indexed: they may be duplicate. */
static void
end_vocabulary(void *context)
{
	struct tokenizer_source *source = context;

	if (source->scores)
		return;
	int32_t twice = vocabulary_index(source->vocabulary);

	if (twice >= 0)
		die("%s: token '%s' is there twice", source->path,
		    vocabulary_text(source->vocabulary, twice, NULL));
}

/* Adds a merge, given as one text "a b" or as two. */
static void
add_merge(void *context, const char *left, size_t left_length, const char *right,
    size_t right_length)
{
	struct tokenizer_source *source = context;
	int length = (int)(left_length < 200 ? left_length : 200);

	if (!right) {
		const char *blank = memchr(left, ' ', left_length);
		if (left_length >= 8 && !memcmp(left, "#version", 8))
			return;
		if (!blank ||
		    memchr(blank + 1, ' ', (size_t)(left + left_length - blank - 1)))
			die("%s: merge %u, '%.*s': must be two tokens and a blank",
			    source->path, source->merge_count, length, left);
		right = blank + 1;
		right_length = (size_t)(left + left_length - right);
		left_length = (size_t)(blank - left);
	}
	if (!source->bpe)
		source->bpe = bpe_new(source->vocabulary, source->path);
	bpe_merge(source->bpe, left, left_length, right, right_length);
	source->merge_count++;
}

/* Adds a piece of Unigram; its id is the number of pieces before it. */
static void
add_piece(void *context, const char *text, size_t length, double score)
{
	struct tokenizer_source *source = context;
	int32_t id = vocabulary_size(source->vocabulary);

	if (id == VOCABULARY_MAX)
		die("%s: model: more than %d pieces", source->path, VOCABULARY_MAX);
	if (length > UNIGRAM_LONGEST)
		die("%s: model: piece %d has %zu bytes; at most %d are supported",
		    source->path, (int)id, length, UNIGRAM_LONGEST);
	vocabulary_put(source->vocabulary, text, length, id);
	if (!source->scores)
		source->scores =
		    mem_large(source->score_capacity, sizeof *source->scores);
	source->scores[id] = score;
}

/* Puts the vocabulary and merges into the source; returns the rest of the file. */
static struct tree *
read_json(struct tokenizer_source *source)
{
	static const struct json_map_part parts[] = { { "vocab", add_symbol, NULL,
							  add_piece, end_vocabulary },
		{ "merges", NULL, add_merge, NULL, NULL } };
	const struct file_view *file = &source->bytes;

	/* no entry is shorter than "":0, */
	source->score_capacity = file->length / 5 + 1;
	vocabulary_reserve(source->vocabulary, source->score_capacity, file->length);
	struct tree *root = json_map_read(
	    source->path, file->text, file->length, "model", parts, 2, source);

	if (root->kind != TREE_OBJECT || !tree_get(root, "model"))
		tree_die(root, "not a tokenizer.json: it has no 'model'");
	const char *version = tree_string(root, "version", "1.0");
	if (strcmp(version, "1.0"))
		tree_die(root, "version '%s' is not supported (1.0 is)", version);
	return root;
}

/* vocab.txt. ----------------------------------------------------------------------- */

/* From the last line to the first: of equal lines the last counts, as in the reference. */
static void
read_lines(struct tokenizer_source *source)
{
	const char *text = source->bytes.text, *line;
	size_t left = source->bytes.length, length;
	int64_t id = left && text[left - 1] != '\n';

	for (size_t i = 0; i < left; i++)
		id += text[i] == '\n';
	if (id > VOCABULARY_MAX)
		die("%s: not a vocabulary: more than %d lines", source->path,
		    VOCABULARY_MAX);
	for (; left; left = (size_t)(line - text)) {
		length = left - (text[left - 1] == '\n');
		line = memrchr(text, '\n', length);
		line = line ? line + 1 : text;
		length = utf8_space_start(line, length - (size_t)(line - text), 0);
		if (utf8_valid(line, length) != length)
			die("%s:%lld: not a vocabulary: invalid UTF-8", source->path,
			    (long long)id);
		id--;
		if (length)
			vocabulary_add(source->vocabulary, line, length, (int32_t)id);
	}
}

static struct tree *
read_vocabulary(struct tokenizer_source *source)
{
	static const char around[] =
	    "{\"model\":{\"type\":\"WordPiece\"},\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}}";
	static const char *const needed[] = { "unk_token", "cls_token", "sep_token" };
	struct tokenizer_settings *settings = source->settings;
	struct tree *root, *model;

	tokenizer_settings_assume(settings, "Bert", KIND_WORDPIECE);
	if (!settings->class || settings->class->kind != KIND_WORDPIECE)
		tree_die(settings->config,
		    "tokenizer_class: vocab.txt of a %s is not supported (of a BertTokenizer it is); save a tokenizer.json with transformers",
		    *settings->name ? settings->name : settings->class->names);
	read_lines(source);
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		const char *token = tokenizer_settings_token(settings, needed[i]);
		if (token &&
		    vocabulary_find(source->vocabulary, token, strlen(token)) < 0)
			die("%s: not a WordPiece vocabulary: it lacks %s", source->path,
			    token);
	}
	root = json_parse(around, sizeof around - 1, source->path, 0);
	model = tree_get(root, "model");
	const char *unknown = tokenizer_settings_token(settings, "unk_token");
	tree_set(model, "unk_token", tree_of_string(unknown ? unknown : "[UNK]"));
	return root;
}

/* vocab.json and merges.txt. ------------------------------------------------------- */

/* The normalizer and pre-tokeniser of each class, as tokenizer.json has them; vocab.json and merges.txt have none. */
static const struct {
	const char *class, *around;
} classes[] = {
	{ "GPT2",
	    "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false}" },
	{ "Roberta",
	    "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false}" },
	{ "Qwen2",
	    "\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"Sequence\","
	    "\"pretokenizers\":[{\"type\":\"Split\",\"behavior\":\"Isolated\","
	    "\"pattern\":"
	    "{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?"
	    "\\\\p{L}+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|"
	    "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"}},{\"type\":\"ByteLevel\","
	    "\"add_prefix_space\":false,\"use_regex\":false}]}" },
};

/* Without a class the files are GPT-2's, unless the vocabulary has RoBERTa's special tokens. */
static void
assume_class(struct tokenizer_settings *settings, const char *vocab)
{
	if (!settings->class && !*settings->name && strstr(vocab, "\"<s>\"") &&
	    !strstr(vocab, "\"<|endoftext|>\""))
		tree_die(settings->config,
		    "'tokenizer_class' is missing, and vocab.json is not "
		    "GPT-2's; say \"RobertaTokenizer\" if it is that");
	tokenizer_settings_assume(settings, "GPT2", KIND_BYTES);
}

static const char *
around(const struct tokenizer_settings *settings)
{
	const char *name = settings->class ? settings->class->names : "";

	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (!strncmp(name, classes[i].class, strlen(classes[i].class)))
			return classes[i].around;
	tree_die(settings->config,
	    "tokenizer_class: vocab.json and merges.txt of a %s are not "
	    "supported (of GPT2, Roberta and Qwen2 they are); save a "
	    "tokenizer.json with transformers",
	    *settings->name ? settings->name : name);
}

static void
put_merges(FILE *to, const char *text, size_t length)
{
	const char *end = text + length, *between = "";

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		stop = stop ? stop : end;
		size_t bytes = (size_t)(stop - text);
		bytes -= bytes && text[bytes - 1] == '\r';
		if (bytes) {
			fprintf(to, "%s\"", between);
			for (size_t i = 0; i < bytes; i++) {
				if (text[i] == '"' || text[i] == '\\')
					putc('\\', to);
				putc(text[i], to);
			}
			fprintf(to, "\"");
			between = ",\n";
		}
		text = stop + 1;
	}
}

/* Makes the text of a tokenizer.json of vocab.json and merges.txt; false: there is no vocab.json. */
static bool
read_merges(struct tokenizer_source *source)
{
	size_t vocab_length, merges_length;
	char *vocab = file_read(source->path, &vocab_length), *made = NULL;

	if (!vocab)
		return false;
	char *path = mem_format("%s/merges.txt", source->home);
	char *merges = file_need(path, &merges_length);
	if (!source->settings)
		source->settings = tokenizer_settings_read(source->home);
	assume_class(source->settings, vocab);
	FILE *to = open_memstream(&made, &source->bytes.length);
	if (!to)
		die("%s:", source->path);
	fprintf(to, "{\"model\":{\"type\":\"BPE\",\"vocab\":");
	fwrite(vocab, 1, vocab_length, to);
	fprintf(to, ",\"merges\":[");
	put_merges(to, merges, merges_length);
	fprintf(
	    to, "]},%s,\"decoder\":{\"type\":\"ByteLevel\"}}", around(source->settings));
	if (fclose(to))
		die("%s:", source->path);
	free(merges);
	free(vocab);
	free(path);
	source->bytes.text = source->bytes.memory = made;
	return true;
}

/* A model of sentencepiece. -------------------------------------------------------- */

/* Base64, to be freed. */
static char *
encode(const char *bytes, size_t length)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = mem_new(mem_multiply(length / 3 + 1, 4, "charsmap") + 1, 1),
	     *to = text;

	for (size_t i = 0; i < length; i += 3) {
		uint32_t three = 0;
		for (size_t j = i; j < i + 3; j++)
			three = three << 8 | (j < length ? (unsigned char)bytes[j] : 0);
		for (int shift = 18; shift >= 0; shift -= 6)
			*to++ = digits[three >> shift & 63];
		for (size_t j = length; j < i + 3; j++)
			to[length - j - 1] = '=';
	}
	*to = 0;
	return text;
}

static void
put(struct tokenizer_source *source, const char *text, double score)
{
	add_piece(source, text, strlen(text), score);
}

static void
put_special(struct tokenizer_source *source, const char *key)
{
	const struct tokenizer_settings *settings = source->settings;
	const char *text = tokenizer_settings_token(settings, key);

	if (!text)
		tree_die(settings->config, "'%s' is null; a %s has one", key,
		    settings->class->names);
	put(source, text, 0);
}

static void
put_rest(struct tokenizer_source *source, const struct sentencepiece *model, size_t from)
{
	for (size_t i = from; i < model->count; i++)
		add_piece(source, model->piece[i].text, model->piece[i].length,
		    model->piece[i].score);
}

/* Adds a token that is matched before normalization. */
static void
add_token(struct tree *added, const char *text, size_t length, bool special)
{
	struct tree *token = tree_add(added, tree_object());

	tree_set(token, "content", tree_of_bytes(text, length));
	tree_set(token, "special", tree_of_boolean(special));
	tree_set(token, "normalized", tree_of_boolean(false));
}

/* Returns the id of the unknown token.  XLM-RoBERTa and CamemBERT have fairseq's ids, whose first four are special. */
static int
put_pieces(struct tokenizer_source *source, const struct sentencepiece *model,
    struct tree *added)
{
	const struct tokenizer_settings *settings = source->settings;
	const char *name = settings->class->names;

	if (!strcmp(name, "XLMRoberta")) {
		put_special(source, "bos_token");
		put_special(source, "pad_token");
		put_special(source, "eos_token");
		put_special(source, "unk_token");
		put_rest(source, model, 3);
		put_special(source, "mask_token");
		return 3;
	}
	if (!strcmp(name, "Camembert")) {
		put(source, "<s>NOTUSED", 0);
		put_special(source, "pad_token");
		put(source, "</s>NOTUSED", 0);
		put_special(source, "unk_token");
		put(source, "<unk>NOTUSED", DOWNGRADED);
		put_rest(source, model, 1);
		put_special(source, "mask_token");
		return 3;
	}
	if (model->unknown != 2)
		die("%s: trainer_spec: unk_id is %lld, and 2 to a T5Tokenizer",
		    source->path, (long long)model->unknown);
	put_rest(source, model, 0);
	for (int64_t extra =
		 tree_integer_or(settings->config, "extra_ids", EXTRA_IDS, 0, 1 << 16);
	     extra--;) {
		char *text = mem_format("<extra_id_%lld>", (long long)extra);
		put(source, text, 0);
		add_token(added, text, strlen(text), true);
		free(text);
	}
	return 2;
}

/* The classes assume these settings of the model; the reference does not check them. */
static void
check(const struct sentencepiece *model, const char *path)
{
	static const char advice[] = "save a tokenizer.json with transformers";
	const char *fault =
	    model->model != SENTENCEPIECE_UNIGRAM
		? "trainer_spec: model_type is not UNIGRAM"
	    : model->byte_fallback ? "trainer_spec: byte_fallback is true"
	    : model->suffix	   ? "trainer_spec: treat_whitespace_as_suffix is true"
	    : !model->dummy_prefix ? "normalizer_spec: add_dummy_prefix is false"
	    : !model->fewer_blanks ? "normalizer_spec: remove_extra_whitespaces is false"
	    : !model->escape	   ? "normalizer_spec: escape_whitespaces is false"
				   : NULL;

	if (fault)
		die("%s: %s, which is not supported; %s", path, fault, advice);
}

static struct tree *
read_around(const struct sentencepiece *model, const char *path, int unknown)
{
	static const char around[] =
	    "{\"model\":{\"type\":\"Unigram\"},\"pre_tokenizer\":{\"type\":\"Sequence\","
	    "\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"},{\"type\":\"Metaspace\","
	    "\"replacement\":\"\u2581\",\"prepend_scheme\":\"always\",\"split\":true}]},"
	    "\"decoder\":{\"type\":\"Metaspace\",\"replacement\":\"\u2581\","
	    "\"prepend_scheme\":\"always\",\"split\":true}}";
	struct tree *root = json_parse(around, sizeof around - 1, path, 0);

	tree_set(tree_get(root, "model"), "unk_id", tree_of_integer(unknown));
	if (model->charsmap) {
		char *text = encode(model->charsmap, model->charsmap_length);
		struct tree *normal = tree_set(root, "normalizer", tree_object());
		tree_set(normal, "type", tree_of_string("Precompiled"));
		tree_set(normal, "precompiled_charsmap", tree_of_string(text));
		free(text);
	}
	return root;
}

static struct tree *
read_pieces(struct tokenizer_source *source)
{
	const struct tokenizer_settings *settings = source->settings;
	const char *path = source->path;

	if (!settings->class || settings->class->kind != KIND_PIECES)
		tree_die(settings->config,
		    "tokenizer_class: %s of a %s is not supported (of "
		    "XLMRoberta, Camembert and T5 it is); save a "
		    "tokenizer.json with transformers",
		    strrchr(path, '/') ? strrchr(path, '/') + 1 : path,
		    *settings->name   ? settings->name
		    : settings->class ? settings->class->names
				      : "model that names none");
	struct sentencepiece *model =
	    sentencepiece_read(path, source->bytes.text, source->bytes.length);
	check(model, path);
	int64_t extra =
	    tree_integer_or(settings->config, "extra_ids", EXTRA_IDS, 0, 1 << 16);
	source->score_capacity = model->count + (size_t)extra + 16;
	vocabulary_reserve(
	    source->vocabulary, source->score_capacity, source->bytes.length);
	struct tree *added = tree_list();
	int unknown = put_pieces(source, model, added);
	struct tree *root = read_around(model, path, unknown);
	tree_set(root, "added_tokens", added);
	for (size_t i = 0; i < model->count; i++) {
		const struct sentencepiece_piece *piece = &model->piece[i];
		bool control = piece->type == SENTENCEPIECE_CONTROL;
		if (control || piece->type == SENTENCEPIECE_USER)
			add_token(added, piece->text, piece->length, control);
	}
	sentencepiece_free(model);
	return root;
}

/* Finding and reading. -------------------------------------------------------------- */

static bool
is_file(const char *path)
{
	struct stat status;

	return !stat(path, &status) && !S_ISDIR(status.st_mode);
}

char *
tokenizer_source_home(const char *dir)
{
	const char *slash = strrchr(dir, '/');

	if (!is_file(dir))
		return modules_transformer(dir);
	return slash ? mem_format("%.*s", (int)(slash - dir + 1), dir) : mem_string(".");
}

static void
find_bytes(struct tokenizer_source *source)
{
	static const struct {
		const char *name;
		enum tokenizer_format format;
	} files[] = { { "tokenizer.json", FORMAT_JSON }, { "vocab.txt", FORMAT_LINES },
		{ "vocab.json", FORMAT_MERGES },
		{ "sentencepiece.bpe.model", FORMAT_PIECES },
		{ "spiece.model", FORMAT_PIECES }, { "tokenizer.model", FORMAT_PIECES },
		{ "sentencepiece.model", FORMAT_PIECES } };

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		source->path = mem_format("%s/%s", source->home, files[i].name);
		source->format = files[i].format;
		if (source->format == FORMAT_MERGES
			? read_merges(source)
			: file_view(source->path, &source->bytes))
			return;
		free(source->path);
	}
	die("%s: neither tokenizer.json, vocab.txt, vocab.json, sentencepiece.bpe.model nor spiece.model is there",
	    source->home);
}

void
tokenizer_source_find(struct tokenizer_source *source, const char *dir)
{
	source->kind = static_folder_kind(dir);
	source->home = tokenizer_source_home(dir);
	if (!is_file(dir)) {
		find_bytes(source);
		return;
	}
	source->path = mem_string(dir);
	file_view(dir, &source->bytes);
}

void
tokenizer_source_read(struct tokenizer_source *source)
{
	bool table = source->kind && source->kind != STATIC_TERMS;

	if (table && source->format != FORMAT_JSON)
		die("%s: of static embeddings; they have a tokenizer.json", source->path);
	if (!table && !source->settings)
		source->settings = tokenizer_settings_read(source->home);
	source->vocabulary = vocabulary_new();
	source->root = source->format == FORMAT_LINES	 ? read_vocabulary(source)
		       : source->format == FORMAT_PIECES ? read_pieces(source)
							 : read_json(source);
}

void
tokenizer_source_close(struct tokenizer_source *source)
{
	tree_free(source->root);
	if (source->settings)
		tokenizer_settings_free(source->settings);
	file_view_close(&source->bytes);
	free(source->path);
	free(source->home);
}
