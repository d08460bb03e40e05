/*
 * flow_file - a flow as a stream: a row a step, its parts as columns.
 *
 *	shift, log_scale	f32 [width]		ActNorm: x e^log_scale + shift
 *	upper, lower		f32 [width,width]	the linear map: P lower upper x
 *	permutation		i32 [width]		(P x)[permutation[i]] = x[i]
 *	hidden1, hidden2, coupling and each with .bias	f32: the layers of the MLP, as [out,in]
 * The property "model" is that of the embeddings.
 */
#ifndef PAPERS_REZE_FLOW_FILE_H
#define PAPERS_REZE_FLOW_FILE_H

#include "papers/reze/flow.h"
#include "geometry/transform.h"

void flow_write(
    const struct flow *flow, const char *path, const char *model, uint64_t seed);

struct flow_file {
	struct flow *flow;
	struct transform forward, inverse;
};

/* Dies, naming it, on a stream that is no flow, and on parameters that are not finite or no invertible map. */
struct flow_file *flow_open(const char *path);
void flow_close(struct flow_file *file);

#endif
