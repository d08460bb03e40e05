/*
 * pool - what follows the transformer: hidden states to one embedding per sequence, as the
 * sentence-transformers files of a folder say (modules.json, 1_Pooling, 2_Normalize).
 */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nn.h"

enum { POOLS = 6 };

struct head {
	int pools;
	enum nn_pool pool[POOLS]; /* concatenated */
	bool normalize, include_prompt;
	bool assumed; /* the folder said nothing: mean, not normalised */
};

/* Read a folder's files.  Returns the folder of the transformer itself, which the caller
 * frees.  Modules other than Transformer, Pooling and Normalize are named and refused. */
char *pool_read(struct head *head, const char *dir);

/* Write modules.json, 1_Pooling/config.json and the normalisation into an existing folder. */
void pool_write(const struct head *head, const char *dir, int width);

/* "cls", "mean", "max", "mean_sqrt", "weighted", "last", or several joined by '+'.  False
 * when there is none called so. */
bool pool_parse(struct head *head, const char *text);

/*
 * e[N, pools x C] from x[T,C]; pooled, of the same shape, receives the values before the
 * normalisation (may be e), lengths[N] their norms (may be NULL).  skip as in nn_pool.
 */
void pool_forward(const struct head *head, float *e, float *pooled, float *lengths,
    const float *x, const int32_t *starts, const int32_t *skip, size_t N, size_t C);

/* dx[T,C] overwritten; scratch[T,C] is used when there are several pools; de is used up. */
void pool_backward(const struct head *head, float *dx, float *scratch, float *de,
    const float *e, const float *lengths, const float *x, const int32_t *starts,
    const int32_t *skip, size_t T, size_t N, size_t C);

#endif
