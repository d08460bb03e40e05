/*
 * flow_command - 'geom flow': fits and applies a flow.
 *
 * Its file is a stream with a row per step, and the parts of a step as columns:
 *	shift, log_scale	f32 [width]		ActNorm: x e^log_scale + shift
 *	upper, lower		f32 [width,width]	the linear map: P lower upper x
 *	permutation		i32 [width]		(P x)[permutation[i]] = x[i]
 *	hidden1, hidden2, coupling and each with .bias	f32: the layers of the MLP, [out,in]
 * The property "model" is that of the embeddings.
 */
#ifndef PAPERS_REZE_FLOW_COMMAND_H
#define PAPERS_REZE_FLOW_COMMAND_H

#include <stdbool.h>

#include "geometry/embeddings.h"
#include "papers/reze/flow_train.h"
#include "geometry/transform.h"

/* Fits a flow to all embeddings of the streams, in memory, and writes it to `output`.  Ignores shape->width. */
void flow_fit(const char *const *paths, int count,
    const struct embeddings_options *columns, const struct flow_shape *shape,
    const struct flow_training *training, const char *output);

/* Applies the flow in `file`, or its inverse, to the stream at `path`. */
void flow_apply(const char *file, const char *path, bool inverse,
    const struct transform_options *options);

#endif
