/*
 * encode_queue - batches of texts under way through a model, each embedding with its destination.
 *
 * With a device two batches are under way, so that it has the next when one ends; else encode_queue_add returns when the
 * batch is done.
 */
#ifndef ENCODE_QUEUE_H
#define ENCODE_QUEUE_H

#include "model/model.h"

struct encode_queue_options {
	int width;	/* leading values of an embedding to keep */
	bool normalize; /* fewer values than the model's get length 1 */
	bool ahead;	/* batches may be under way */
};

struct encode_queue;

struct encode_queue *encode_queue_new(
    struct model *model, const struct encode_queue_options *options);
void encode_queue_free(struct encode_queue *queue);

/* Computes a batch; the embedding of its sequence i goes to row places[order[i]] of *made, which is read when the batch is
 * done.  `record`, its number, does not fall from call to call. */
void encode_queue_add(struct encode_queue *queue, int64_t record,
    const struct batch *batch, float *const *made, const int64_t *places,
    const int64_t *order);

/* Waits for the batches of records up to that number. */
void encode_queue_commit(struct encode_queue *queue, int64_t record);

/* The number of batches added. */
int64_t encode_queue_batches(const struct encode_queue *queue);

#endif
