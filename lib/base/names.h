/*
 * names - strings numbered in the order of their arrival, found again by a hash.
 *
 * For ids and labels.  A name is bytes, compared as bytes; it costs its length, 9 bytes and
 * 16 to 32 of the table.  At most 2^32 - 2 of them.
 */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names;

struct names *names_new(void);

/* The name's number; a new name gets the next one (fresh, if not NULL, says so). */
int64_t names_add(struct names *names, const char *bytes, size_t length, bool *fresh);
int64_t names_find(
    const struct names *names, const char *bytes, size_t length); /* or -1 */

/* The bytes, NUL-terminated; borrowed until the next names_add. */
const char *names_get(const struct names *names, int64_t number);
size_t names_length(const struct names *names, int64_t number);
int64_t names_count(const struct names *names);

/* Byte-wise order of two names: below, at or above 0. */
int names_compare(const struct names *names, int64_t a, int64_t b);
void names_free(struct names *names);

#endif
