/*
 * symbols - numbered strings: token <-> id.
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYMBOLS_MAX = 1 << 24 }; /* ids are below this */

struct symbols;

struct symbols *symbols_new(void);

/* Returns id, or the id that the same text has already (then nothing changes), or -1 when
 * another text has this id.  Copies the text.  0 <= id < SYMBOLS_MAX. */
int32_t symbols_add(struct symbols *symbols, const char *text, size_t length, int32_t id);

/* Many at once: first put them all; false when another text has this id.  Then index them,
 * before anything else is done; returns the id of a text that is there twice, or -1. */
bool symbols_put(struct symbols *symbols, const char *text, size_t length, int32_t id);
int32_t symbols_index(struct symbols *symbols);

/* The id, or -1. */
int32_t symbols_find(const struct symbols *symbols, const char *text, size_t length);

/* The same in two steps, for many texts: memory is asked for ahead between them. */
uint64_t symbols_key(const struct symbols *symbols, const char *text, size_t length);
int32_t symbols_find_key(
    const struct symbols *symbols, const char *text, size_t length, uint64_t key);

/* NUL-terminated, borrowed until the next symbols_add; NULL: no token has this id. */
const char *symbols_text(const struct symbols *symbols, int32_t id, size_t *length);

/* Greatest id + 1. */
int32_t symbols_size(const struct symbols *symbols);
void symbols_free(struct symbols *symbols);

#endif
