/*
 * flow_command - what 'geom flow' does with streams.
 */
#ifndef PAPERS_REZE_FLOW_COMMAND_H
#define PAPERS_REZE_FLOW_COMMAND_H

#include <stdbool.h>

#include "geometry/embeddings.h"
#include "papers/reze/flow_train.h"
#include "geometry/transform.h"

/* Fit a flow to all embeddings of the streams, which are held, and write it to `output`; the shape's width is
 * theirs. */
void flow_fit(const char *const *paths, int count,
    const struct embeddings_options *columns, const struct flow_shape *shape,
    const struct flow_training *training, const char *output);

/* The stream at `path` through the flow in `flow`, or back. */
void flow_apply(const char *flow, const char *path, bool inverse,
    const struct transform_options *options);

#endif
