/*
 * labels - the rows of a data set by their labels: a text's partner is another text of its label.
 *
 * Texts are told apart by hashes.  Some 32 bytes of memory a row.
 */
#ifndef LABELS_H_SAMPLE
#define LABELS_H_SAMPLE

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
void labels_free(struct labels *labels);

#endif
