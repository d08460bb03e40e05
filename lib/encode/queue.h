/*
 * encode_queue - batches of texts on their way through a model, each embedding to a row that was said before.
 *
 * Where a device computes, two of them are on the way, so that it has another when one ends and the host is somewhere
 * else; elsewhere none is when encode_queue_add returns.
 */
#ifndef ENCODE_QUEUE_H
#define ENCODE_QUEUE_H

#include "model/model.h"

struct encode_queue_options {
	int width;	/* leading values of an embedding to keep */
	bool normalize; /* what is kept of it, where that is not all, gets length 1 */
	bool ahead;	/* there may be batches on the way */
};

struct encode_queue;

struct encode_queue *encode_queue_new(
    struct model *model, const struct encode_queue_options *options);
void encode_queue_free(struct encode_queue *queue);

/* Row places[order[i]] of *made is to be the embedding of sequence i of the batch.  *made is looked at when it is there; the
 * number of its record does not fall. */
void encode_queue_add(struct encode_queue *queue, int64_t record,
    const struct batch *batch, float *const *made, const int64_t *places,
    const int64_t *order);

/* All rows of records up to that number are there. */
void encode_queue_settle(struct encode_queue *queue, int64_t record);

/* How many batches were added. */
int64_t encode_queue_batches(const struct encode_queue *queue);

#endif
