#include "train/optim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/nn.h"
#include "ranks/ranks.h"
#include "train/parameter_rates.h"

enum { WARMUP_MOST = 700 };

static const char *const schedule_names[] = { "constant", "linear", "cosine", "wsd" };

/* Floats per sum over ranks, which bounds the receive buffers. */
enum { BUCKET = 1 << 22 };

/* A parameter, or a matrix of a stack: all of it takes part in a step, or none. */
struct unit {
	const struct parameter *parameter;
	size_t offset, count;
	size_t group; /* of equal rates */
};

/* A range of the model's elements that is summed at once.  Rank r owns starts[r] to starts[r + 1] - 1. */
struct bucket {
	const struct parameter *like; /* one of its parameters */
	size_t *starts;		      /* [ranks + 1] */
	size_t moments; /* offset of this rank's part in `first` and `second` */
	bool begun;
};

/* The part of a unit that this rank owns. */
struct share {
	size_t unit, offset, count, moments;
};

struct optim {
	struct model *model;
	struct optim_options options;
	float *first, *second; /* [kept], nn memory */
	size_t kept;
	struct unit *units;
	int64_t *counts; /* [units] */
	struct bucket *buckets;
	struct share *shares;
	size_t unit_count, bucket_count, share_count, most;
	size_t bucket_room, share_room;
	/* the shares of a step, their numbers, and the sums of squares of their gradients; table and squares also in nn memory */
	struct nn_slice *table, *given;
	double *squares, *sums;
	size_t *numbers;
	double *unit_squares; /* [units], of all ranks */
	/* groups of units by their peak rates; a step's shares of a group follow each other and end before `ends` */
	double *rates;
	size_t *ends, group_count;
};

const char *
optim_schedule_name(enum schedule schedule)
{
	return schedule_names[schedule];
}

double
optim_warmup(const struct optim_options *options)
{
	if (options->warmup >= 1)
		return options->warmup;
	return fmin(WARMUP_MOST, floor(options->warmup * (double)options->steps));
}

double
optim_rate(const struct optim_options *options, int64_t step)
{
	double warmup = optim_warmup(options);

	if ((double)step < warmup)
		return options->rate * (double)step / warmup;
	if (options->schedule == SCHEDULE_CONSTANT)
		return options->rate;

	if (options->schedule == SCHEDULE_WSD) {
		double fall = fmax(1, WSD_DECAY * (double)options->steps);
		return options->rate *
		       fmin(1, ((double)options->steps - (double)step) / fall);
	}
	double span = fmax(1, (double)options->steps - warmup);
	double done = fmin(1, ((double)step - warmup) / span);
	if (options->schedule == SCHEDULE_LINEAR)
		return options->rate * (1 - done);
	return options->rate * 0.5 * (1 + cos(3.141592653589793 * done));
}

static size_t
stack_of(const struct parameter *p)
{
	return p->stack ? (size_t)p->stack : 1;
}

/* The group of a peak rate. */
static size_t
group_of(struct optim *optim, double rate)
{
	size_t group = 0;

	while (group < optim->group_count && optim->rates[group] != rate)
		group++;
	if (group == optim->group_count)
		optim->rates[optim->group_count++] = rate;
	return group;
}

static void
cut_units(struct optim *optim)
{
	int parameters = model_parameters(optim->model);
	size_t at = 0;
	double *rates = mem_new((size_t)parameters, sizeof *rates);

	optim->rates = mem_new((size_t)parameters, sizeof *optim->rates);
	parameter_rates(rates, optim->options.rate, optim->options.rates, optim->model);
	for (int i = 0; i < parameters; i++)
		optim->unit_count += stack_of(model_parameter(optim->model, i));
	optim->units = mem_zero(optim->unit_count, sizeof *optim->units);
	for (int i = 0; i < parameters; i++) {
		const struct parameter *p = model_parameter(optim->model, i);
		size_t count = p->count / stack_of(p);
		size_t group = group_of(optim, rates[i]);
		for (size_t j = 0; j < stack_of(p); j++)
			optim->units[at++] =
			    (struct unit){ p, p->offset + j * count, count, group };
	}
	optim->ends = mem_new(optim->group_count, sizeof *optim->ends);
	free(rates);
}

static void
add_bucket(struct optim *optim, const struct parameter *like, size_t offset, size_t count)
{
	size_t ranks = (size_t)ranks_count(), own = (size_t)ranks_own();
	struct bucket bucket = { .like = like, .moments = optim->kept };

	bucket.starts = mem_new(ranks + 1, sizeof *bucket.starts);
	for (size_t r = 0; r <= ranks; r++)
		bucket.starts[r] = offset + count * r / ranks;
	optim->kept += bucket.starts[own + 1] - bucket.starts[own];
	optim->buckets = mem_grow(optim->buckets, &optim->bucket_room,
	    optim->bucket_count + 1, sizeof *optim->buckets);
	optim->buckets[optim->bucket_count++] = bucket;
}

