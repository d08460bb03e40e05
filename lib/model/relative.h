/*
 * relative - DeBERTa's disentangled attention (He et al. 2021): its table of relative positions (struct nn_relative).
 *
 * Row r of the relative position n = i - j of query i and key j, with H half of the rows and, with buckets, M half of H:
 *	H + n						with |n| <= M, or without buckets
 *	H + sign(n) (M + ceil(ln(|n| / M) / ln((farthest - 1) / M) (M - 1)))	else
 * and at least 0, at most 2 H - 1.  Each block projects the table's rows by the weights and biases of its q and
 * k to q' and k'.  They depend on weights alone, and are made once, when the model is opened.
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
