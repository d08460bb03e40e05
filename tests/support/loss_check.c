/*
 * loss_check - compare loss_infonce and relation_loss with plain loops in double precision
 *
 * Prints the greatest relative error of loss and gradient over several shapes: with and without keys, in one and in both
 * directions, of cosines and of dot products, with more and with fewer terms, without the candidates that the model or a guide
 * finds too similar; and of relations.  Exit status 1 when one is above 1e-4.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "nn/nn.h"
#include "train/loss.h"
#include "train/relation_loss.h"

enum {
	KEYED = 1,
	BOTH = 2,
	DOT = 4,
	SIMILAR = 8,
	HOWS = 16,
	GUIDE = 16,
	OWN = 32,
	TERM = 64,
	QQ = TERM * LOSS_QQ,
	DQ = TERM * LOSS_DQ,
	DD = TERM * LOSS_DD
};

/* The number of gradient components compared in each shape; fewer under the sanitizers, which find faults in one
 * evaluation. */
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

/* A batch, and for each direction, row, list and text whether it is too similar, by the vectors before any is changed. */
struct case_of_loss {
	struct loss_batch batch;
	bool *similar[2]; /* [rows, 2, texts]; all false without batch.beyond */
};

static size_t
texts_of(const struct loss_batch *batch)
{
	return 2 * batch->rows + batch->negatives;
}

/* The text that row i compares with others: its query in the first list; its document in the second list, or in the
 * direction `back`. */
static size_t
anchor_of(const struct loss_batch *batch, bool back, size_t list, size_t i)
{
	return list || back ? batch->rows + i : i;
}

/* Is text t compared at all?  Texts are numbered: queries, documents, negatives. */
static bool
compared(const struct loss_batch *batch, bool back, size_t list, size_t i, size_t t)
{
	size_t rows = batch->rows;
	bool query = t < rows, document = !query && t < 2 * rows;
	bool own = query ? t == i
		   : document
		       ? t == rows + i
		       : batch->owners && batch->owners[t - 2 * rows] == (int64_t)i;

	if (back)
		return query && !list;
	if (list)
		return query ? batch->terms & LOSS_DQ : batch->terms & LOSS_DD && !own;
	if (query)
		return batch->terms & LOSS_QQ && !own;
	return own || !batch->own_only;
}

/* Is text t the positive of row i? */
static bool
right(const struct loss_batch *batch, bool back, size_t list, size_t i, size_t t)
{
	return t == (list || back ? i : batch->rows + i);
}

static void
find_similar(struct case_of_loss *c, const double *vectors, bool back)
{
	const struct loss_batch *batch = &c->batch;
	size_t texts = texts_of(batch), w = batch->width;
	const double *at = vectors + (back ? batch->rows : 0) * w;
	const double *target = vectors + (back ? 0 : batch->rows) * w;

	c->similar[back] = mem_zero(batch->rows * 2 * texts, sizeof(bool));
	for (size_t i = 0; batch->beyond && i < batch->rows; i++) {
		double most = similarity(at + i * w, target + i * w, batch) +
			      (double)*batch->beyond;
		for (size_t list = 0; list < 2; list++)
			for (size_t t = 0; t < texts; t++)
				c->similar[back][(2 * i + list) * texts + t] =
				    similarity(
					vectors + anchor_of(batch, back, list, i) * w,
					vectors + t * w, batch) > most;
	}
}

static int64_t
key_of(const struct loss_batch *batch, int kind, size_t t)
{
	const struct loss_keys *keys = &batch->keys[kind];

	return t < batch->rows	     ? keys->query[t]
	       : t < 2 * batch->rows ? keys->document[t - batch->rows]
				     : keys->negatives[t - 2 * batch->rows];
}

/* Is text t equal to one of row i, or does it belong to an equal one? */
static bool
equal(const struct loss_batch *batch, size_t i, size_t t)
{
	size_t rows = batch->rows;

	for (int kind = 0; batch->keys && kind < LOSS_KEYS; kind++) {
		int64_t query = key_of(batch, kind, i),
			document = key_of(batch, kind, rows + i),
			key = key_of(batch, kind, t);
		if (key == query || key == document ||
		    (t < rows && key_of(batch, kind, rows + t) == document) ||
		    (t >= rows && t < 2 * rows && key_of(batch, kind, t - rows) == query))
			return true;
	}
	return false;
}

