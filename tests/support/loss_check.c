/*
 * loss_check - loss_infonce and relation_loss held to plain loops in double precision
 *
 * Prints the greatest relative error of loss and gradient over several shapes, with and without
 * keys, in one direction and in two, of cosines and of dot products, with and without too similar candidates, and of relations.  Exit status 1 when one is above 1e-4.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "nn/nn.h"
#include "train/loss.h"
#include "train/relation_loss.h"

enum { KEYED = 1, BOTH = 2, DOT = 4, SIMILAR = 8, HOWS = 16 };

/* Components whose slope is measured in each shape.  The sanitizers look for faults of the loss, which is computed once. */
#ifdef __SANITIZE_ADDRESS__
enum { SLOPES = 4 };
#else
enum { SLOPES = 60 };
#endif

/* fmax would drop a NaN. */
static double
larger(double a, double b)
{
	return b > a || isnan(b) ? b : a;
}

static double
cosine(const double *a, const double *b, size_t width)
{
	double dot = 0, aa = 0, bb = 0;

	for (size_t c = 0; c < width; c++) {
		dot += a[c] * b[c];
		aa += a[c] * a[c];
		bb += b[c] * b[c];
	}
	return dot / sqrt(aa * bb);
}

static double
similarity(const double *a, const double *b, const struct loss_batch *batch)
{
	double dot = 0;

	for (size_t c = 0; c < batch->width; c++)
		dot += a[c] * b[c];
	return batch->dot ? dot : cosine(a, b, batch->width);
}

/* A batch, and for each way, row and candidate whether it is too similar, by the vectors before any is moved. */
struct case_of_loss {
	struct loss_batch batch;
	bool *similar[2]; /* [rows, candidates]; all false without batch.beyond */
};

static void
find_similar(struct case_of_loss *c, const double *from, const double *to,
    size_t candidates, bool back)
{
	const struct loss_batch *batch = &c->batch;

	c->similar[back] = mem_zero(batch->rows * candidates, sizeof(bool));
	for (size_t i = 0; batch->beyond && i < batch->rows; i++) {
		const double *own = from + i * batch->width;
		double most = similarity(own, to + i * batch->width, batch) +
			      (double)*batch->beyond;
		for (size_t j = 0; j < candidates; j++)
			c->similar[back][i * candidates + j] =
			    j != i &&
			    similarity(own, to + j * batch->width, batch) > most;
	}
}

/* Whether candidate j is one of row i; of documents, which choose among the queries, where `back` says so. */
static bool
taken(const struct loss_batch *batch, bool back, size_t i, size_t j)
{
	bool take = true;

	for (int kind = 0; batch->keys && j != i && kind < LOSS_KEYS; kind++) {
		const struct loss_keys *keys = &batch->keys[kind];
		const int64_t *own = back ? keys->document : keys->query,
			      *partner = back ? keys->query : keys->document;
		bool pair = j < batch->rows;
		int64_t key = pair ? partner[j] : keys->negatives[j - batch->rows];
		take &= key != partner[i] && key != own[i] && !(pair && own[j] == own[i]);
	}
	return take;
}

static double
plain_way(const double *from, const double *to, size_t candidates,
    const struct case_of_loss *c, bool back)
{
	const struct loss_batch *batch = &c->batch;
	double loss = 0;

	for (size_t i = 0; i < batch->rows; i++) {
		double sum = 0, positive = 0;
		for (size_t j = 0; j < candidates; j++) {
			double s = similarity(from + i * batch->width,
				       to + j * batch->width, batch) /
				   (double)batch->temperature;
			if (!c->similar[back][i * candidates + j] &&
			    taken(batch, back, i, j))
				sum += exp(s);
			if (j == i)
				positive = s;
		}
		loss += log(sum) - positive;
	}
	return loss / (double)batch->rows;
}

static double
plain(const double *vectors, const struct case_of_loss *c)
{
	const struct loss_batch *batch = &c->batch;
	const double *documents = vectors + batch->rows * batch->width;
	double loss =
	    plain_way(vectors, documents, batch->rows + batch->negatives, c, false);

	if (batch->bidirectional)
		loss += plain_way(documents, vectors, batch->rows, c, true);
	return loss;
}

static double
check(struct loss *loss, size_t rows, size_t negatives, size_t width, int how,
    struct rng *rng)
{
	bool keyed = how & KEYED, both = how & BOTH, dot = how & DOT;
	size_t count = (2 * rows + negatives) * width;
	double *exact = mem_new(count, sizeof *exact), worst = 0, scale = 0;
	float *vectors = nn_alloc(count * sizeof *vectors),
	      *gradient = nn_alloc(count * sizeof *vectors);
	size_t texts = 2 * rows + negatives;
	int64_t *keys = mem_new(LOSS_KEYS * texts, sizeof *keys);
	double correct;
	struct loss_keys pointers[LOSS_KEYS];
	const float beyond = 0.1f;
	struct case_of_loss c = { { rows, negatives, width, dot ? 1 : 0.2f, both, dot,
				      keyed ? pointers : NULL, NULL,
				      how & SIMILAR ? &beyond : NULL },
		{ NULL, NULL } };

