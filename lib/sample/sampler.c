#include "sample/sampler.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/terminal.h"
#include "sample/deferred.h"

/* Random streams under one seed: one a step, one a pool's epoch, one a source's pass. */
enum { STREAM_STEP, STREAM_POOL, STREAM_SOURCE };

struct pool {
	int task, first, last;	   /* its sources: first .. last-1 */
	int64_t total;		   /* examples it gives to an epoch */
	int64_t drawn, done;	   /* in this epoch: taken; put into batches */
	struct deferred *deferred; /* drawn, not yet put; NULL: duplicates are allowed */
};

struct sampler {
	const struct recipe *recipe;
	const int64_t *counts;
	bool in_order;
	int64_t *starts; /* [sources + 1] sums of the sources' examples per epoch */
	struct pool *pools;
	int pool_count;
	struct example *examples; /* [batch] */
	struct draw draw;
	int64_t step, epoch, batches;
	sampler_keys *keys;
	void *context;
	bool told;		  /* warned of small batches */
	uint64_t *seen[SIDES];	  /* hash sets of the batch's keys; 0: free */
	uint64_t **places[SIDES]; /* [batch] each row's entry in them */
	uint64_t seen_mask;
	int64_t seen_rows;
};

static int64_t
start_of(int64_t rank, int64_t ranks, int64_t rows)
{
	int64_t more = rows % ranks;

	return rows / ranks * rank + (rank < more ? rank : more);
}

int64_t
slice_start(const struct rank_slice *slice, int64_t rows)
{
	return start_of(slice->rank, slice->ranks, rows);
}

int64_t
slice_end(const struct rank_slice *slice, int64_t rows)
{
	return start_of(slice->rank + 1, slice->ranks, rows);
}

static uint64_t
key_of(const struct sampler *sampler, uint64_t stream, uint64_t a, uint64_t b)
{
	uint64_t words[] = { stream, a, b };

	return rng_hash(sampler->recipe->seed, words, sizeof words);
}

/* The number of batches of so many examples. */
static int64_t
batches_of(const struct sampler *sampler, int64_t examples)
{
	int64_t size = sampler->recipe->batch;

	return examples / size + (!sampler->recipe->drop_last && examples % size);
}

/* The pool's examples left for batches of this epoch. */
static int64_t
left(const struct sampler *sampler, const struct pool *pool)
{
	int64_t rest = pool->total - pool->done;

	return sampler->recipe->drop_last ? rest - rest % sampler->recipe->batch : rest;
}

static void
add_pool(struct sampler *sampler, int task, int first, int last)
{
	struct pool *pool = sampler->pools + sampler->pool_count++;
	const struct recipe *recipe = sampler->recipe;

	*pool = (struct pool){ .task = task, .first = first, .last = last };
	pool->total = sampler->starts[last] - sampler->starts[first];
	sampler->batches += batches_of(sampler, pool->total);
	if (pool->total < recipe->batch && !sampler->in_order)
		warn("%s %s has %lld examples, fewer than a batch of %lld%s",
		    last - first > 1 ? "task" : "data set",
		    last - first > 1 ? recipe->tasks[task].name
				     : recipe->sources[first].name,
		    (long long)pool->total, (long long)recipe->batch,
		    recipe->drop_last ? ": it is left out" : "");
}

/* Sets `starts` from the examples that each source gives to an epoch. */
static void
add_shares(struct sampler *sampler)
{
	const struct recipe *recipe = sampler->recipe;

	sampler->starts =
	    mem_zero((size_t)recipe->source_count + 1, sizeof *sampler->starts);
	for (int s = 0; s < recipe->source_count; s++) {
		double weight = sampler->in_order ? 1 : recipe->sources[s].weight;
		double share = round(weight * (double)sampler->counts[s]);
		if (share > 1e15)
			die("data set %s: its weight makes an epoch of %g examples",
			    recipe->sources[s].name, share);
		sampler->starts[s + 1] =
		    sampler->starts[s] + (share < 1 ? 1 : (int64_t)share);
	}
}

static void
add_pools(struct sampler *sampler)
{
	const struct recipe *recipe = sampler->recipe;

	sampler->pools = mem_new((size_t)recipe->source_count, sizeof *sampler->pools);
	if (recipe->is_static && !sampler->in_order) {
		add_pool(sampler, 0, 0, recipe->source_count);
		return;
	}
	for (int t = 0; t < recipe->task_count; t++) {
		const struct recipe_task *task = recipe->tasks + t;
		if (task->batching == BATCHING_HETEROGENEOUS && !sampler->in_order)
			add_pool(sampler, t, task->first, task->last);
		else
			for (int s = task->first; s < task->last; s++)
				add_pool(sampler, t, s, s + 1);
	}
}

