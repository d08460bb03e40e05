/*
 * nn_bench_balance - for nn_bench alone: how evenly encoding and training divide their work between threads.
 *
 * The kernels run with N threads, on any number of cores, and count instead of compute (nn/cpu/count.h).  A region takes as long as its
 * busiest thread.  The ratio is the sum of the busiest threads' work over the sum of the mean work.  Where threads take items one after
 * another, each item goes to the thread with the least work, as it does when each thread has a core.
 */
#ifndef TESTS_SUPPORT_NN_BENCH_BALANCE_H
#define TESTS_SUPPORT_NN_BENCH_BALANCE_H

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "model/model.h"
#include "model/save.h"
#include "nn/cpu/count.h"
#include "nn/nn.h"

/* ELEMENT: an element of a loop over memory takes as long as so many multiply-adds. */
enum { ELEMENT = 16, ITEMS = 1 << 14, LAYERS = 1, VOCABULARY = 50 };

static struct {
	bool on, open, by_item;
	size_t threads, team, most; /* requested; of the region; the most of any region */
	int32_t tokens;		    /* of a batch, at most */
	size_t forks;
	double greatest, total;
	double work[ITEMS]; /* of the region's threads or items */
} counts;

static _Thread_local size_t job;

/* Time of the region's items, each taken by the thread with the least work. */
static double
greedy(void)
{
	double *loads = mem_zero(counts.team, sizeof *loads), greatest = 0;

	for (size_t i = 0; i < ITEMS; i++) {
		size_t least = 0;
		for (size_t t = 0; counts.work[i] > 0 && t < counts.team; t++)
			if (loads[t] < loads[least])
				least = t;
		loads[least] += counts.work[i];
		greatest = fmax(greatest, loads[least]);
	}
	free(loads);
	return greatest;
}

static void
close_region(void)
{
	double greatest = 0;

	if (!counts.open)
		return;
	for (size_t i = 0; i < ITEMS; i++) {
		counts.total += counts.work[i];
		greatest = fmax(greatest, counts.work[i]);
	}
	counts.greatest += counts.by_item ? greedy() : greatest;
	counts.open = false;
}

/* Counts a region; returns its threads. */
static size_t
team_of(bool shared)
{
	size_t team = shared ? (size_t)omp_get_max_threads() : 1;

	counts.forks += shared;
	counts.most = team > counts.most ? team : counts.most;
	return team;
}

void
nn_count_region(bool shared, bool by_item)
{
	if (!counts.on || omp_in_parallel())
		return;
	close_region();
	memset(counts.work, 0, sizeof counts.work);
	counts.open = true;
	counts.by_item = by_item;
	counts.team = team_of(shared);
}

bool
nn_count_work(size_t i, double multiply_adds)
{
	if (counts.on)
		counts.work[omp_get_level() > 1 ? job : i] += multiply_adds;
	return counts.on;
}

void
nn_count_job(size_t i)
{
	job = i;
}

void
nn_count_loop(size_t items, size_t each, bool shared)
{
	double one = (double)each * ELEMENT;

	if (!counts.on)
		return;
	if (omp_in_parallel()) {
		counts.work[job] += (double)items * one;
		return;
	}
	close_region();
	size_t team = team_of(shared);
	counts.total += (double)items * one;
	counts.greatest += (double)((items + team - 1) / team) * one;
}

/* Batches. ------------------------------------------------------------------------- */

struct texts {
	const char *name;
	size_t count,
	    length;	 /* length 0: lengths from 24 to 512 tokens, 67 in the mean */
	bool shown_only; /* too few texts for an even share */
};

static struct batch
batch_of(const struct texts *texts)
{
	struct batch batch = { .sequences = (int64_t)texts->count, .expert = -1 };

	batch.starts = mem_zero(texts->count + 1, sizeof *batch.starts);
	for (unsigned i = 0; i < texts->count; i++) {
		double chance = ((i + 1) * 2654435761u >> 8) / 0x1p24;
		double mixed = 24 - 43 * log(1 - chance);
		batch.starts[i + 1] =
		    batch.starts[i] + (texts->length	? (int32_t)texts->length
					  : mixed > 512 ? 512
							: (int32_t)mixed);
	}
	batch.tokens = batch.starts[texts->count];
	int32_t *ids = mem_new((size_t)batch.tokens, sizeof *ids);
	for (int64_t t = 0; t < batch.tokens; t++)
		ids[t] = (int32_t)(t % VOCABULARY);
	batch.ids = ids;
	return batch;
}

