#include "papers/reze/flow_command.h"

#include <stdlib.h>

#include "papers/reze/flow_file.h"

void
flow_fit(const char *const *paths, int count, const struct embeddings_options *columns,
    const struct flow_shape *shape, const struct flow_training *training,
    const char *output)
{
	struct embeddings *embeddings = embeddings_open(paths, count, columns);
	struct flow_shape own = *shape;
	size_t rows;

	own.width = embeddings_width(embeddings);
	float *x = embeddings_all(embeddings, &rows);
	struct flow *flow =
	    flow_train(&own, x, rows, training, embeddings_name(embeddings));
	flow_write(flow, output, embeddings_model(embeddings), training->seed);
	free(x);
	flow_free(flow);
	embeddings_close(embeddings);
}

void
flow_apply(const char *flow, const char *path, bool inverse,
    const struct transform_options *options)
{
	struct flow_file *file = flow_open(flow);

	transform_stream(inverse ? &file->inverse : &file->forward, path, options);
	flow_close(file);
}
