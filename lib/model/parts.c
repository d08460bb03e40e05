#include "model/parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/model_struct.h"
#include "model/pass.h"

enum {
	SMALL = 128, /* tokens of the smallest part, unless threads would be idle */
	LEAST = 16,  /* then */
	READ =
	    12, /* tokens whose products take as long as reading the weights: all-MiniLM-L6-v2 in parts of 32 and 512 tokens */
	LAYER_FORKS = 10,
	STEM_FORKS = 5, /* parallel regions */
	/* Multiply-adds of one thread in the time in which a region of N threads begins and ends, over N: some 10 us of 64 threads. */
	FORK = 1 << 13
};

/* Kernels whose threads share one part take longer by this factor, because activations move between cores: 1.3 and more, measured
 * on two busy cores.  A smaller factor keeps parts of uneven work from winning. */
static const double WHOLE = 1.15;

/* Multiply-adds of all layers: of a token, and of a query and a key. */
struct effort {
	double token, pair;
};

static struct effort
work_of(const struct spec *spec)
{
	double C = spec->width, mlp = spec->gated ? 3 : 2;
	struct effort work = { 16 * C, 0 }; /* what is not a product */

	for (int layer = 0; layer < spec->layers; layer++) {
		const struct spec_layer *at = &spec->layer[layer];
		double D = spec_head_size(spec, layer), Q = spec->heads * D;
		double KV = spec_kv_heads(spec, layer) * D, inner = at->inner;
		if (at->mixture)
			inner += (double)spec->mixture.top * spec->mixture.inner;
		if (at->conv) {
			work.token += C * (4 * C + mlp * inner);
			continue;
		}
		work.token +=
		    C * (2 * Q + 2 * KV + mlp * inner + 3 * spec->layer_embedding);
		work.pair += (spec->causal ? 1 : 2) * Q;
	}
	return work;
}

static double
text_work(const struct effort *work, const struct batch *batch, int64_t i)
{
	double length = batch->starts[i + 1] - batch->starts[i];

	return length * (work->token + length * work->pair);
}

/* Cuts. ---------------------------------------------------------------------------- */

/* The end of the part that begins with text `first`: at most `size` tokens, at least one text. */
static int64_t
part_end(const struct batch *batch, int64_t first, int64_t size)
{
	int64_t end = first + 1;

	while (end < batch->sequences &&
	       batch->starts[end + 1] - batch->starts[first] <= size)
		end++;
	return end;
}

/* Tokens of the part that begins with text `first`: fewer towards the end, so that all threads are done at the same time. */
static int64_t
falling_size(int64_t most, const struct batch *batch, int64_t first)
{
	int64_t left = batch->tokens - batch->starts[first];
	int64_t size = left / (4 * (int64_t)nn_workers());

	return size > most ? most : size < SMALL ? SMALL : size;
}

/* Parts of `size` tokens; 0: of falling size, `most` at first. */
static void
cut(struct parts *parts, const struct batch *batch, int64_t size, int64_t most)
{
	parts->count = 0;
	for (int64_t first = 0; first < batch->sequences;
	     first = parts->ends[parts->count++])
		parts->ends[parts->count] = part_end(
		    batch, first, size ? size : falling_size(most, batch, first));
}

/* A part, to be sorted. */
struct load {
	double work;
	size_t part;
};

static int
compare_loads(const void *a, const void *b)
{
	const struct load *first = a, *second = b;

	if (first->work != second->work)
		return first->work < second->work ? 1 : -1;
	return first->part < second->part ? -1 : first->part > second->part;
}

