/*
 * flow_train - fits a flow by maximum likelihood: Adam on the mean of -log p(x) / width of batches.
 */
#ifndef PAPERS_REZE_FLOW_TRAIN_H
#define PAPERS_REZE_FLOW_TRAIN_H

#include "papers/reze/flow.h"

struct flow_training {
	int64_t epochs, batch;
	double rate;
	uint64_t seed; /* of the initial parameters and of the order */
};

/* Fits a flow to vectors x [rows,width], at least two, in host memory; the caller frees it.  `name` is their stream, for messages.
 * Warns of constant components and of fewer vectors than components; dies if the likelihood becomes NaN. */
struct flow *flow_train(const struct flow_shape *shape, const float *x, size_t rows,
    const struct flow_training *training, const char *name);

#endif
