#include "papers/reze/flow_train.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/rng.h"
#include "nn/nn.h"

/* The state of training, in nn memory. */
struct flow_optimizer {
	struct flow *flow;
	struct flow_pass *pass;
	float *gradient, *first, *second, *batch;
	struct nn_adamw adam;
	struct nn_slice all, *given; /* all parameters; a copy in nn memory */
};

static void
learn(struct flow_optimizer *optimizer, size_t rows, double *loss)
{
	struct flow *flow = optimizer->flow;

	*loss =
	    flow_gradient(optimizer->pass, optimizer->gradient, optimizer->batch, rows);
	optimizer->all.step++;
	nn_upload(optimizer->given, &optimizer->all, sizeof optimizer->all);
	nn_adamw(flow->values, optimizer->first, optimizer->second, optimizer->gradient,
	    &optimizer->adam, optimizer->given, 1, optimizer->all.count);
	flow_refresh(flow);
}

/* Trains on all vectors once, in random order; returns the mean loss. */
static double
epoch(struct flow_optimizer *optimizer, const float *x, size_t rows,
    const struct flow_training *training, uint64_t key, struct progress *progress)
{
	size_t width = (size_t)optimizer->flow->shape.width,
	       most = (size_t)training->batch;
	double sum = 0, loss;

	for (size_t at = 0, count; at < rows; at += count) {
		count = rows - at < most ? rows - at : most;
		for (size_t i = 0; i < count; i++)
			memcpy(optimizer->batch + i * width,
			    x + rng_permute(key, at + i, rows) * width,
			    width * sizeof *x);
		learn(optimizer, count, &loss);
		if (!isfinite(loss))
			die("step %lld: the likelihood is not a number any more; give a smaller --lr",
			    (long long)optimizer->all.step);
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

static struct flow_optimizer
begin(struct flow *flow, size_t batch, double rate)
{
	size_t bytes = flow_size(flow) * sizeof(float);

	return (struct flow_optimizer){ .flow = flow,
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
end(struct flow_optimizer *optimizer, size_t batch)
{
	size_t bytes = flow_size(optimizer->flow) * sizeof(float);

	nn_free(optimizer->gradient, bytes);
	nn_free(optimizer->first, bytes);
	nn_free(optimizer->second, bytes);
	nn_free(optimizer->given, sizeof *optimizer->given);
	nn_free(optimizer->batch,
	    batch * (size_t)optimizer->flow->shape.width * sizeof(float));
	flow_pass_free(optimizer->pass);
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
	struct flow_optimizer optimizer = begin(flow, batch, training->rate);
	struct progress *progress =
	    progress_new("vectors", (int64_t)rows * training->epochs);
	for (int64_t i = 0; i < training->epochs; i++) {
		double loss =
		    epoch(&optimizer, x, rows, training, rng_next(&rng), progress);
		inform("epoch %lld: -log p / width = %.6f nats", (long long)i + 1, loss);
	}
	progress_free(progress);
	end(&optimizer, batch);
	return flow;
}