static void
encode(struct model *model, const struct batch *batch)
{
	size_t bytes =
	    (size_t)batch->sequences * (size_t)model_width(model) * sizeof(float);
	float *emb = nn_alloc(bytes);

	counts.on = true;
	model_embed(model, batch, emb);
	counts.on = false;
	nn_free(emb, bytes);
}

static void
train(struct model *model, const struct batch *batch)
{
	size_t n = (size_t)batch->sequences * (size_t)model_width(model);
	float *demb = nn_alloc(n * sizeof *demb);

	nn_zero(demb, n);
	counts.on = true;
	model_forward(model, batch);
	model_backward(model, batch, demb, NULL);
	counts.on = false;
	nn_free(demb, n * sizeof *demb);
}

static void
print_row(const char *shape, const struct texts *texts, const char *what,
    void (*run)(struct model *, const struct batch *), struct model *model)
{
	struct batch batch = batch_of(texts);

	counts.forks = counts.most = 0;
	counts.greatest = counts.total = 0;
	if (batch.tokens <= counts.tokens) {
		run(model, &batch);
		close_region();
		printf("%-10s %-10s %-11s %6.2f %5zu %7zu%s\n", shape, texts->name, what,
		    counts.greatest * (double)counts.threads / counts.total, counts.forks,
		    counts.most, texts->shown_only ? " few" : "");
	}
	free((void *)batch.ids);
	free(batch.starts);
}

/* Shapes. -------------------------------------------------------------------------- */

static const struct {
	const char *name, *config;
} shapes[] = {
	{ "MiniLM",
	    "\"model_type\": \"bert\", \"hidden_size\": 384, \"num_attention_heads\": 12, \"intermediate_size\": 1536, \"type_vocab_size\": 2, \"hidden_act\": \"gelu\", \"layer_norm_eps\": 1e-12" },
	{ "BERT-base",
	    "\"model_type\": \"bert\", \"hidden_size\": 768, \"num_attention_heads\": 12, \"intermediate_size\": 3072, \"type_vocab_size\": 2, \"hidden_act\": \"gelu\", \"layer_norm_eps\": 1e-12" },
	{ "Qwen3-0.6B",
	    "\"model_type\": \"qwen3\", \"hidden_size\": 1024, \"num_attention_heads\": 16, \"num_key_value_heads\": 8, \"head_dim\": 128, \"intermediate_size\": 3072, \"hidden_act\": \"silu\", \"rms_norm_eps\": 1e-6, \"rope_theta\": 1000000, \"tie_word_embeddings\": true" },
};

static const struct texts lists[] = { { "64 x 8", 64, 8, false },
	{ "64 x 32", 64, 32, false }, { "64 x 128", 64, 128, false },
	{ "64 mixed", 64, 0, false }, { "256 mixed", 256, 0, false },
	{ "1 x 12", 1, 12, true }, { "8 x 512", 8, 512, false } };

static void
print_rows(const char *shape, const char *what,
    void (*run)(struct model *, const struct batch *), struct model *model)
{
	/* the first run allocates what later runs keep */
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		print_row(shape, &lists[i], what, run, model);
	model_close(model);
}

static void
print_balance(size_t threads, int tokens)
{
	char dir[] = "/tmp/nn_bench.XXXXXX";

	if (!mkdtemp(dir))
		die("%s: cannot be made", dir);
	counts.threads = threads;
	counts.tokens = tokens;
	printf("shape      texts      what         ratio forks threads (%d layer)\n",
	    LAYERS);
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		const char *name = shapes[i].name;
		char *text = mem_format(
		    "{%s, \"num_hidden_layers\": %d, \"vocab_size\": %d, \"max_position_embeddings\": 512}",
		    shapes[i].config, LAYERS, VOCABULARY);
		folder_write(dir, "config.json", text, strlen(text));
		free(text);
		struct model *model = model_open(dir, MODEL_INIT, 1);
		model_save(model, dir, DTYPE_F32, NULL);
		print_rows(name, "train f32", train, model);
		model = model_open(dir, MODEL_TRAIN, 0);
		model_round(model);
		print_rows(name, "train bf16", train, model);
		print_rows(name, "encode f32", encode, model_open(dir, MODEL_ENCODE, 0));
		print_rows(name, "encode bf16", encode,
		    model_open_packed(dir, DTYPE_BF16, false));
		print_rows(
		    name, "encode int8", encode, model_open_packed(dir, DTYPE_I8, false));
		folder_remove(dir);
	}
}

#endif
