#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "token/tokenizer_parts.h"

/* vocab.json and merges.txt say nothing of what stands before the model; the class does. */
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

/* The class of files that nothing names is GPT-2's, but for a vocabulary that has RoBERTa's special tokens. */
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

bool
tokenizer_read_merges(const char *dir, char **path, struct file_view *view)
{
	size_t vocab_length, merges_length;
	char *other = tokenizer_beside(dir, "merges.txt");
	char *made = NULL;

	*path = tokenizer_beside(dir, "vocab.json");
	char *vocab = file_read(*path, &vocab_length);
	if (!vocab) {
		free(*path);
		free(other);
		return false;
	}
	char *merges = file_need(other, &merges_length);
	struct tokenizer_settings *settings = tokenizer_settings_read(dir);
	assume_class(settings, vocab);
	FILE *to = open_memstream(&made, &view->length);
	if (!to)
		die("%s:", *path);
	fprintf(to, "{\"model\":{\"type\":\"BPE\",\"vocab\":");
	fwrite(vocab, 1, vocab_length, to);
	fprintf(to, ",\"merges\":[");
	put_merges(to, merges, merges_length);
	fprintf(to, "]},%s,\"decoder\":{\"type\":\"ByteLevel\"}}", around(settings));
	if (fclose(to))
		die("%s:", *path);
	tokenizer_settings_free(settings);
	free(merges);
	free(vocab);
	free(other);
	view->text = view->memory = made;
	return true;
}
