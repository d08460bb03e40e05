#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "text/json.h"
#include "token/tokenizer_parts.h"

/* vocab.json and merges.txt say nothing of what stands before the model; the class does. */
static const struct {
	const char *class, *around;
} classes[] = {
	{ "GPT2",
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

static const char *
around(const char *dir, const struct tree *config)
{
	const char *class = tree_string(config, "tokenizer_class", "GPT2");

	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (!strncmp(class, classes[i].class, strlen(classes[i].class)))
			return classes[i].around;
	die("%s: vocab.json and merges.txt of a %s are not supported (of GPT2 and Qwen2 "
	    "they are); save a tokenizer.json with transformers",
	    dir, class);
}

/* "added_tokens_decoder": {"50256": {"content": ...}} as a list; else the end of text alone. */
static char *
added_tokens(const struct tree *config)
{
	const struct tree *named = tree_get(config, "added_tokens_decoder");
	struct tree *list = tree_list();

	for (size_t i = 0; named && i < named->count; i++) {
		struct tree *token = tree_add(list, tree_copy(named->items[i]));
		char *end;
		long long id = strtoll(named->items[i]->key, &end, 10);
		if (token->kind != TREE_OBJECT || *end)
			tree_die(named, "added_tokens_decoder: '%s' is no token",
			    named->items[i]->key);
		tree_set(token, "id", tree_of_integer(id));
	}
	if (!named) {
		struct tree *token = tree_add(list, tree_object());
		tree_set(token, "content",
		    tree_of_string(
			tokenizer_special(config, "eos_token", "<|endoftext|>")));
		tree_set(token, "special", tree_of_boolean(true));
	}
	char *text = json_text(list, 0);
	tree_free(list);
	return text;
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
	char *beside = tokenizer_beside(dir, "tokenizer_config.json");
	struct tree *config = json_read_optional(beside);
	char *added = added_tokens(config);
	FILE *to = open_memstream(&made, &view->length);
	if (!to)
		die("%s:", *path);
	fprintf(to, "{\"model\":{\"type\":\"BPE\",\"vocab\":");
	fwrite(vocab, 1, vocab_length, to);
	fprintf(to, ",\"merges\":[");
	put_merges(to, merges, merges_length);
	fprintf(to, "]},%s,\"decoder\":{\"type\":\"ByteLevel\"},\"added_tokens\":%s}",
	    around(dir, config), added);
	if (fclose(to))
		die("%s:", *path);
	tree_free(config);
	free(added);
	free(beside);
	free(merges);
	free(vocab);
	free(other);
	view->text = view->memory = made;
	return true;
}
