#include "papers/reze/flow_command.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "geometry/embeddings.h"
#include "geometry/transform.h"
#include "nn/nn.h"
#include "papers/reze/flow.h"
#include "papers/reze/flow_train.h"
#include "stream/stream.h"

enum { MOST_STEPS = 1000, MOST_WIDTH = 1 << 15 };

/* The columns of parts.  log |U_ii| is not written, since U has it. */
static const char *const part_names[FLOW_PARTS] = { [FLOW_SHIFT] = "shift",
	[FLOW_LOG_SCALE] = "log_scale",
	[FLOW_UPPER] = "upper",
	[FLOW_LOWER] = "lower",
	[FLOW_HIDDEN1] = "hidden1",
	[FLOW_HIDDEN1_BIAS] = "hidden1.bias",
	[FLOW_HIDDEN2] = "hidden2",
	[FLOW_HIDDEN2_BIAS] = "hidden2.bias",
	[FLOW_COUPLING] = "coupling",
	[FLOW_COUPLING_BIAS] = "coupling.bias" };

static size_t
part_size(const struct flow *flow, int part)
{
	return flow->offsets[part + 1] - flow->offsets[part];
}

/* Rows of a matrix; 0 for a vector. */
static int
part_rows(const struct flow_shape *shape, int part)
{
	switch (part) {
	case FLOW_UPPER:
	case FLOW_LOWER: return shape->width;
	case FLOW_HIDDEN1:
	case FLOW_HIDDEN2: return shape->hidden;
	case FLOW_COUPLING: return 2 * (shape->width - shape->width / 2);
	default: return 0;
	}
}

static struct column
part_column(const struct flow *flow, int part)
{
	int64_t size = (int64_t)part_size(flow, part),
		rows = part_rows(&flow->shape, part);

	return (struct column){ .name = part_names[part],
		.dtype = DTYPE_F32,
		.rank = rows ? 2 : 1,
		.shape = { rows ? rows : size, rows ? size / rows : 0 } };
}

static void
write_flow(const struct flow *flow, const char *path, const char *model, const char *kind,
    uint64_t seed)
{
	struct writer *writer = stream_create(path, NULL);
	int slots[FLOW_PARTS], steps = flow->shape.steps;
	float *parts[FLOW_PARTS] = { NULL };

	stream_seed(writer, seed);
	stream_property(writer, "model", *model ? model : NULL);
	transform_tell_kind(writer, kind);
	for (int part = 0; part < FLOW_PARTS; part++) {
		struct column column = part_column(flow, part);
		if (column.name)
			slots[part] = stream_add(writer, &column);
	}
	int permutation = stream_add(writer, &(struct column){ .name = "permutation",
						 .dtype = DTYPE_I32,
						 .rank = 1,
						 .shape = { flow->shape.width } });
	struct record *record = stream_make(writer, NULL);
	record->rows = steps;
	for (int part = 0; part < FLOW_PARTS; part++) {
		size_t size = part_size(flow, part);
		if (!part_names[part])
			continue;
		parts[part] = mem_new((size_t)steps * size, sizeof(float));
		for (int step = 0; step < steps; step++)
			nn_download(parts[part] + (size_t)step * size,
			    flow_part(flow, step, (enum flow_part)part),
			    size * sizeof(float));
		record->columns[slots[part]].data = parts[part];
	}
	record->columns[permutation].data = flow->permutations;
	stream_put(writer, record);
	stream_finish(writer);
	for (int part = 0; part < FLOW_PARTS; part++)
		free(parts[part]);
}

/* Reading. ------------------------------------------------------------------------- */

/* The column of that name and shape; dies if there is none. */
static int
need_column(const struct reader *reader, const struct column *wanted)
{
	int index = stream_find(reader, wanted->name);
	const struct column *column = index < 0 ? NULL : stream_column(reader, index);

	if (!column || column->dtype != wanted->dtype || column->depth ||
	    column->rank != wanted->rank || column->shape[0] != wanted->shape[0] ||
	    (column->rank > 1 && column->shape[1] != wanted->shape[1]))
		die("%s: is not a flow: 'geom flow fit' writes one with a column '%s' of that shape",
		    stream_name(reader), wanted->name);
	return index;
}

/* Reads the flow's shape from the shapes of two columns. */
static struct flow_shape
read_shape(const struct reader *reader, int64_t steps)
{
	int upper = stream_find(reader, "upper"), hidden = stream_find(reader, "hidden2");

	if (upper < 0 || hidden < 0)
		die("%s: is not a flow: there is no column '%s', which 'geom flow fit' writes",
		    stream_name(reader), upper < 0 ? "upper" : "hidden2");
	int64_t width = stream_column(reader, upper)->shape[0];
	int64_t inner = stream_column(reader, hidden)->shape[0];
	if (width < 2 || width > MOST_WIDTH || inner < 1 || inner > MOST_WIDTH ||
	    steps < 1 || steps > MOST_STEPS)
		die("%s: is not a flow: %lld steps, width %lld, %lld hidden values",
		    stream_name(reader), (long long)steps, (long long)width,
		    (long long)inner);
	return (struct flow_shape){ (int)width, (int)steps, (int)inner };
}

