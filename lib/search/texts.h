/*
 * texts - the texts of some rows of a stream, by the rows' numbers: those of what was found.
 *
 * 8 bytes a row, and the texts that are kept.
 */
#ifndef SEARCH_TEXTS_H
#define SEARCH_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	size_t length;
	char bytes[]; /* UTF-8, as far as the stream's is; it may hold NULs */
};

/* Zeroed: none. */
struct texts {
	struct text **at;
	size_t room;
	int64_t rows; /* numbers below this may have a text */
	int64_t kept;
};

/* A number's first text counts. */
void texts_put(struct texts *texts, int64_t number, const char *bytes, size_t length);

/* NULL: there is none. */
const struct text *texts_get(const struct texts *texts, int64_t number);

/* Free those that are not wanted [rows]. */
void texts_sweep(struct texts *texts, const bool *wanted);
void texts_free(struct texts *texts);

#endif
