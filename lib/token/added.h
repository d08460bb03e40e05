/*
 * added - the added tokens of a tokenizer: found in the text before anything else is done.
 *
 * Leftmost, then longest; single_word, lstrip and rstrip as the reference has them.  Ids are the
 * file's, where the reference numbers anew those that leave a gap; an id that contradicts the
 * vocabulary is refused, where the reference takes the vocabulary's.
 */
#ifndef TOKEN_ADDED_H
#define TOKEN_ADDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct added_token {
	char *text;
	size_t length;
	int32_t id;
	bool single_word;    /* only where no word character is on either side */
	bool lstrip, rstrip; /* takes the white space on that side with it */
};

struct added;

struct added *added_new(void);

/* An empty text is ignored.  Of equal texts the first one counts, of
 * equal ids among them the last. */
void added_add(struct added *added, const struct added_token *token);
bool added_any(const struct added *added);

/*
 * The next token at or after `from`, where the text before `from` is used up: its bytes are
 * [*start, *stop).  Returns the id, or -1.  *resume is where the next search begins.
 */
int32_t added_find(const struct added *added, const char *text, size_t length,
    size_t from, size_t search, size_t *start, size_t *stop, size_t *resume);
void added_free(struct added *added);

#endif