struct sampler *
sampler_new(const struct recipe *recipe, const int64_t *counts, bool in_order)
{
	struct sampler *sampler = mem_zero(1, sizeof *sampler);
	int64_t largest = 0;

	sampler->recipe = recipe;
	sampler->counts = counts;
	sampler->in_order = in_order;
	add_shares(sampler);
	add_pools(sampler);
	if (!sampler->batches)
		die("%s: no data set fills a batch of %lld; make 'batch' smaller, or keep the last ones",
		    recipe->tree->file, (long long)recipe->batch);
	for (int p = 0; p < sampler->pool_count; p++)
		if (sampler->pools[p].total > largest)
			largest = sampler->pools[p].total;
	if (largest > recipe->batch)
		largest = recipe->batch;
	sampler->examples = mem_new((size_t)largest, sizeof *sampler->examples);
	sampler->seen_mask = 8;
	while (sampler->seen_mask < (uint64_t)largest * 2)
		sampler->seen_mask *= 2;
	sampler->seen_mask--;
	return sampler;
}

void
sampler_no_duplicates(struct sampler *sampler, sampler_keys *keys, void *context)
{
	sampler->keys = keys;
	sampler->context = context;
	for (int side = 0; side < SIDES; side++) {
		sampler->seen[side] = mem_zero(sampler->seen_mask + 1, sizeof(uint64_t));
		sampler->places[side] =
		    mem_new(sampler->seen_mask + 1, sizeof *sampler->places[side]);
	}
	for (int p = 0; p < sampler->pool_count; p++)
		sampler->pools[p].deferred = deferred_new();
}

int64_t
sampler_batches(const struct sampler *sampler)
{
	return sampler->batches;
}

/* Example `index` of the pool's order in this epoch. */
static struct example
example_at(const struct sampler *sampler, const struct pool *pool, int64_t index)
{
	if (sampler->in_order)
		return (struct example){ .source = pool->first, .index = index };
	uint64_t key =
	    key_of(sampler, STREAM_POOL, (uint64_t)pool->first, (uint64_t)sampler->epoch);
	int64_t at = sampler->starts[pool->first] +
		     (int64_t)rng_permute(key, (uint64_t)index, (uint64_t)pool->total);
	int low = pool->first, high = pool->last - 1;

	while (low < high) {
		int middle = (low + high + 1) / 2;
		if (sampler->starts[middle] <= at)
			low = middle;
		else
			high = middle - 1;
	}
	int64_t share = sampler->starts[low + 1] - sampler->starts[low];
	int64_t place = sampler->epoch * share + at - sampler->starts[low];
	int64_t count = sampler->counts[low], pass = place / count;
	key = key_of(sampler, STREAM_SOURCE, (uint64_t)low, (uint64_t)pass);
	return (struct example){ .source = low,
		.pass = pass,
		.index = (int64_t)rng_permute(
		    key, (uint64_t)(place % count), (uint64_t)count) };
}

/* Draws one of the pools first..last-1, in proportion to the examples left or uniformly. */
static int
choose_pool(
    const struct sampler *sampler, struct rng *rng, int first, int last, bool uniform)
{
	int64_t sum = 0;

	for (int p = first; p < last; p++) {
		int64_t rest = left(sampler, sampler->pools + p);
		sum += uniform ? rest > 0 : rest;
	}
	int64_t ball = (int64_t)rng_below(rng, (uint64_t)sum);
	int p = first;
	for (;; p++) {
		int64_t rest = left(sampler, sampler->pools + p);
		ball -= uniform ? rest > 0 : rest;
		if (ball < 0)
			return p;
	}
}

/* First pool of the task after that of pool p. */
static int
task_end(const struct sampler *sampler, int p)
{
	int end = p + 1;

	while (end < sampler->pool_count &&
	       sampler->pools[end].task == sampler->pools[p].task)
		end++;
	return end;
}

