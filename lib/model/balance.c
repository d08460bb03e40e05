#include "model/balance.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Sums over the tokens of one side. */
struct side_sums {
	double *rows, *chosen, *probability; /* [1], [E], [E] */
};

struct balance {
	size_t experts, top;
	double *sums; /* [BALANCE_SIDES, 1 + 2 E] */
	struct side_sums sides[BALANCE_SIDES];
	float *gradients; /* [BALANCE_SIDES, E], nn memory */
	bool counts;
	/* of one batch, host memory */
	float *p;	 /* [T,E] */
	int32_t *chosen; /* [T,top] */
	size_t p_room, chosen_room;
};

struct balance *
balance_new(const struct spec *spec)
{
	struct balance *balance = mem_zero(1, sizeof *balance);
	size_t E = (size_t)spec->mixture.count;

	balance->experts = E;
	balance->top = (size_t)spec->mixture.top;
	balance->gradients = nn_alloc(BALANCE_SIDES * E * sizeof(float));
	balance->sums = mem_zero(BALANCE_SIDES * (1 + 2 * E), sizeof *balance->sums);
	for (size_t i = 0; i < BALANCE_SIDES; i++) {
		double *rows = balance->sums + i * (1 + 2 * E);
		balance->sides[i] = (struct side_sums){ rows, rows + 1, rows + 1 + E };
	}
	return balance;
}

void
balance_free(struct balance *balance)
{
	if (!balance)
		return;
	nn_free(balance->gradients, BALANCE_SIDES * balance->experts * sizeof(float));
	free(balance->sums);
	free(balance->p);
	free(balance->chosen);
	free(balance);
}

void
balance_begin(struct balance *balance)
{
	size_t count;
	double *sums = balance_sums(balance, &count);

	balance->counts = true;
	memset(sums, 0, count * sizeof *sums);
}

double *
balance_sums(struct balance *balance, size_t *count)
{
	*count = BALANCE_SIDES * (1 + 2 * balance->experts);
	return balance->sums;
}

void
balance_count(
    struct balance *balance, const struct batch *batch, const struct mixture_state *state)
{
	size_t T = (size_t)batch->tokens, E = balance->experts, top = balance->top;

	if (!balance->counts)
		return;
	balance->p = mem_grow(balance->p, &balance->p_room, T * E, sizeof(float));
	balance->chosen =
	    mem_grow(balance->chosen, &balance->chosen_room, T * top, sizeof(int32_t));
	nn_download(balance->p, state->p, T * E * sizeof(float));
	nn_download(balance->chosen, state->chosen, T * top * sizeof(int32_t));
	for (int64_t i = 0; i < batch->sequences; i++) {
		struct side_sums *side =
		    &balance->sides[batch->sides ? batch->sides[i] : 0];
		size_t first = (size_t)batch->starts[i];
		size_t past = (size_t)batch->starts[i + 1];
		*side->rows += (double)(past - first);
		for (size_t at = first * E; at < past * E; at++)
			side->probability[at % E] += (double)balance->p[at];
		for (size_t at = first * top; at < past * top; at++)
			side->chosen[balance->chosen[at]]++;
	}
}

double
balance_end(struct balance *balance, double weight)
{
	size_t E = balance->experts;
	float *gradients = mem_zero(BALANCE_SIDES * E, sizeof *gradients);
	double loss = 0;

	balance->counts = false;
	for (size_t i = 0; i < BALANCE_SIDES; i++) {
		const struct side_sums *side = &balance->sides[i];
		double rows = *side->rows;
		for (size_t e = 0; e < E && rows > 0; e++) {
			double gradient = (double)E * side->chosen[e] / (rows * rows);
			loss += gradient * side->probability[e];
			gradients[i * E + e] = (float)(weight * gradient);
		}
	}
	nn_upload(balance->gradients, gradients, BALANCE_SIDES * E * sizeof *gradients);
	free(gradients);
	return loss;
}

const float *
balance_gradients(const struct balance *balance)
{
	return balance->counts ? NULL : balance->gradients;
}
