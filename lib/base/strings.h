/*
 * strings - interns ids and labels: a set of strings, each numbered in the order of arrival.
 *
 * A name is bytes, compared as bytes.  It costs its length, 13 bytes, and 16 to 32 bytes of hash table.  At most 2^32
 * - 2 names.  Names never move: threads may read known names while one thread adds new ones.
 */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strings;

struct strings *strings_new(void);

/* The names are the integers first, first + 1, ... in decimal: strings_add ignores its bytes.  They take no memory,
 * except those read by strings_get, which one thread at a time may call. */
struct strings *strings_numbers(int64_t first);

/* Returns the number of a name; a new name gets the next number.  *fresh, if not NULL: whether it is new. */
int64_t strings_add(struct strings *names, const char *bytes, size_t length, bool *fresh);
/* Gives a name one number more, which strings_find does not return; not with strings_numbers. */
int64_t strings_repeat(struct strings *names, int64_t number);
int64_t strings_find(
    const struct strings *names, const char *bytes, size_t length); /* or -1 */

/* The same of the name `number` of another set. */
int64_t strings_add_from(
    struct strings *names, const struct strings *other, int64_t number);
int64_t strings_find_from(
    const struct strings *names, const struct strings *other, int64_t number);

/* The number of names of `other` that `names` lacks; *first: the first of them, borrowed, if there is one. */
int64_t strings_lacking(
    const struct strings *names, const struct strings *other, const char **first);

/* The bytes, NUL-terminated; borrowed until strings_free. */
const char *strings_get(const struct strings *names, int64_t number);
size_t strings_length(const struct strings *names, int64_t number);
int64_t strings_count(const struct strings *names);
size_t strings_bytes(const struct strings *names); /* memory in use */

/* Compares two names byte by byte: below, equal to or above 0. */
int strings_compare(const struct strings *names, int64_t a, int64_t b);

/* The numbers of all names in that order, [strings_count], to be freed. */
int64_t *strings_order(const struct strings *names);
void strings_free(struct strings *names);

#endif
