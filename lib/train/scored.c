/*
 * Losses of pairs with scores, through the gradient cache: cosent, angle, mse, contrastive, online; of a teacher's scores: margin, kl;
 * of triplets, without scores: triplet.
 *
 * Similarities, loss and their gradients are computed in double on the host: they are small beside the embeddings.  With several ranks
 * (ranks.h) each gathers the similarities and scores of all, and takes the gradient of its own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "nn/nn.h"
#include "ranks/ranks.h"
#include "score/measure/correlation.h"
#include "train/pair_loss.h"
#include "train/paired.h"

/* Pairs: similarities, scores, the row of each negative, the gradient of the similarities. */
struct scored_pairs {
	double *s, *t, *ds;
	int64_t *row;
	size_t rows, count, room[4];
};

struct scored {
	struct paired pairs;
	struct scored_pairs own, all; /* of this rank; of all ranks */
	float *host, *gradient;	      /* [vectors, width] */
	float *lengths;		      /* nn memory, [vectors] */
	size_t host_room, gradient_room, lengths_size;
	struct scored_pairs measured; /* similarities and scores of held-out pairs */
};

/* A type of objective: its loss and similarity. */
struct scored_kind {
	const struct objective_type *type;
	enum pair_loss_kind loss;
	bool angle;	    /* AnglE's similarity, not the cosine */
	bool candidates;    /* a loss of a row's candidates: it needs negatives */
	double temperature; /* default */
};
static const struct scored_kind *kind_of(const struct objective *objective);

static void
reserve(struct scored_pairs *pairs, size_t rows, size_t count)
{
	pairs->rows = rows;
	pairs->count = count;
	pairs->s = mem_grow(pairs->s, &pairs->room[0], count, sizeof *pairs->s);
	pairs->t = mem_grow(pairs->t, &pairs->room[1], count, sizeof *pairs->t);
	pairs->ds = mem_grow(pairs->ds, &pairs->room[2], count, sizeof *pairs->ds);
	pairs->row = mem_grow(pairs->row, &pairs->room[3], count, sizeof *pairs->row);
}

static void
drop(struct scored_pairs *pairs)
{
	free(pairs->s);
	free(pairs->t);
	free(pairs->ds);
	free(pairs->row);
}

/* Similarities. -------------------------------------------------------------------- */

/* Component c of y turned by a quarter in the plane of c and c + C/2, so that x . turn(y) is the sum of AnglE's sines. */
static double
turned(const float *y, size_t c, size_t width)
{
	size_t half = (width + 1) / 2;

	if (c >= half)
		return y[c - half];
	return c + half < width ? -(double)y[c + half] : 0;
}

/* AnglE's similarity before its absolute value is x . (y + turned(y)); the cosine is x . y. */
static double
similarity(const float *x, const float *y, size_t width, bool angle)
{
	double sum = 0;

	for (size_t c = 0; c < width; c++)
		sum += (double)x[c] * (y[c] + (angle ? turned(y, c, width) : 0));
	return sum;
}

/* Adds ds times the gradient of x . y, or of x . (y + turned(y)); the transpose of a turn is the turn back. */
static void
add_gradient(float *dx, float *dy, const float *x, const float *y, double ds,
    size_t width, bool angle)
{
	for (size_t c = 0; c < width; c++) {
		dx[c] += (float)(ds * (y[c] + (angle ? turned(y, c, width) : 0)));
		dy[c] += (float)(ds * (x[c] - (angle ? turned(x, c, width) : 0)));
	}
}

/* The vectors of pair p: queries, documents, negatives lie one after another. */
static size_t
query_of(const struct scored_pairs *pairs, size_t p)
{
	return p < pairs->rows ? p : (size_t)pairs->row[p - pairs->rows];
}

