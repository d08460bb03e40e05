/*
 * flow_train - fit a flow by maximum likelihood: Adam on the mean of -log p(x) / width of batches.
 */
#ifndef PAPERS_REZE_FLOW_TRAIN_H
#define PAPERS_REZE_FLOW_TRAIN_H

#include "papers/reze/flow.h"

struct flow_training {
	int64_t epochs, batch;
	double rate;
	uint64_t seed; /* of the first parameters and of the order */
};

/* A flow fitted to vectors of which there are two at least, on the host.  `name`, for messages, is where they are
 * from.  Warns of values that do not vary, and where the vectors are too few to fill their space; dies where the
 * likelihood is no number any more. */
struct flow *flow_train(const struct flow_shape *shape, const float *x, size_t rows,
    const struct flow_training *training, const char *name);

#endif
