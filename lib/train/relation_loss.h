/*
 * relation_loss - pulls relations of query and document to debiased targets (REZE, section 3.2, equation 8).
 *
 * The relation r of a row is its query's and its document's embedding, concatenated, before normalisation.  With a target t of
 * twice the width for each of B rows,
 *	loss = 1/B sum over rows of (1 - cos(r, t))
 * No gradient goes to the targets.
 */
#ifndef TRAIN_RELATION_LOSS_H
#define TRAIN_RELATION_LOSS_H

#include <stddef.h>

struct relation_loss;

struct relation_loss *relation_loss_new(void);
void relation_loss_free(struct relation_loss *loss);

/* The loss of vectors [at least 2 rows, width] (nn memory), queries and then documents, before loss_infonce_begin normalises them;
 * targets [rows, 2 width] in host memory.  Keeps the gradient x weight for relation_loss_add. */
double relation_loss_measure(struct relation_loss *loss, const float *vectors,
    const float *targets, size_t rows, size_t width, double weight);

/* Adds the gradient to that of the vectors (nn memory). */
void relation_loss_add(struct relation_loss *loss, float *gradient);

#endif
