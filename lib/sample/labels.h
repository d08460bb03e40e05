/*
 * labels - the rows of a data set by their labels: a text's partner is another text of its label;
 * or all of a label in sets.
 *
 * Texts are told apart by hashes.  Some 32 bytes of memory a row.
 */
#ifndef SAMPLE_LABELS_H
#define SAMPLE_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

struct labels;

struct labels *labels_new(void);

/* The next row, in ascending order, its label and its text's hash. */
void labels_add(
    struct labels *labels, const char *label, size_t length, uint64_t text, int64_t row);

/* After the last: adds the rows to `rows` in their order, without those whose label has no two
 * different texts, of which it warns by the data set's name. */
void labels_finish(struct labels *labels, const char *dataset, struct numbers *rows);

/* A row of the label that has another text: each as likely; chance NULL: the next one in an order
 * of its own, so that each text is as often a partner.  -1: there is none. */
int64_t labels_other(const struct labels *labels, const char *label, size_t length,
    uint64_t text, const uint64_t *chance);

/* In place of labels_finish: adds the rows label by label, those of a text that a label has again
 * left out, in the order of the texts' hashes; and to `starts` where each set of at most `most` of them
 * begins, and where the last one ends.  The sets of a label are as large as each other, or one
 * less. */
void labels_group(
    struct labels *labels, int64_t most, struct numbers *rows, struct numbers *starts);
void labels_free(struct labels *labels);

#endif
