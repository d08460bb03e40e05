/*
 * parts - a batch cut for threads: parts that threads take one after another, or one part whose kernels use all threads.
 *
 * Threads that take parts do not wait for each other at every layer, but each part reads all weights, and the last parts may leave
 * threads idle.  So several cuts are compared by the time that they would take, in multiply-adds of one thread.
 */
#ifndef MODEL_PARTS_H
#define MODEL_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "model/batch.h"
#include "model/model.h"

struct parts {
	size_t count;
	int64_t *ends; /* [count], the text after each part */
	size_t *order; /* [count], parts by their work, the most first */
	size_t
	    threads; /* of the kernels of a single part; a small batch would wait longer for more */
};

/* Cuts a batch; parts_free frees the arrays. */
struct parts parts_cut(const struct model *model, const struct batch *batch);
void parts_free(struct parts *parts);

#endif
