/*
 * vocabulary - the tokens of a tokenizer and their numbers: token <-> id.
 */
#ifndef TOKEN_VOCABULARY_H
#define TOKEN_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VOCABULARY_MAX = 1 << 24 }; /* ids are below this */

struct vocabulary;

struct vocabulary *vocabulary_new(void);

/* Returns id, or the id that the same text has already (then nothing changes), or -1 when
 * another text has this id.  Copies the text.  0 <= id < VOCABULARY_MAX. */
int32_t vocabulary_add(
    struct vocabulary *vocabulary, const char *text, size_t length, int32_t id);

/* Many at once: first put them all; false when another text has this id.  Then index them,
 * before anything but vocabulary_text and _size; returns the id of a text that is there twice, or -1. */
bool vocabulary_put(
    struct vocabulary *vocabulary, const char *text, size_t length, int32_t id);
int32_t vocabulary_index(struct vocabulary *vocabulary);

/* Room for so many, of an empty vocabulary; what is never filled costs nothing. */
void vocabulary_reserve(struct vocabulary *vocabulary, size_t count, size_t bytes);

/* The id, or -1. */
int32_t vocabulary_find(
    const struct vocabulary *vocabulary, const char *text, size_t length);

/* The same in two steps, for many texts: memory is asked for ahead between them. */
uint64_t vocabulary_key(
    const struct vocabulary *vocabulary, const char *text, size_t length);
int32_t vocabulary_find_key(
    const struct vocabulary *vocabulary, const char *text, size_t length, uint64_t key);

/* NUL-terminated, borrowed until the next vocabulary_add; NULL: no token has this id. */
const char *vocabulary_text(
    const struct vocabulary *vocabulary, int32_t id, size_t *length);

/* Greatest id + 1. */
int32_t vocabulary_size(const struct vocabulary *vocabulary);
void vocabulary_free(struct vocabulary *vocabulary);

#endif