/* Draws a task likewise; returns its first pool. */
static int
choose_task(const struct sampler *sampler, struct rng *rng)
{
	bool uniform = sampler->recipe->uniform;
	int64_t ball = -1;

	/* once to sum up, once to find where the ball fell */
	for (int round = 0;; round++) {
		int64_t sum = 0;
		for (int p = 0, end; p < sampler->pool_count; p = end) {
			int64_t rest = 0;
			end = task_end(sampler, p);
			for (int i = p; i < end; i++)
				rest += left(sampler, sampler->pools + i);
			sum += uniform ? rest > 0 : rest;
			if (round && ball < sum)
				return p;
		}
		ball = (int64_t)rng_below(rng, (uint64_t)sum);
	}
}

/* Starts the next epoch if this one has nothing left. */
static void
turn_epoch(struct sampler *sampler)
{
	for (int p = 0; p < sampler->pool_count; p++)
		if (left(sampler, sampler->pools + p))
			return;
	sampler->epoch++;
	for (int p = 0; p < sampler->pool_count; p++) {
		struct pool *pool = sampler->pools + p;
		pool->drawn = pool->done = 0;
		if (pool->deferred)
			deferred_clear(pool->deferred);
	}
}

/* Draws the pool of the next batch. */
static struct pool *
choose(const struct sampler *sampler)
{
	struct pool *pool = sampler->pools;

	if (sampler->in_order) {
		while (!left(sampler, pool))
			pool++;
		return pool;
	}
	struct rng rng = rng_seed(sampler->recipe->seed,
	    key_of(sampler, STREAM_STEP, (uint64_t)sampler->step, 0));
	int first = choose_task(sampler, &rng);
	bool uniform = sampler->recipe->tasks[pool[first].task].uniform;
	return pool +
	       choose_pool(sampler, &rng, first, task_end(sampler, first), uniform);
}

/* NULL after the last epoch. */
static struct pool *
begin_step(struct sampler *sampler)
{
	const struct recipe *recipe = sampler->recipe;

	turn_epoch(sampler);
	if (recipe->epochs && sampler->epoch >= recipe->epochs)
		return NULL;
	struct pool *pool = choose(sampler);
	bool one = pool->last - pool->first == 1;
	bool all = recipe->is_static && recipe->task_count > 1 && !sampler->in_order;
	int64_t rest = left(sampler, pool), most = recipe->batch;
	sampler->draw = (struct draw){ .step = sampler->step++,
		.epoch = sampler->epoch,
		.task = all ? -1 : pool->task,
		.source = one ? pool->first : -1,
		.rows = rest < most ? rest : most,
		.examples = sampler->examples };
	return pool;
}

/* The set's entry of a key, or the free one for it. */
static uint64_t *
seen_at(const struct sampler *sampler, int side, uint64_t key)
{
	uint64_t at = key & sampler->seen_mask;

	while (sampler->seen[side][at] && sampler->seen[side][at] != key)
		at = (at + 1) & sampler->seen_mask;
	return sampler->seen[side] + at;
}

/* A deferred_put. */
static unsigned
put(void *context, const struct deferred_example *one)
{
	struct sampler *sampler = context;
	uint64_t *place[SIDES];
	unsigned sides = 0;

	for (int side = 0; side < SIDES; side++) {
		place[side] = seen_at(sampler, side, one->keys[side]);
		sides |= (unsigned)(*place[side] != 0) << side;
	}
	if (sides)
		return sides;
	for (int side = 0; side < SIDES; side++) {
		*place[side] = one->keys[side];
		sampler->places[side][sampler->draw.rows] = place[side];
	}
	sampler->examples[sampler->draw.rows++] = one->example;
	return 0;
}

static void
forget_seen(struct sampler *sampler)
{
	for (int side = 0; side < SIDES; side++)
		for (int64_t row = 0; row < sampler->seen_rows; row++)
			*sampler->places[side][row] = 0;
}

/* Warns once if batches stay small: examples that share few texts, such as class labels, cannot fill them. */
static void
tell_few(struct sampler *sampler, const struct pool *pool, int64_t wanted)
{
	const struct recipe *recipe = sampler->recipe;
	bool one = pool->last - pool->first == 1;

	if (sampler->told || sampler->recipe->drop_last ||
	    sampler->draw.rows > wanted / 2)
		return;
	sampler->told = true;
	warn(
	    "%s %s: only %lld of %lld rows of batch %lld have texts of their own; with --duplicates mark batches stay full",
	    one ? "data set" : "task",
	    one ? recipe->sources[pool->first].name : recipe->tasks[pool->task].name,
	    (long long)sampler->draw.rows, (long long)wanted,
	    (long long)sampler->draw.step);
}

