/*
 * A tokenizer.json, or a vocab.txt if the input does not begin with '{'.  It is opened, and a text is encoded and decoded: the
 * bytes after the first 0xff, or else one with characters of many kinds.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "token/ids.h"
#include "token/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
	const uint8_t *at;
	size_t size;
};

static void
run(void *context)
{
	const struct text *text = context;
	struct tokenizer *tokenizer = tokenizer_open(harness_folder());
	struct ids ids = { 0 };

	for (size_t most = 0; most < 8; most += 7) {
		ids.count = 0;
		tokenizer_encode(
		    tokenizer, (const char *)text->at, text->size, most, true, &ids);
		for (size_t i = 0; i < ids.count; i++)
			if (ids.id[i] < 0 || ids.id[i] >= tokenizer_size(tokenizer))
				abort();
		free(tokenizer_decode(
		    tokenizer, ids.id, ids.count, most > 0, &(size_t){ 0 }));
	}
	ids_free(&ids);
	tokenizer_close(tokenizer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char sorts[] =
	    "The red BOAT's 3.14 caf\xc3\xa9 [MASK] <|endoftext|>\t\r\n  \xe4\xb8\xad\xe6\x96\x87 e\xcc\x81 \xef\xac\x81 \xf0\x9f\xa4\x97 \xff\xc0 ##s ...";
	struct text text = { (const uint8_t *)sorts, sizeof sorts - 1 };
	size_t length = 0;
	const uint8_t *json = harness_part(data, size, 0, &length);

	if (length < size) {
		text.at = data + length + 1;
		text.size = size - length - 1;
	}
	bool is_json = length && *json == '{';
	harness_file("tokenizer.json", is_json ? json : NULL, length);
	harness_file("vocab.txt", is_json ? NULL : json, length);
	harness_run(run, &text);
	return 0;
}