/* Are the gradients of two parameters complete at the same time, and reached together? */
static bool
together(const struct parameter *a, const struct parameter *b)
{
	return a->layer == b->layer && a->expert == b->expert &&
	       a->predicts == b->predicts;
}

/* Buckets cover the whole model, with the gaps between parameters; with one rank there is one bucket. */
static void
cut_buckets(struct optim *optim)
{
	const struct model *model = optim->model;
	int parameters = model_parameters(model);
	size_t begin = 0, size = model_size(model);
	bool alone = ranks_count() == 1;

	for (int i = 1; i <= parameters; i++) {
		const struct parameter *like = model_parameter(model, i - 1);
		const struct parameter *next =
		    i < parameters ? model_parameter(model, i) : NULL;
		size_t end = next ? next->offset : size;
		if (next && (alone || together(like, next)))
			continue;
		for (size_t most = alone ? size : BUCKET; begin < end; begin += most) {
			if (end - begin < most)
				most = end - begin;
			add_bucket(optim, like, begin, most);
		}
	}
}

/* Intersects this rank's parts of the buckets with the units; both are in rising order. */
static void
cut_shares(struct optim *optim)
{
	size_t unit = 0, own = (size_t)ranks_own();

	for (size_t b = 0; b < optim->bucket_count; b++) {
		const struct bucket *bucket = &optim->buckets[b];
		size_t from = bucket->starts[own], to = bucket->starts[own + 1];
		for (; unit < optim->unit_count; unit++) {
			const struct unit *p = &optim->units[unit];
			size_t first = p->offset > from ? p->offset : from;
			size_t past =
			    p->offset + p->count < to ? p->offset + p->count : to;
			if (first < past) {
				optim->shares =
				    mem_grow(optim->shares, &optim->share_room,
					optim->share_count + 1, sizeof *optim->shares);
				optim->shares[optim->share_count++] =
				    (struct share){ unit, first, past - first,
					    bucket->moments + first - from };
				if (past - first > optim->most)
					optim->most = past - first;
			}
			if (p->offset + p->count > to)
				break; /* the rest of it is in the next bucket */
		}
	}
}

struct optim *
optim_new(struct model *model, const struct optim_options *options)
{
	struct optim *optim = mem_zero(1, sizeof *optim);

	optim->model = model;
	optim->options = *options;
	cut_units(optim);
	cut_buckets(optim);
	cut_shares(optim);
	optim->first = nn_alloc(optim->kept * sizeof(float));
	optim->second = nn_alloc(optim->kept * sizeof(float));
	optim->counts = mem_zero(optim->unit_count, sizeof *optim->counts);
	optim->unit_squares = mem_new(optim->unit_count, sizeof *optim->unit_squares);
	optim->table = mem_new(optim->share_count, sizeof *optim->table);
	optim->given = nn_alloc(optim->share_count * sizeof *optim->given);
	optim->squares = mem_new(optim->share_count, sizeof *optim->squares);
	optim->sums = nn_alloc(optim->share_count * sizeof *optim->sums);
	optim->numbers = mem_new(optim->share_count, sizeof *optim->numbers);
	return optim;
}

void
optim_free(struct optim *optim)
{
	nn_free(optim->first, optim->kept * sizeof(float));
	nn_free(optim->second, optim->kept * sizeof(float));
	nn_free(optim->given, optim->share_count * sizeof *optim->given);
	nn_free(optim->sums, optim->share_count * sizeof *optim->sums);
	for (size_t b = 0; b < optim->bucket_count; b++)
		free(optim->buckets[b].starts);
	free(optim->buckets);
	free(optim->shares);
	free(optim->table);
	free(optim->squares);
	free(optim->unit_squares);
	free(optim->numbers);
	free(optim->counts);
	free(optim->units);
	free(optim->rates);
	free(optim->ends);
	free(optim);
}

static bool
takes_part(const struct optim *optim, const struct parameter *parameter)
{
	return optim->options.update_unused || model_reached(optim->model, parameter);
}

void
optim_begin(struct optim *optim, int layer)
{
	for (size_t b = 0; b < optim->bucket_count; b++) {
		struct bucket *bucket = &optim->buckets[b];
		if (bucket->begun || bucket->like->layer != layer ||
		    !takes_part(optim, bucket->like))
			continue;
		ranks_sum(model_gradients(optim->model), bucket->starts);
		bucket->begun = true;
	}
}

/* Sums the gradients of this rank's parts over the ranks.  Every rank uses the order of a backward pass. */
static void
sum_gradients(struct optim *optim)
{
	if (ranks_count() == 1)
		return;
	for (int layer = model_spec(optim->model)->layers - 1; layer >= -1; layer--)
		optim_begin(optim, layer);
	ranks_wait();
}

