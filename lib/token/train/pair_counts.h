/*
 * pair_counts - how often two tokens stand side by side, and in which words: a hash table and a
 * heap of the most frequent.
 */
#ifndef TOKEN_TRAIN_PAIR_COUNTS_H
#define TOKEN_TRAIN_PAIR_COUNTS_H

#include <stddef.h>
#include <stdint.h>

struct pair_counts;

struct pair_counts *pair_counts_new(void);

/* Add to the count of a pair; a positive change notes that `word` has it. */
void pair_counts_change(struct pair_counts *pairs, int32_t left, int32_t right,
    int64_t change, uint32_t word);

/* The most frequent pair (of equals: the smaller left, then the smaller right), with its
 * count; 0 when there is none left. */
int64_t pair_counts_take(struct pair_counts *pairs, int32_t *left, int32_t *right);

/* The words that were noted for a pair; some may have lost it, some may come twice.  To be
 * freed; the pair forgets them. */
uint32_t *pair_counts_where(
    struct pair_counts *pairs, int32_t left, int32_t right, size_t *count);
void pair_counts_free(struct pair_counts *pairs);

#endif
