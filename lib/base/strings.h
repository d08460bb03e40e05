/*
 * strings - strings numbered in the order of their arrival, found again by a hash.
 *
 * For ids and labels.  A name is bytes, compared as bytes; it costs its length, 13 bytes and
 * 16 to 32 of the table.  At most 2^32 - 2 of them.  What is there stays where it is: threads may
 * get and compare names while one adds further ones, which they do not know yet.
 */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strings;

struct strings *strings_new(void);

/* The decimal numbers from `first` on, in their order: the next one is added, whatever the bytes are.  They take no
 * memory, but for those that strings_get was asked for, by one thread at a time. */
struct strings *strings_numbers(int64_t first);

/* The name's number; a new name gets the next one (fresh, if not NULL, says so). */
int64_t strings_add(struct strings *names, const char *bytes, size_t length, bool *fresh);
int64_t strings_find(
    const struct strings *names, const char *bytes, size_t length); /* or -1 */

/* The bytes, NUL-terminated; borrowed until strings_free. */
const char *strings_get(const struct strings *names, int64_t number);
size_t strings_length(const struct strings *names, int64_t number);
int64_t strings_count(const struct strings *names);
size_t strings_bytes(const struct strings *names); /* of memory that they take */

/* Byte-wise order of two names: below, at or above 0. */
int strings_compare(const struct strings *names, int64_t a, int64_t b);

/* The numbers of all names in that order; to be freed. */
int64_t *strings_order(const struct strings *names);
void strings_free(struct strings *names);

#endif
