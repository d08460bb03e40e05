/*
 * relation_loss - relations of the model that learns, held to their targets (REZE, equation 8).
 *
 * The relation r of a row is its query's embedding and its document's, one after the other, as the model makes
 * them.  With a target t of twice the width for each of B rows,
 *	loss = 1/B sum over rows of (1 - cos(r, t))
 * No gradient goes to the targets.
 */
#ifndef TRAIN_RELATION_LOSS_H
#define TRAIN_RELATION_LOSS_H

#include <stddef.h>

struct relation_loss;

struct relation_loss *relation_loss_new(void);
void relation_loss_free(struct relation_loss *loss);

/* The loss of vectors [2 rows and more, width] (nn memory), queries and then documents, before loss_infonce
 * normalises them; targets [rows, 2 width] in host memory.  Its gradient times `weight` is kept for
 * relation_loss_add. */
double relation_loss_measure(struct relation_loss *loss, const float *vectors,
    const float *targets, size_t rows, size_t width, double weight);

/* Add the gradient to that of the vectors (nn memory). */
void relation_loss_add(struct relation_loss *loss, float *gradient);

#endif