static void
read_permutations(
    struct flow *flow, const struct reader *reader, const struct record *record)
{
	int width = flow->shape.width;
	int index = need_column(reader, &(struct column){ .name = "permutation",
					    .dtype = DTYPE_I32,
					    .rank = 1,
					    .shape = { width } });
	const int32_t *permutations = record->columns[index].data;
	bool *seen = mem_new((size_t)width, sizeof *seen);

	for (int step = 0; step < flow->shape.steps; step++) {
		memset(seen, 0, (size_t)width * sizeof *seen);
		for (int i = 0; i < width; i++) {
			int32_t to = permutations[step * width + i];
			if (to < 0 || to >= width || seen[to])
				die("%s: row %d: its 'permutation' is none",
				    stream_name(reader), step + 1);
			seen[to] = true;
			flow->permutations[step * width + i] = to;
		}
	}
	free(seen);
}

/* Dies unless every step can be inverted, and its matrices are triangular. */
static void
check_steps(const struct flow *flow, const char *name)
{
	int width = flow->shape.width;

	for (int step = 0; step < flow->shape.steps; step++) {
		const float *upper = flow_part(flow, step, FLOW_UPPER);
		const float *lower = flow_part(flow, step, FLOW_LOWER);
		float *logs = flow_part(flow, step, FLOW_LOG_DIAGONAL);
		for (int i = 0; i < width; i++) {
			size_t row = (size_t)i * (size_t)width;
			bool triangular = upper[row + i] != 0 && lower[row + i] == 1;
			for (int j = 0; j < width; j++)
				triangular &=
				    (j < i ? upper : lower)[row + j] == 0 || j == i;
			if (!triangular)
				die("%s: row %d: its 'upper' or 'lower' is not triangular and invertible",
				    name, step + 1);
			logs[i] = logf(fabsf(upper[row + i]));
		}
	}
	if (!nn_finite(flow->values, flow_size(flow)))
		die("%s: is not a flow: not all of its parameters are finite", name);
}

static struct flow *
read_flow(struct reader *reader)
{
	struct record record;

	if (!stream_next(reader, &record))
		die("%s: is not a flow: there is no record in it", stream_name(reader));
	struct flow_shape shape = read_shape(reader, record.rows);
	struct flow *flow = flow_new(&shape);
	for (int part = 0; part < FLOW_PARTS; part++) {
		struct column column = part_column(flow, part);
		size_t size = part_size(flow, part);
		if (!column.name)
			continue;
		const float *data = record.columns[need_column(reader, &column)].data;
		for (int step = 0; step < shape.steps; step++)
			nn_upload(flow_part(flow, step, (enum flow_part)part),
			    data + (size_t)step * size, size * sizeof(float));
	}
	read_permutations(flow, reader, &record);
	check_steps(flow, stream_name(reader));
	if (stream_next(reader, &record))
		die("%s: is not a flow: there are several records in it",
		    stream_name(reader));
	return flow;
}

static void
apply_forward(const void *with, float *to, const float *from, size_t rows)
{
	flow_forward(with, to, NULL, from, rows);
}

static void
apply_inverse(const void *with, float *to, const float *from, size_t rows)
{
	flow_inverse(with, to, from, rows);
}

/* Commands. ------------------------------------------------------------------------ */

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
	write_flow(flow, output, embeddings_model(embeddings),
	    embeddings_kind(embeddings), training->seed);
	free(x);
	flow_free(flow);
	embeddings_close(embeddings);
}

void
flow_apply(const char *file, const char *path, bool inverse,
    const struct transform_options *options)
{
	struct reader *reader = stream_open(file);
	struct flow *flow = read_flow(reader);
	const char *model = tree_string(stream_properties(reader), "model", "");
	uint64_t hash = rng_hash(0, flow->values, flow_size(flow) * sizeof(float));
	char *made = transform_model(hash, model);

	transform_stream(&(struct transform){ .name = stream_name(reader),
			     .model = inverse ? made : model,
			     .made = inverse ? model : made,
			     .kind = transform_kind(reader),
			     .in = flow->shape.width,
			     .out = flow->shape.width,
			     .with = flow,
			     .apply = inverse ? apply_inverse : apply_forward },
	    path, options);
	free(made);
	flow_free(flow);
	stream_close(reader);
}