/* A label between them would be in neither of the sums of online. */
static void
demand_binary(const struct contrast_batch *batch)
{
	for (int64_t i = 0; i < batch->rows + batch->negatives; i++)
		if (batch->scores[i] != 0 && batch->scores[i] != 1)
			die("%s: record %lld: the label %g is neither 0 nor 1, as online has them",
			    batch->stream, (long long)batch->record, batch->scores[i]);
}

static void
compare(struct scored *scored, const struct contrast_batch *batch, size_t width)
{
	const struct scored_kind *kind = kind_of(&scored->pairs.objective);
	struct scored_pairs *pairs = &scored->own;
	size_t rows = (size_t)batch->rows, negatives = (size_t)batch->negatives;

	if (kind->loss == PAIR_CONTRASTIVE)
		paired_demand_labels(&scored->pairs, batch);
	if (kind->loss == PAIR_ONLINE)
		demand_binary(batch);
	reserve(pairs, rows, rows + negatives);
	memset(pairs->t, 0, pairs->count * sizeof *pairs->t);
	if (rows && batch->scores)
		memcpy(pairs->t, batch->scores, pairs->count * sizeof *pairs->t);
	if (negatives)
		memcpy(pairs->row, batch->negative_rows, negatives * sizeof *pairs->row);
	for (size_t p = 0; p < pairs->count; p++)
		pairs->s[p] = similarity(scored->host + query_of(pairs, p) * width,
		    scored->host + (rows + p) * width, width, kind->angle);
}

/* The loss. ------------------------------------------------------------------------ */

/* Copies `count` values of each rank, which has them at `from`, one rank after another; most: the largest count. */
static void
gather(void *to, const void *from, const size_t *counts, size_t most, size_t size)
{
	size_t ranks = (size_t)ranks_count(), bytes = most * size, at = 0;
	char *mine = mem_zero(most + 1, size), *all = mem_new(ranks, bytes + 1);

	memcpy(mine, from, counts[ranks_own()] * size);
	ranks_gather(all, mine, bytes);
	for (size_t r = 0; r < ranks; r++) {
		memcpy((char *)to + at, all + r * bytes, counts[r] * size);
		at += counts[r] * size;
	}
	free(mine);
	free(all);
}

/* Gathers the pairs of all ranks: first all documents, then all negatives.  Sets where this rank's lie. */
static void
gather_all(struct scored *scored, const struct loss_parts *parts, size_t place[2])
{
	size_t ranks = (size_t)ranks_count(), most[2] = { 0, 0 }, *counts[2];
	struct scored_pairs *one = &scored->own, *all = &scored->all;
	const size_t *starts[2] = { parts->rows, parts->negatives };

	reserve(all, parts->rows[ranks], parts->rows[ranks] + parts->negatives[ranks]);
	for (int side = 0; side < 2; side++) {
		counts[side] = mem_new(ranks, sizeof *counts[side]);
		for (size_t r = 0; r < ranks; r++) {
			counts[side][r] = starts[side][r + 1] - starts[side][r];
			if (counts[side][r] > most[side])
				most[side] = counts[side][r];
		}
		size_t to = side ? all->rows : 0, from = side ? one->rows : 0;
		place[side] = to + starts[side][ranks_own()];
		gather(
		    all->s + to, one->s + from, counts[side], most[side], sizeof *all->s);
		gather(
		    all->t + to, one->t + from, counts[side], most[side], sizeof *all->t);
	}
	gather(all->row, one->row, counts[1], most[1], sizeof *all->row);
	for (size_t r = 0, k = 0; r < ranks; r++)
		for (size_t i = 0; i < counts[1][r]; i++)
			all->row[k++] += (int64_t)parts->rows[r];
	free(counts[0]);
	free(counts[1]);
}