	for (size_t i = 0; i < LOSS_KEYS * texts; i++)
		keys[i] = (int64_t)rng_below(rng, (i < texts ? 3 : 9) * rows);
	for (size_t kind = 0; kind < LOSS_KEYS; kind++) {
		const int64_t *own = keys + kind * texts;
		pointers[kind] = (struct loss_keys){ own, own + rows, own + 2 * rows };
	}
	for (size_t i = 0; i < count; i++)
		exact[i] = vectors[i] = (float)rng_normal(rng);
	find_similar(&c, exact, exact + rows * width, rows + negatives, false);
	find_similar(&c, exact + rows * width, exact, rows, true);
	double expected = plain(exact, &c);
	double got = loss_infonce(loss, gradient, vectors, &c.batch, &correct);
	worst = fabs(got - expected) / (1 + expected); /* it is 0 where all is left out */

	for (size_t i = 0; i < count; i++)
		scale = larger(scale, fabs((double)gradient[i]));
	scale = larger(
	    scale, 1e-3); /* one row whose negatives all share its key has no gradient */
	size_t slopes =
	    rows > 100 && SLOPES > 12 ? 12 : SLOPES; /* of many rows each takes long */
	for (size_t n = 0; n < slopes; n++) {
		size_t i = rng_below(rng, count);
		double old = exact[i], step = 1e-5;
		exact[i] = old + step;
		double slope = plain(exact, &c);
		exact[i] = old - step;
		slope = (slope - plain(exact, &c)) / (2 * step);
		exact[i] = old;
		worst = larger(worst, fabs(slope - (double)gradient[i]) / scale);
	}
	printf("rows %zu negatives %zu%s%s%s%s: %.1e\n", rows, negatives,
	    keyed ? " keys" : "", both ? " bidirectional" : "", dot ? " dot" : "",
	    c.batch.beyond ? " similar left out" : "", worst);
	free(c.similar[0]);
	free(c.similar[1]);
	nn_free(vectors, count * sizeof *vectors);
	nn_free(gradient, count * sizeof *gradient);
	free(exact);
	free(keys);
	return worst;
}

/* Equation 8 of REZE. */
static double
plain_relations(
    const double *vectors, const double *targets, size_t rows, size_t width, double *pair)
{
	double loss = 0;

	for (size_t i = 0; i < rows; i++) {
		for (size_t c = 0; c < width; c++) {
			pair[c] = vectors[i * width + c];
			pair[width + c] = vectors[(rows + i) * width + c];
		}
		loss += 1 - cosine(pair, targets + 2 * width * i, 2 * width);
	}
	return loss / (double)rows;
}

/* The gradient is added to one that is there; negatives have none. */
static double
check_relations(struct relation_loss *loss, size_t rows, size_t negatives, size_t width,
    struct rng *rng)
{
	const double weight = 3, there = 0.25;
	size_t count = (2 * rows + negatives) * width, wanted = 2 * rows * width;
	double *exact = mem_new(count + wanted + 2 * width, sizeof *exact);
	double *targets = exact + count, *pair = targets + wanted;
	float *vectors = nn_alloc(count * sizeof *vectors),
	      *gradient = nn_alloc(count * sizeof *vectors),
	      *host = mem_new(wanted, sizeof *host);

	for (size_t i = 0; i < count; i++) {
		exact[i] = vectors[i] = (float)rng_normal(rng);
		gradient[i] = (float)there;
	}
	for (size_t i = 0; i < wanted; i++)
		targets[i] = host[i] = (float)rng_normal(rng);
	double got = relation_loss_measure(loss, vectors, host, rows, width, weight);
	double expected = plain_relations(exact, targets, rows, width, pair);
	double worst = fabs(got - expected), scale = 0;
	relation_loss_add(loss, gradient);
	for (size_t i = 0; i < count; i++)
		scale = larger(scale, fabs((double)gradient[i] - there));
	for (size_t i = 0; i < count; i++) {
		double old = exact[i], step = 1e-5;
		exact[i] = old + step;
		double slope = plain_relations(exact, targets, rows, width, pair);
		exact[i] = old - step;
		slope -= plain_relations(exact, targets, rows, width, pair);
		exact[i] = old;
		slope *= weight / (2 * step);
		worst = larger(worst, fabs(slope + there - (double)gradient[i]) / scale);
	}
	printf("relations: rows %zu negatives %zu: %.1e\n", rows, negatives, worst);
	nn_free(vectors, count * sizeof *vectors);
	nn_free(gradient, count * sizeof *gradient);
	free(host);
	free(exact);
	return worst;
}

int
main(int argc, char **argv)
{
	(void)argc;
	nn_start(0, argv);
	struct rng rng = rng_seed(7, 0);
	struct loss *loss = loss_new();
	double worst = 0;

	for (int how = 0; how < HOWS; how++) {
		worst = larger(worst, check(loss, 1, 2, 8, how, &rng));
		worst = larger(worst, check(loss, 7, 0, 16, how, &rng));
		worst = larger(worst, check(loss, 24, 50, 12, how, &rng));
		if (!(how & SIMILAR) || how == (SIMILAR | KEYED | BOTH)) /* two blocks */
			worst = larger(worst, check(loss, 530, 20, 4, how, &rng));
	}
	loss_free(loss);
	struct relation_loss *relations = relation_loss_new();
	worst = larger(worst, check_relations(relations, 1, 0, 3, &rng));
	worst = larger(worst, check_relations(relations, 9, 4, 8, &rng));
	worst = larger(worst, check_relations(relations, 4, 0, 16, &rng));
	relation_loss_free(relations);
	return worst < 1e-4 ? 0 : 1;
}
