#include "papers/reze/flow_train.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/rng.h"
#include "nn/nn.h"

/* What training changes, beside the flow: memory of nn. */
struct learning {
	struct flow *flow;
	struct flow_pass *pass;
	float *gradient, *first, *second, *batch;
	struct nn_adamw adam;
	struct nn_slice all, *given; /* here, and memory of nn */
};

static void
learn(struct learning *learning, size_t rows, double *loss)
{
	struct flow *flow = learning->flow;

	*loss = flow_gradient(learning->pass, learning->gradient, learning->batch, rows);
	learning->all.step++;
	nn_upload(learning->given, &learning->all, sizeof learning->all);
	nn_adamw(flow->values, learning->first, learning->second, learning->gradient,
	    &learning->adam, learning->given, 1, learning->all.count);
	flow_refresh(flow);
}

/* Once through all vectors in an order of its own; returns the mean loss. */
static double
epoch(struct learning *learning, const float *x, size_t rows,
    const struct flow_training *training, uint64_t key, struct progress *progress)
{
	size_t width = (size_t)learning->flow->shape.width,
	       most = (size_t)training->batch;
	double sum = 0, loss;

	for (size_t at = 0, count; at < rows; at += count) {
		count = rows - at < most ? rows - at : most;
		for (size_t i = 0; i < count; i++)
			memcpy(learning->batch + i * width,
			    x + rng_permute(key, at + i, rows) * width,
			    width * sizeof *x);
		learn(learning, count, &loss);
		if (!isfinite(loss))
			die("step %lld: the likelihood is no number any more; give a smaller --lr",
			    (long long)learning->all.step);
		sum += loss * (double)count;
		progress_add(progress, (int64_t)count);
		progress_note(progress, "%.4f nats", loss);
	}
	return sum / (double)rows;
}

static void
check(const struct flow_shape *shape, size_t rows, const char *name)
{
	if (shape->width < 2)
		die("%s: a vector of one value cannot be halved, which a flow needs",
		    name);
	if (rows < 2)
		die("%s: %zu vector%s; a flow is fitted to two at least, better to many more than they have values",
		    name, rows, rows == 1 ? "" : "s");
	if (rows < (size_t)shape->width)
		warn(
		    "%s: %zu vectors of %d values lie in a part of their space alone: what the flow makes of others is chance there",
		    name, rows, shape->width);
}

static struct learning
begin(struct flow *flow, size_t batch, double rate)
{
	size_t bytes = flow_size(flow) * sizeof(float);

	return (struct learning){ .flow = flow,
		.pass = flow_pass_new(flow, batch),
		.gradient = nn_alloc(bytes),
		.first = nn_alloc(bytes),
		.second = nn_alloc(bytes),
		.batch = nn_alloc(batch * (size_t)flow->shape.width * sizeof(float)),
		.adam = { .lr = rate,
		    .beta1 = 0.9,
		    .beta2 = 0.999,
		    .eps = 1e-8,
		    .scale = 1 },
		.all = { .count = flow_size(flow) },
		.given = nn_alloc(sizeof(struct nn_slice)) };
}

static void
end(struct learning *learning, size_t batch)
{
	size_t bytes = flow_size(learning->flow) * sizeof(float);

	nn_free(learning->gradient, bytes);
	nn_free(learning->first, bytes);
	nn_free(learning->second, bytes);
	nn_free(learning->given, sizeof *learning->given);
	nn_free(
	    learning->batch, batch * (size_t)learning->flow->shape.width * sizeof(float));
	flow_pass_free(learning->pass);
}

struct flow *
flow_train(const struct flow_shape *shape, const float *x, size_t rows,
    const struct flow_training *training, const char *name)
{
	struct rng rng = rng_seed(training->seed, 1);

	check(shape, rows, name);
	struct flow *flow = flow_new(shape);
	int constant = flow_start(flow, x, rows, training->seed);
	if (constant)
		warn("%s: %d of the %d values do not vary, or next to nothing", name,
		    constant, shape->width);
	size_t batch = rows < (size_t)training->batch ? rows : (size_t)training->batch;
	struct learning learning = begin(flow, batch, training->rate);
	struct progress *progress =
	    progress_new("vectors", (int64_t)rows * training->epochs);
	for (int64_t i = 0; i < training->epochs; i++) {
		double loss =
		    epoch(&learning, x, rows, training, rng_next(&rng), progress);
		inform("epoch %lld: -log p / width = %.6f nats", (long long)i + 1, loss);
	}
	progress_free(progress);
	end(&learning, batch);
	return flow;
}
