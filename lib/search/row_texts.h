/*
 * row_texts - the texts of some rows of a stream, by row number: the texts of queries and hits.
 *
 * Memory: 8 bytes per row, and the texts.
 */
#ifndef SEARCH_ROW_TEXTS_H
#define SEARCH_ROW_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_text {
	size_t length;
	char bytes[]; /* the stream's bytes, normally UTF-8; may contain NUL */
};

/* Starts as zeros. */
struct row_texts {
	struct row_text **at;
	size_t room;
	int64_t rows; /* length of `at` */
	int64_t kept; /* texts in it */
};

/* Keeps the first text of a number. */
void row_texts_put(
    struct row_texts *texts, int64_t number, const char *bytes, size_t length);

/* NULL: no text. */
const struct row_text *row_texts_get(const struct row_texts *texts, int64_t number);

/* Frees the texts with wanted[row] false; wanted [rows]. */
void row_texts_sweep(struct row_texts *texts, const bool *wanted);
void row_texts_free(struct row_texts *texts);

#endif
