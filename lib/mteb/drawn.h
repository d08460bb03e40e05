/*
 * drawn - a training file of which only those texts are left that classification trains on.
 *
 * Ten samples of 8 a label are some hundred rows; Amazon's reviews are 3.6 million.  A row that no
 * experiment draws keeps its place and its label, so that the same are drawn again, and loses its
 * text: an empty text costs an encoder next to nothing.
 */
#ifndef DRAWN_H
#define DRAWN_H

#include <stdint.h>

/* Read `path` twice and print it as JSON Lines; `field` is the text.  Dies when the file is no
 * regular one, and on a row without a label.  Returns how many texts were left. */
int64_t drawn_print(const char *path, const char *field, const char *label, int samples,
    int experiments, uint32_t seed);

#endif
