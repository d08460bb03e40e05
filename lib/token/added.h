/*
 * added - finds the added tokens of a tokenizer in a text.
 *
 * The leftmost match wins, then the longest; single_word, lstrip and rstrip mean the same as in the reference.
 */
#ifndef TOKEN_ADDED_H
#define TOKEN_ADDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest token, in bytes.  After a mismatch the search goes on at the next byte, so its time grows with this
 * length. */
enum { ADDED_LONGEST = 1024 };

struct added_token {
	char *text;
	size_t length;
	int32_t id;
	bool single_word;    /* no word character on either side */
	bool lstrip, rstrip; /* includes the white space on that side */
};

struct added;

struct added *added_new(void);

/* Copies the token.  Empty texts are ignored; of equal texts the first counts. */
void added_add(struct added *added, const struct added_token *token);
bool added_any(const struct added *added);

/*
 * Finds the next token at or after `search`; the text before `from` is consumed.  Returns its id and its bytes
 * [*start, *stop), or -1.  *resume: `search` of the next call.
 */
int32_t added_find(const struct added *added, const char *text, size_t length,
    size_t from, size_t search, size_t *start, size_t *stop, size_t *resume);
void added_free(struct added *added);

#endif
