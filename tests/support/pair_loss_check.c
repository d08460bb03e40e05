/*
 * pair_loss_check - compare the gradients of pair_loss with central differences, and CoSENT's value with its double sum
 *
 * Prints the greatest error over several batches of each loss.  Exit status 1 when one is above 1e-6.
 */
#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "train/pair_loss.h"

enum { MOST = 24 };

static double
value(const struct pair_loss *pairs)
{
	double correct;

	return pair_loss(pairs, &correct);
}

/* log(1 + sum over t_i < t_j of exp((s_i - s_j) / e)), by its definition */
static double
plain_cosent(const struct pair_loss *p)
{
	double sum = 1;

	for (size_t i = 0; i < p->count; i++)
		for (size_t j = 0; j < p->count; j++)
			if (p->t[i] < p->t[j])
				sum += exp((p->s[i] - p->s[j]) / p->temperature);
	return log(sum);
}

int
main(void)
{
	static const char *const names[] = { "cosent", "mse", "contrastive", "online",
		"margin", "kl", "bce", "listnet", "triplet" };
	struct rng rng = rng_seed(11, 0);
	double worst = 0;

	for (int turn = 0; turn < 90; turn++) {
		double s[MOST], t[MOST], ds[MOST], other[MOST];
		int64_t row[MOST];
		struct pair_loss p = { .kind = (enum pair_loss_kind)(turn % 9),
			.temperature = turn / 9 % 2 ? 0.05 : 1,
			.margin = 0.5,
			.positive = turn % 3 ? 1 : 2.5,
			.row = row,
			.s = s,
			.t = t,
			.ds = ds };
		p.rows = 1 + rng_below(&rng, 8);
		p.count = p.rows;
		for (size_t i = 0; i < p.rows; i++)
			for (uint64_t k = rng_below(&rng, 3); k < 2 || p.count == p.rows;
			     k++)
				row[p.count++ - p.rows] = (int64_t)i;
		for (size_t i = 0; i < p.count; i++) {
			s[i] = 2 * rng_uniform(&rng) - 1;
			t[i] = p.kind == PAIR_CONTRASTIVE || p.kind == PAIR_ONLINE
				   ? (double)rng_below(&rng, 2)
				   : (double)rng_below(&rng, 5) / 4;
		}
		double loss = value(&p), most = 0;
		if (p.kind == PAIR_COSENT)
			most = fabs(loss - plain_cosent(&p));
		struct pair_loss q = p;
		q.ds = other;
		for (size_t i = 0; i < p.count; i++) {
			double at = s[i], step = 1e-6;
			s[i] = at + step;
			double above = value(&q);
			s[i] = at - step;
			double below = value(&q);
			s[i] = at;
			most = fmax(most, fabs((above - below) / (2 * step) - ds[i]));
		}
		if (!(most < 1e-6))
			printf("%s: %g\n", names[p.kind], most);
		worst = !(most <= worst) ? most : worst;
	}
	printf("%.1e\n", worst);
	return !(worst < 1e-6);
}
