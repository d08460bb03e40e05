/*
 * relative - DeBERTa's attention: scores by what is how far away (struct nn_relative).
 *
 * Row r of the distance n = i - j from key j to query i, with H half of the rows and, with buckets, M half of H:
 *	H + n						with |n| <= M, or without buckets
 *	H + sign(n) (M + ceil(ln(|n| / M) / ln((farthest - 1) / M) (M - 1)))	else
 * and at least 0, at most 2 H - 1.  In each block q' and k' are the projections of the table's rows by the weights and
 * biases of the block's q and k; they are made once, when the model is opened.
 */
#ifndef MODEL_RELATIVE_H
#define MODEL_RELATIVE_H

#include "model/model.h"

/* Makes model->relative; without such a table NULL. */
void relative_open(struct model *model);
void relative_close(struct model *model);

/* The rows of a batch, rows[2 longest], host memory. */
void relative_rows(int32_t *rows, const struct spec_relative *relative, size_t longest);

#endif