static double
plain_way(const double *vectors, const struct case_of_loss *c, bool back)
{
	const struct loss_batch *batch = &c->batch;
	size_t texts = texts_of(batch);
	double loss = 0;

	for (size_t i = 0; i < batch->rows; i++) {
		double sum = 0, positive = 0;
		for (size_t j = 0; j < 2 * texts; j++) {
			size_t list = j / texts, t = j % texts;
			bool chosen = right(batch, back, list, i, t);
			if (!compared(batch, back, list, i, t))
				continue;
			double s = similarity(vectors + anchor_of(batch, back, list, i) *
							    batch->width,
				       vectors + t * batch->width, batch) /
				   (double)batch->temperature;
			if (chosen ||
			    (!c->similar[back][2 * i * texts + j] && !equal(batch, i, t)))
				sum += exp(s);
			if (chosen && !list)
				positive = s;
		}
		loss += log(sum) - positive;
	}
	return loss / (double)batch->rows;
}

static double
plain(const double *vectors, const struct case_of_loss *c)
{
	double loss = plain_way(vectors, c, false);

	if (c->batch.bidirectional)
		loss += plain_way(vectors, c, true);
	return loss;
}

/* Random vectors of a guide, of length 1, and which texts they find too similar. */
static float *
draw_guide(struct case_of_loss *c, size_t width, struct rng *rng)
{
	size_t texts = texts_of(&c->batch);
	float *guide = nn_alloc(texts * width * sizeof *guide);
	double *exact = mem_new(texts * width, sizeof *exact);
	struct case_of_loss other = *c;

	for (size_t i = 0; i < texts * width; i++)
		guide[i] = (float)rng_normal(rng);
	nn_normalize(guide, NULL, guide, texts, width);
	for (size_t i = 0; i < texts * width; i++)
		exact[i] = (double)guide[i];
	other.batch.width = width;
	other.batch.dot = false;
	for (int back = 0; back < 2; back++) {
		find_similar(&other, exact, back);
		c->similar[back] = other.similar[back];
	}
	c->batch.guide = guide;
	c->batch.guide_width = width;
	free(exact);
	return guide;
}

/* The greatest error of the loss, and of some components of its gradient by central differences. */
static double
compare(struct loss *loss, const struct case_of_loss *c, double *exact, float *vectors,
    float *gradient, struct rng *rng)
{
	size_t count = texts_of(&c->batch) * c->batch.width;
	double correct, expected = plain(exact, c), scale = 0;

	loss_infonce_begin(loss, gradient, vectors, &c->batch);
	double got = loss_infonce_end(loss, &correct);
	double worst = fabs(got - expected) /
		       (1 + expected); /* the loss is 0 if no candidate remains */

	for (size_t i = 0; i < count; i++)
		scale = larger(scale, fabs((double)gradient[i]));
	scale = larger(
	    scale, 1e-3); /* one row whose negatives all share its key has no gradient */
	size_t slopes = c->batch.rows > 100 && SLOPES > 12
			    ? 12
			    : SLOPES; /* with many rows each difference takes long */
	for (size_t n = 0; n < slopes; n++) {
		size_t i = rng_below(rng, count);
		double old = exact[i], step = 1e-5;
		exact[i] = old + step;
		double slope = plain(exact, c);
		exact[i] = old - step;
		slope = (slope - plain(exact, c)) / (2 * step);
		exact[i] = old;
		worst = larger(worst, fabs(slope - (double)gradient[i]) / scale);
	}
	return worst;
}