/* Sets the loss of all ranks' pairs and the gradient of this rank's similarities. */
static void
measure(struct scored *scored, const struct contrast_batch *batch, bool alone)
{
	const struct objective_options *o = &scored->pairs.objective.options;
	const struct scored_kind *kind = kind_of(&scored->pairs.objective);
	bool shared = !alone && ranks_count() > 1;
	struct scored_pairs *one = &scored->own, *all = shared ? &scored->all : one;
	size_t place[2] = { 0, one->rows };

	if (shared)
		gather_all(scored, &batch->parts, place);
	if (kind->candidates && all->count == all->rows)
		die("%s: record %lld: has no negatives, which %s needs (negatives.ids)",
		    batch->stream, (long long)batch->record, kind->type->name);
	for (size_t p = 0; kind->angle && p < all->count; p++)
		all->s[p] = fabs(all->s[p]);
	scored->pairs.loss = pair_loss(&(struct pair_loss){ .kind = kind->loss,
					   .temperature = batch->temperature,
					   .margin = o->margin,
					   .rows = all->rows,
					   .count = all->count,
					   .row = all->row,
					   .s = all->s,
					   .t = all->t,
					   .ds = all->ds },
	    &scored->pairs.correct);
	if (!kind->candidates)
		scored->pairs.correct = NAN;
	if (!shared)
		return;
	memcpy(one->ds, all->ds + place[0], one->rows * sizeof *one->ds);
	memcpy(one->ds + one->rows, all->ds + place[1],
	    (one->count - one->rows) * sizeof *one->ds);
	if (ranks_own()) /* the first rank has it all */
		scored->pairs.loss = scored->pairs.correct = 0;
}

static void
set_gradient(struct scored *scored, const struct contrast_batch *batch, size_t width)
{
	bool angle = kind_of(&scored->pairs.objective)->angle;
	struct scored_pairs *pairs = &scored->own;
	size_t rows = pairs->rows, count = (size_t)(2 * batch->rows + batch->negatives);

	scored->gradient = mem_grow(scored->gradient, &scored->gradient_room, count,
	    width * sizeof *scored->gradient);
	memset(scored->gradient, 0, count * width * sizeof *scored->gradient);
	for (size_t p = 0; p < pairs->count; p++) {
		size_t q = query_of(pairs, p) * width, d = (rows + p) * width;
		const float *x = scored->host + q, *y = scored->host + d;
		bool below = angle && similarity(x, y, width, true) < 0;
		add_gradient(scored->gradient + q, scored->gradient + d, x, y,
		    below ? -pairs->ds[p] : pairs->ds[p], width, angle);
	}
}

static void
begin(struct paired *pairs, const struct contrast_batch *batch, float *vectors,
    struct batch_report *report)
{
	struct scored *scored = (struct scored *)pairs;
	bool dot = pairs->objective.options.dot;
	size_t width = pairs->width;
	size_t count = (size_t)(2 * batch->rows + batch->negatives);

	scored->lengths = nn_reserve(
	    scored->lengths, &scored->lengths_size, count, sizeof *scored->lengths);
	if (!dot)
		nn_normalize(vectors, scored->lengths, vectors, count, width);
	scored->host = mem_grow(
	    scored->host, &scored->host_room, count, width * sizeof *scored->host);
	nn_download(scored->host, vectors, count * width * sizeof *scored->host);
	compare(scored, batch, width);
	measure(scored, batch, !report);
	if (!report)
		return;
	set_gradient(scored, batch, width);
	nn_upload(pairs->gradient, scored->gradient, count * width * sizeof(float));
	if (!dot)
		nn_normalize_back(pairs->gradient, pairs->gradient, vectors,
		    scored->lengths, count, width);
}

/* The objective. ------------------------------------------------------------------- */

static void
open_scored(struct objective *objective, const char *path)
{
	struct paired *pairs = (struct paired *)objective;

	objective->options.contrast.scores = kind_of(objective)->loss != PAIR_TRIPLET;
	objective->options.contrast.usual_temperature = kind_of(objective)->temperature;
	paired_open(objective, path);
	pairs->begin = begin;
}

static void
close_scored(struct objective *objective)
{
	struct scored *scored = (struct scored *)objective;

	paired_close(objective);
	drop(&scored->own);
	drop(&scored->all);
	drop(&scored->measured);
	free(scored->host);
	free(scored->gradient);
	nn_free(scored->lengths, scored->lengths_size);
}