/* Shares the updated parameters, and zeroes the gradients of the other ranks' parts. */
static void
share_values(struct optim *optim)
{
	size_t own = (size_t)ranks_own();

	if (ranks_count() == 1)
		return;
	for (size_t b = 0; b < optim->bucket_count; b++) {
		struct bucket *bucket = &optim->buckets[b];
		size_t from = bucket->starts[0], past = bucket->starts[ranks_count()];
		if (!bucket->begun)
			continue;
		bucket->begun = false;
		ranks_share(model_values(optim->model), bucket->starts, sizeof(float));
		nn_zero(model_gradients(optim->model) + from, bucket->starts[own] - from);
		nn_zero(model_gradients(optim->model) + bucket->starts[own + 1],
		    past - bucket->starts[own + 1]);
	}
	ranks_wait();
}

/* Adds the shares of a group that a backward pass reached to the table; returns their number with those before. */
static size_t
choose_group(struct optim *optim, size_t group, size_t chosen)
{
	for (size_t i = 0; i < optim->share_count; i++) {
		const struct share *share = &optim->shares[i];
		const struct unit *unit = &optim->units[share->unit];
		const struct parameter *p = unit->parameter;
		if (unit->group != group || !takes_part(optim, p))
			continue;
		optim->numbers[chosen] = i;
		optim->table[chosen++] = (struct nn_slice){ .offset = share->offset,
			.count = share->count,
			.moments = share->moments,
			.decay = p->decay ? optim->options.decay : 0 };
	}
	return chosen;
}

/* Fills the table with the shares of units that a backward pass reached, group by group; returns their number. */
static size_t
choose(struct optim *optim)
{
	size_t chosen = 0;

	for (size_t g = 0; g < optim->group_count; g++)
		optim->ends[g] = chosen = choose_group(optim, g, chosen);
	nn_upload(optim->given, optim->table, chosen * sizeof *optim->table);
	return chosen;
}

static double
gradient_norm(struct optim *optim, size_t chosen)
{
	double sum = 0;

	nn_square_sums(optim->sums, model_gradients(optim->model), optim->given, chosen,
	    optim->most);
	nn_download(optim->squares, optim->sums, chosen * sizeof *optim->sums);
	for (size_t i = 0; i < optim->unit_count; i++)
		optim->unit_squares[i] = 0;
	for (size_t i = 0; i < chosen; i++)
		optim->unit_squares[optim->shares[optim->numbers[i]].unit] +=
		    optim->squares[i];
	ranks_add(optim->unit_squares, optim->unit_count);
	for (size_t i = 0; i < optim->unit_count; i++)
		sum += optim->unit_squares[i];
	return sqrt(sum);
}

/* Counts the updates of units, and sets the step of each share. */
static void
count_updates(struct optim *optim, size_t chosen)
{
	for (size_t i = 0; i < optim->unit_count; i++)
		optim->counts[i] +=
		    optim->unit_squares[i] != 0 || (optim->options.update_unused);
	for (size_t i = 0; i < chosen; i++) {
		size_t unit = optim->shares[optim->numbers[i]].unit;
		if (optim->unit_squares[unit] != 0 || optim->options.update_unused)
			optim->table[i].step = optim->counts[unit];
	}
	nn_upload(optim->given, optim->table, chosen * sizeof *optim->table);
}

double
optim_step(struct optim *optim, int64_t step, double scale)
{
	const struct optim_options *o = &optim->options;

	sum_gradients(optim);
	size_t chosen = choose(optim);
	double norm = gradient_norm(optim, chosen) * scale;

	if (!isfinite(norm))
		return norm;
	/* the 1e-6 is that of torch.nn.utils.clip_grad_norm_ */
	if (o->clip > 0 && norm + 1e-6 > o->clip)
		scale *= o->clip / (norm + 1e-6);

	count_updates(optim, chosen);
	for (size_t g = 0, first = 0; g < optim->group_count; first = optim->ends[g++]) {
		struct optim_options own = *o;
		if (optim->ends[g] == first)
			continue;
		own.rate = optim->rates[g];
		struct nn_adamw adamw = { .lr = optim_rate(&own, step),
			.beta1 = o->beta1,
			.beta2 = o->beta2,
			.eps = o->epsilon,
			.scale = scale };
		nn_adamw(model_values(optim->model), optim->first, optim->second,
		    model_gradients(optim->model), &adamw, optim->given + first,
		    optim->ends[g] - first, optim->most);
	}
	share_values(optim);
	model_forget_reached(optim->model);
	return norm;
}

size_t
optim_units(const struct optim *optim)
{
	return optim->unit_count;
}

int64_t *
optim_counts(struct optim *optim)
{
	return optim->counts;
}

size_t
optim_parts(const struct optim *optim)
{
	return optim->bucket_count;
}

struct optim_part
optim_part(const struct optim *optim, size_t index)
{
	const struct bucket *bucket = &optim->buckets[index];
	const size_t *own = bucket->starts + ranks_own();

	return (struct optim_part){ .offset = own[0],
		.count = own[1] - own[0],
		.first = optim->first + bucket->moments,
		.second = optim->second + bucket->moments };
}

void
optim_share(const struct optim *optim)
{
	if (ranks_count() == 1)
		return;
	for (size_t b = 0; b < optim->bucket_count; b++)
		ranks_share(
		    model_values(optim->model), optim->buckets[b].starts, sizeof(float));
	ranks_wait();
}