static double
check(struct loss *loss, size_t rows, size_t negatives, size_t width, int how,
    struct rng *rng)
{
	static const float beyond = 0.1f;
	bool keyed = how & KEYED, dot = how & DOT;
	size_t texts = 2 * rows + negatives, count = texts * width, wide = width + 3;
	double *exact = mem_new(count, sizeof *exact);
	float *vectors = nn_alloc(count * sizeof *vectors), *guide = NULL,
	      *gradient = nn_alloc(count * sizeof *vectors);
	int64_t *keys = mem_new(LOSS_KEYS * texts, sizeof *keys),
		*owners = mem_new(negatives + 1, sizeof *owners);
	struct loss_keys pointers[LOSS_KEYS];
	struct case_of_loss c = { .batch = { .rows = rows,
				      .negatives = negatives,
				      .width = width,
				      .temperature = dot ? 1 : 0.2f,
				      .bidirectional = how & BOTH,
				      .dot = dot,
				      .keys = keyed ? pointers : NULL,
				      .beyond = how & (SIMILAR | GUIDE) ? &beyond : NULL,
				      .terms = how / TERM,
				      .own_only = how & OWN,
				      .owners = how & (OWN | DD) ? owners : NULL } };

	for (size_t i = 0; i < LOSS_KEYS * texts; i++)
		keys[i] = (int64_t)rng_below(rng, (i < texts ? 3 : 9) * rows);
	for (size_t kind = 0; kind < LOSS_KEYS; kind++) {
		const int64_t *own = keys + kind * texts;
		pointers[kind] = (struct loss_keys){ own, own + rows, own + 2 * rows };
	}
	for (size_t k = 0; k < negatives; k++)
		owners[k] = (int64_t)rng_below(rng, rows);
	for (size_t i = 0; i < count; i++)
		exact[i] = vectors[i] = (float)rng_normal(rng);
	if (how & GUIDE)
		guide = draw_guide(&c, wide, rng);
	for (int back = 0; back < 2 && !guide; back++)
		find_similar(&c, exact, back);
	double worst = compare(loss, &c, exact, vectors, gradient, rng);
	printf("rows %zu negatives %zu%s%s%s%s%s%s%s%s%s: %.1e\n", rows, negatives,
	    keyed ? " keys" : "", how & BOTH ? " bidirectional" : "", dot ? " dot" : "",
	    how & SIMILAR ? " similar left out" : "", how & GUIDE ? " guide" : "",
	    how & OWN ? " own negatives" : "", how & QQ ? " qq" : "",
	    how & DQ ? " dq" : "", how & DD ? " dd" : "", worst);
	free(c.similar[0]);
	free(c.similar[1]);
	nn_free(guide, guide ? texts * wide * sizeof *guide : 0);
	nn_free(vectors, count * sizeof *vectors);
	nn_free(gradient, count * sizeof *gradient);
	free(exact);
	free(keys);
	free(owners);
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
		if (!(how & SIMILAR) ||
		    how == (SIMILAR | KEYED | BOTH)) /* rows for two blocks */
			worst = larger(worst, check(loss, 530, 20, 4, how, &rng));
	}
	static const int more[] = { QQ, DQ, DD | DOT, KEYED | QQ | DD, QQ | DQ | DD,
		KEYED | SIMILAR | QQ | DQ | DD, OWN, OWN | KEYED | SIMILAR, GUIDE,
		GUIDE | BOTH | KEYED, GUIDE | QQ | DD, GUIDE | DOT | QQ | DQ | DD };
	for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
		worst = larger(worst, check(loss, 1, 2, 8, more[i], &rng));
		worst = larger(worst, check(loss, 9, 0, 16, more[i], &rng));
		worst = larger(worst, check(loss, 24, 50, 12, more[i], &rng));
	}
	worst = larger(worst, check(loss, 530, 20, 4, KEYED | QQ | DQ | DD, &rng));
	loss_free(loss);
	struct relation_loss *relations = relation_loss_new();
	worst = larger(worst, check_relations(relations, 1, 0, 3, &rng));
	worst = larger(worst, check_relations(relations, 9, 4, 8, &rng));
	worst = larger(worst, check_relations(relations, 4, 0, 16, &rng));
	relation_loss_free(relations);
	return worst < 1e-4 ? 0 : 1;
}
