#include "train/optim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/nn.h"

enum { WARMUP_MOST = 700 };

static const char *const schedule_names[] = { "constant", "linear", "cosine" };

/* What is updated or left alone as a whole: a parameter, or a matrix of a stack of them. */
struct piece {
	const struct parameter *parameter;
	size_t offset, count;
};

struct optim {
	struct model *model;
	struct optim_options options;
	float *first, *second; /* [model_size], nn memory */
	struct piece *pieces;
	int64_t *counts; /* [pieces] */
	size_t piece_count, most;
	/* the pieces of a step, their numbers, and the sums of squares of their gradients; two in nn memory, too */
	struct nn_piece *table, *given;
	double *squares, *sums;
	size_t *numbers;
};

bool
optim_schedule(const char *name, enum schedule *schedule)
{
	for (int i = 0; i < 3; i++)
		if (strcmp(name, schedule_names[i]) == 0) {
			*schedule = (enum schedule)i;
			return true;
		}
	return false;
}

const char *
optim_schedule_name(enum schedule schedule)
{
	return schedule_names[schedule];
}

double
optim_rate(const struct optim_options *options, int64_t step)
{
	double warmup = options->warmup;

	if (warmup < 1) /* a share of all steps */
		warmup = fmin(WARMUP_MOST, floor(warmup * (double)options->steps));
	if ((double)step < warmup)
		return options->rate * (double)step / warmup;
	if (options->schedule == SCHEDULE_CONSTANT)
		return options->rate;

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

static void
cut(struct optim *optim)
{
	int parameters = model_parameters(optim->model);
	size_t at = 0;

	for (int i = 0; i < parameters; i++)
		optim->piece_count += stack_of(model_parameter(optim->model, i));
	optim->pieces = mem_zero(optim->piece_count, sizeof *optim->pieces);
	for (int i = 0; i < parameters; i++) {
		const struct parameter *p = model_parameter(optim->model, i);
		size_t count = p->count / stack_of(p);
		optim->most = count > optim->most ? count : optim->most;
		for (size_t j = 0; j < stack_of(p); j++)
			optim->pieces[at++] =
			    (struct piece){ p, p->offset + j * count, count };
	}
}

struct optim *
optim_new(struct model *model, const struct optim_options *options)
{
	struct optim *optim = mem_zero(1, sizeof *optim);
	size_t bytes = model_size(model) * sizeof(float);

	optim->model = model;
	optim->options = *options;
	optim->first = nn_alloc(bytes);
	optim->second = nn_alloc(bytes);
	cut(optim);
	optim->counts = mem_zero(optim->piece_count, sizeof *optim->counts);
	optim->table = mem_new(optim->piece_count, sizeof *optim->table);
	optim->given = nn_alloc(optim->piece_count * sizeof *optim->given);
	optim->squares = mem_new(optim->piece_count, sizeof *optim->squares);
	optim->sums = nn_alloc(optim->piece_count * sizeof *optim->sums);
	optim->numbers = mem_new(optim->piece_count, sizeof *optim->numbers);
	return optim;
}

void
optim_free(struct optim *optim)
{
	size_t bytes = model_size(optim->model) * sizeof(float);

	nn_free(optim->first, bytes);
	nn_free(optim->second, bytes);
	nn_free(optim->given, optim->piece_count * sizeof *optim->given);
	nn_free(optim->sums, optim->piece_count * sizeof *optim->sums);
	free(optim->table);
	free(optim->squares);
	free(optim->numbers);
	free(optim->counts);
	free(optim->pieces);
	free(optim);
}

/* The pieces of a step into the table: those that a backward pass has come to; how many. */
static size_t
choose(struct optim *optim)
{
	size_t chosen = 0;

	for (size_t i = 0; i < optim->piece_count; i++) {
		const struct piece *p = &optim->pieces[i];
		if (!optim->options.update_unused &&
		    !model_reached(optim->model, p->parameter))
			continue;
		optim->numbers[chosen] = i;
		optim->table[chosen++] = (struct nn_piece){ .offset = p->offset,
			.count = p->count,
			.decay = p->parameter->decay ? optim->options.decay : 0 };
	}
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
	for (size_t i = 0; i < chosen; i++)
		sum += optim->squares[i];
	return sqrt(sum);
}

double
optim_step(struct optim *optim, int64_t step, double scale)
{
	const struct optim_options *o = &optim->options;
	size_t chosen = choose(optim);
	double norm = gradient_norm(optim, chosen) * scale;

	if (!isfinite(norm))
		return norm;
	/* torch.nn.utils.clip_grad_norm_: the 1e-6 is its own */
	if (o->clip > 0 && norm + 1e-6 > o->clip)
		scale *= o->clip / (norm + 1e-6);

	for (size_t i = 0; i < chosen; i++)
		if (optim->squares[i] != 0 || o->update_unused)
			optim->table[i].step = ++optim->counts[optim->numbers[i]];
	nn_upload(optim->given, optim->table, chosen * sizeof *optim->table);
	struct nn_adamw adamw = { .lr = optim_rate(o, step),
		.beta1 = o->beta1,
		.beta2 = o->beta2,
		.eps = o->epsilon,
		.scale = scale };
	nn_adamw(model_values(optim->model), optim->first, optim->second,
	    model_gradients(optim->model), &adamw, optim->given, chosen, optim->most);
	model_forget_reached(optim->model);
	return norm;
}

float *
optim_first(struct optim *optim)
{
	return optim->first;
}

float *
optim_second(struct optim *optim)
{
	return optim->second;
}

size_t
optim_pieces(const struct optim *optim)
{
	return optim->piece_count;
}

int64_t *
optim_counts(struct optim *optim)
{
	return optim->counts;
}
