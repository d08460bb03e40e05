/*
 * pair_counts - counts of adjacent token pairs, and the words that contain them: a hash table and a heap.
 */
#ifndef TOKEN_TRAIN_PAIR_COUNTS_H
#define TOKEN_TRAIN_PAIR_COUNTS_H

#include <stddef.h>
#include <stdint.h>

struct pair_counts;

struct pair_counts *pair_counts_new(void);

/* Adds to the count of a pair; a positive change also records that `word` contains it. */
void pair_counts_change(struct pair_counts *pairs, int32_t left, int32_t right,
    int64_t change, uint32_t word);

/* Removes the most frequent pair (of equals: the smaller left, then the smaller right) and returns its count; 0: there
 * is none left. */
int64_t pair_counts_take(struct pair_counts *pairs, int32_t *left, int32_t *right);

/* Removes and returns the words recorded for a pair, to be freed.  Some may not contain it any more, some may occur
 * twice. */
uint32_t *pair_counts_where(
    struct pair_counts *pairs, int32_t left, int32_t right, size_t *count);
void pair_counts_free(struct pair_counts *pairs);

#endif