static void
add_settings(const struct objective_options *o, struct tree *settings)
{
	paired_settings(o, settings);
	tree_set(settings, "margin", tree_of_real(o->margin));
}

/* Adds the similarities of the batch to those of the held-out pairs. */
static void
begin_held_out(struct paired *pairs, const struct contrast_batch *batch, float *vectors,
    struct batch_report *report)
{
	struct scored *scored = (struct scored *)pairs;
	struct scored_pairs *from = &scored->own, *to = &scored->measured;
	size_t before = to->count;

	begin(pairs, batch, vectors, report);
	reserve(to, 0, before + from->count);
	memcpy(to->s + before, from->s, from->count * sizeof *to->s);
	memcpy(to->t + before, from->t, from->count * sizeof *to->t);
}

/* The best step has the greatest correlation of similarities and scores. */
static void
dev_scored(struct objective *objective, struct dev_report *report)
{
	struct scored *scored = (struct scored *)objective;
	struct scored_pairs *measured = &scored->measured;

	measured->count = 0;
	scored->pairs.begin = begin_held_out;
	paired_dev(objective, report);
	scored->pairs.begin = begin;
	report->spearman =
	    correlation_spearman(measured->s, measured->t, (int64_t)measured->count);
	/* not defined of equal scores, or of equal similarities */
	if (!isfinite(report->spearman))
		report->spearman = 0;
	report->best = report->spearman;
}

#define FUNCTIONS                                                                        \
	.size = sizeof(struct scored), .rate = 2e-5, .balance = 0.001,                   \
	.open = open_scored, .close = close_scored, .settings = add_settings,            \
	PAIRED_FUNCTIONS

/* Scored pairs, and the scores of a teacher. */
#define PAIRS .dev_spearman = true, .dev = dev_scored, FUNCTIONS
#define TEACHER .dev_accuracy = true, .dev = paired_dev, FUNCTIONS
#define COMMON "balance lora freeze-documents documents matryoshka "

const struct objective_type objective_cosent = {
	.name = "cosent", .applies = COMMON "temperature similarity", PAIRS
};
const struct objective_type objective_angle = {
	.name = "angle", .applies = COMMON "temperature", PAIRS
};
const struct objective_type objective_mse = {
	.name = "mse", .applies = COMMON "similarity", PAIRS
};
const struct objective_type objective_contrastive = {
	.name = "contrastive", .applies = COMMON "margin", PAIRS
};
const struct objective_type objective_online = {
	.name = "online", .applies = COMMON "margin", PAIRS
};
const struct objective_type objective_margin_mse = {
	.name = "margin-mse", .applies = COMMON "similarity dev-corpus", TEACHER
};
const struct objective_type objective_kl = {
	.name = "kl", .applies = COMMON "temperature similarity dev-corpus", TEACHER
};
const struct objective_type objective_triplet = {
	.name = "triplet", .applies = COMMON "margin similarity dev-corpus", TEACHER
};

static const struct scored_kind *
kind_of(const struct objective *objective)
{
	static const struct scored_kind kinds[] = {
		{ &objective_cosent, PAIR_COSENT, false, false, 0.05 },
		{ &objective_angle, PAIR_COSENT, true, false, 0.05 },
		{ &objective_mse, PAIR_MSE, false, false, 1 },
		{ &objective_contrastive, PAIR_CONTRASTIVE, false, false, 1 },
		{ &objective_online, PAIR_ONLINE, false, false, 1 },
		{ &objective_margin_mse, PAIR_MARGIN, false, true, 1 },
		{ &objective_kl, PAIR_KL, false, true, 1 },
		{ &objective_triplet, PAIR_TRIPLET, false, true, 1 },
	};
	const struct scored_kind *kind = kinds;

	while (kind->type != objective->type)
		kind++;
	return kind;
}