static void
fill_no_duplicates(struct sampler *sampler, struct pool *pool)
{
	int64_t wanted = sampler->draw.rows;

	forget_seen(sampler);
	sampler->draw.rows = 0;
	deferred_take(pool->deferred, wanted, put, sampler);
	while (sampler->draw.rows < wanted && pool->drawn < pool->total) {
		struct deferred_example one = { .example = example_at(
						    sampler, pool, pool->drawn++) };
		sampler->keys(sampler->context, &one.example, one.keys);
		for (int side = 0; side < SIDES; side++)
			one.keys[side] += !one.keys[side];
		unsigned sides = put(sampler, &one);
		if (sides)
			deferred_add(pool->deferred, &one, sides);
	}
	sampler->seen_rows = sampler->draw.rows;
	tell_few(sampler, pool, wanted);
}

/* Draws a batch without duplicates; NULL after the last epoch.  With drop_last, a pool whose rest makes no full batch is given up
 * for this epoch. */
static const struct draw *
draw_no_duplicates(struct sampler *sampler)
{
	int64_t epoch = sampler->epoch;
	struct pool *pool;

	while ((pool = begin_step(sampler)) && sampler->epoch <= epoch + 1) {
		int64_t wanted = sampler->draw.rows;
		fill_no_duplicates(sampler, pool);
		pool->done += sampler->draw.rows;
		if (!sampler->recipe->drop_last || sampler->draw.rows == wanted)
			return &sampler->draw;
		pool->done = pool->total;
		sampler->step--;
	}
	if (pool || !sampler->step)
		die("%s: no data set fills a batch of %lld with texts that all differ; make 'batch' smaller, or keep the last ones",
		    sampler->recipe->tree->file, (long long)sampler->recipe->batch);
	return NULL;
}

const struct draw *
sampler_next(struct sampler *sampler)
{
	if (sampler->keys)
		return draw_no_duplicates(sampler);
	struct pool *pool = begin_step(sampler);
	if (!pool)
		return NULL;
	for (int64_t i = 0; i < sampler->draw.rows; i++)
		sampler->examples[i] = example_at(sampler, pool, pool->done + i);
	pool->done += sampler->draw.rows;
	return &sampler->draw;
}

bool
sampler_skip(struct sampler *sampler)
{
	if (sampler->keys)
		return draw_no_duplicates(sampler);
	struct pool *pool = begin_step(sampler);
	if (pool)
		pool->done += sampler->draw.rows;
	return pool;
}

uint64_t
sampler_checksum(const struct draw *draw, int64_t first, int64_t last)
{
	uint64_t sum = 0;

	for (int64_t i = first; i < last; i++) {
		const struct example *example = draw->examples + i;
		uint64_t words[] = { (uint64_t)example->source,
			(uint64_t)example->index };
		sum = rng_hash(sum, words, sizeof words);
	}
	return sum;
}

void
sampler_print(
    const struct recipe *recipe, const struct draw *draw, const struct rank_slice *slice)
{
	int64_t first = slice_start(slice, draw->rows),
		last = slice_end(slice, draw->rows);
	int64_t *rows = mem_zero((size_t)recipe->source_count, sizeof *rows);
	const char *between = "";

	for (int64_t i = first; i < last; i++)
		rows[draw->examples[i].source]++;
	printf("%lld\t%lld\t", (long long)draw->step, (long long)draw->epoch);
	terminal_print(draw->task < 0 ? "(static)" : recipe->tasks[draw->task].name);
	putchar('\t');
	for (int s = 0; s < recipe->source_count; s++)
		if (rows[s]) {
			printf("%s", between);
			terminal_print(recipe->sources[s].name);
			printf("=%lld", (long long)rows[s]);
			between = ",";
		}
	printf("\t%lld\t%016" PRIx64 "\n", (long long)(last - first),
	    sampler_checksum(draw, first, last));
	free(rows);
}

void
sampler_free(struct sampler *sampler)
{
	for (int p = 0; p < sampler->pool_count; p++)
		if (sampler->pools[p].deferred)
			deferred_free(sampler->pools[p].deferred);
	for (int side = 0; side < SIDES; side++) {
		free(sampler->seen[side]);
		free(sampler->places[side]);
	}
	free(sampler->starts);
	free(sampler->pools);
	free(sampler->examples);
	free(sampler);
}
