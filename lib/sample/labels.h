/*
 * labels - the rows of a data set by label, to pair a text with another text of its label, or to put a label's texts in groups.
 *
 * Texts are compared by hash.  Memory: about 32 bytes per row.
 */
#ifndef SAMPLE_LABELS_H
#define SAMPLE_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

struct labels;

struct labels *labels_new(void);

/* Adds a row; rows rise. */
void labels_add(
    struct labels *labels, const char *label, size_t length, uint64_t text, int64_t row);

/* After the last row: appends the rows to `rows` in their order.  Leaves out labels with a single text, with a warning that
 * names the data set. */
void labels_finish(struct labels *labels, const char *dataset, struct numbers *rows);

/* A row of the label with another text, chosen by a random number; chance NULL: the next text in a fixed cycle.  -1: none. */
int64_t labels_other(const struct labels *labels, const char *label, size_t length,
    uint64_t text, const uint64_t *chance);

/* Instead of labels_finish: adds the rows label by label without duplicate texts, in the order of the texts' hashes.  Divides each
 * label into groups of at most `most` rows, whose sizes differ by at most one; `starts` receives the first row of each and the
 * end. */
void labels_group(
    struct labels *labels, int64_t most, struct numbers *rows, struct numbers *starts);
void labels_free(struct labels *labels);

#endif
