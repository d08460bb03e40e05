#include "geometry/words.h"

#include "base/utf8.h"

static void
add(struct buffer *word, int32_t code)
{
	int32_t lower[2];
	int count = utf8_lower(code, lower);

	for (int i = 0; i < count; i++)
		word->used += utf8_encode(lower[i], buffer_room(word, 4));
}

bool
words_next(const char *text, size_t length, size_t *at, struct buffer *word)
{
	word->used = 0;
	while (*at < length) {
		int32_t code;
		size_t bytes = utf8_decode(text + *at, length - *at, &code);
		unsigned traits = code < 0 ? 0 : utf8_traits(code);
		bool within =
		    traits & UTF8_LETTER || (word->used && traits & UTF8_COMBINING);
		if (word->used && !within)
			return true;
		*at += bytes;
		if (within)
			add(word, code);
	}
	return word->used > 0;
}

size_t
words_length(const struct buffer *word)
{
	size_t count = 0;

	for (size_t i = 0; i < word->used; i++)
		count += ((unsigned char)word->data[i] & 0xC0) != 0x80;
	return count;
}
