/*
 * vocabulary - maps tokens to ids and back.
 */
#ifndef TOKEN_VOCABULARY_H
#define TOKEN_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VOCABULARY_MAX = 1 << 24 }; /* ids are below this */

struct vocabulary;

struct vocabulary *vocabulary_new(void);

/* Adds a token, 0 <= id < VOCABULARY_MAX; copies the text.  Returns id; the old id of the same text, if there is one,
 * without any change; -1 if another text has this id. */
int32_t vocabulary_add(
    struct vocabulary *vocabulary, const char *text, size_t length, int32_t id);

/* For many tokens: vocabulary_put each, which returns false if another text has the id; then vocabulary_index, which
 * returns the id of a duplicate text, or -1.  Between them only vocabulary_text and vocabulary_size may be called. */
bool vocabulary_put(
    struct vocabulary *vocabulary, const char *text, size_t length, int32_t id);
int32_t vocabulary_index(struct vocabulary *vocabulary);

/* Reserves address space of an empty vocabulary; unused pages cost no memory. */
void vocabulary_reserve(struct vocabulary *vocabulary, size_t count, size_t bytes);

/* The id, or -1. */
int32_t vocabulary_find(
    const struct vocabulary *vocabulary, const char *text, size_t length);

/* The same in two steps: vocabulary_key prefetches the slot of the hash table. */
uint64_t vocabulary_key(
    const struct vocabulary *vocabulary, const char *text, size_t length);
int32_t vocabulary_find_key(
    const struct vocabulary *vocabulary, const char *text, size_t length, uint64_t key);

/* The NUL-terminated text, borrowed until the next vocabulary_add; NULL: no token has this id. */
const char *vocabulary_text(
    const struct vocabulary *vocabulary, int32_t id, size_t *length);

/* Greatest id + 1. */
int32_t vocabulary_size(const struct vocabulary *vocabulary);
void vocabulary_free(struct vocabulary *vocabulary);

#endif