/* Sorts the parts; returns when the last thread is done, if each takes the next part when it is done with one. */
static double
schedule(struct parts *parts, const struct batch *batch, const struct effort *work)
{
	size_t threads = nn_workers();
	struct load *loads = mem_new(parts->count, sizeof *loads);
	double *busy = mem_zero(threads, sizeof *busy), last = 0;
	int64_t text = 0;

	for (size_t i = 0; i < parts->count; i++) {
		loads[i] = (struct load){ READ * work->token, i };
		for (; text < parts->ends[i]; text++)
			loads[i].work += text_work(work, batch, text);
	}
	qsort(loads, parts->count, sizeof *loads, compare_loads);
	for (size_t i = 0; i < parts->count; i++) {
		size_t free_one = 0;
		for (size_t t = 1; t < threads; t++)
			if (busy[t] < busy[free_one])
				free_one = t;
		busy[free_one] += loads[i].work;
		last = fmax(last, busy[free_one]);
		parts->order[i] = loads[i].part;
	}
	free(loads);
	free(busy);
	return last;
}

/* The best of several cuts; returns its time.  A falling size is best where threads do not run alone: another cut needs to win a
 * tenth. */
static double
cut_best(struct parts *parts, const struct model *model, const struct batch *batch,
    const struct effort *work)
{
	int64_t most = (int64_t)pass_worker_tokens(model), best_size = 0;

	cut(parts, batch, 0, most);
	double best = schedule(parts, batch, work) * 0.9;
	for (int64_t size = most; size >= LEAST; size /= 2) {
		cut(parts, batch, size, most);
		double time = schedule(parts, batch, work);
		if (time < best) {
			best = time;
			best_size = size;
		}
	}
	cut(parts, batch, best_size, most);
	return schedule(parts, batch, work);
}

/* One part. ------------------------------------------------------------------------ */

static void
keep_whole(struct parts *parts, const struct batch *batch)
{
	parts->count = batch->sequences > 0;
	parts->ends[0] = batch->sequences;
	parts->order[0] = 0;
}

/* Times the number of threads: the time of all regions. */
static double
forks_of(const struct spec *spec)
{
	return (double)(LAYER_FORKS * spec->layers + STEM_FORKS) * FORK;
}

/* With N threads the kernels take total / N, and their regions N forks_of.  N is a power of two, because libgomp ends threads and
 * starts others when the number changes. */
static size_t
threads_for(double total, const struct spec *spec)
{
	double best = sqrt(2 * total / forks_of(spec));
	size_t threads = 1;

	while (threads < nn_workers() && 2 * (double)threads <= best)
		threads *= 2;
	return threads < nn_workers() ? threads : nn_workers();
}

/* The time of one part.  Each thread reads the weights once for every pass_worker_tokens of its tokens. */
static double
whole_time(size_t threads, const struct model *model, const struct batch *batch,
    const struct effort *work, double total)
{
	double share = (double)batch->tokens / (double)threads;
	double reads = ceil(share / (double)pass_worker_tokens(model));

	return WHOLE * total / (double)threads + reads * READ * work->token +
	       forks_of(&model->spec) * (double)threads;
}

struct parts
parts_cut(const struct model *model, const struct batch *batch)
{
	struct effort work = work_of(&model->spec);
	double total = 0;
	struct parts parts = { .ends = mem_new(
				   (size_t)batch->sequences + 1, sizeof *parts.ends),
		.order = mem_new((size_t)batch->sequences + 1, sizeof *parts.order),
		.threads = nn_workers() };

	keep_whole(&parts, batch);
	/* a callback is to see the whole batch at once */
	if (model->see || model->choose || model->balance || model->linear_watch)
		return parts;
	if (nn_device()) {
		int64_t size = (int64_t)pass_worker_tokens(model);
		cut(&parts, batch, size, size);
		for (size_t i = 0; i < parts.count; i++)
			parts.order[i] = i;
		return parts;
	}
	for (int64_t i = 0; i < batch->sequences; i++)
		total += text_work(&work, batch, i);
	parts.threads = threads_for(total, &model->spec);
	if (cut_best(&parts, model, batch, &work) >
	    whole_time(parts.threads, model, batch, &work, total))
		keep_whole(&parts, batch);
	return parts;
}

void
parts_free(struct parts *parts)
{
	free(parts->ends);
	free(parts->order);
	*parts = (struct parts){ 0 };
}
