/*
 * Losses of a cross-encoder's logits, through the gradient cache: bce of labelled pairs, listnet of the candidates of a query.
 *
 * A "vector" of the gradient cache is the logit of a pair.  Both losses are means, over pairs or over queries, so that a rank
 * (ranks.h) computes its own share.
 */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/nn.h"
#include "ranks/ranks.h"
#include "train/pair_loss.h"
#include "train/pair_ranks.h"
#include "train/paired.h"

struct cross {
	struct paired pairs;
	float *logits; /* [sequences] on the host, later their gradient */
	double *s, *ds;
	size_t logits_room, s_room, ds_room;
	struct pair_ranks measured; /* of held-out pairs */
};

static bool
is_list(const struct cross *cross)
{
	return cross->pairs.objective.type == &objective_listnet;
}

/* Dies unless bce has labels, and listnet candidates. */
static void
check_scores(
    const struct cross *cross, const struct contrast_batch *batch, bool negatives)
{
	if (!is_list(cross))
		paired_demand_labels(&cross->pairs, batch);
	else if (!negatives)
		die("%s: record %lld: has one candidate a query; listnet needs negatives.ids",
		    batch->stream, (long long)batch->record);
}

/* A rank's share of a mean over all ranks' pairs or queries. */
static double
share_of(const struct cross *cross, const struct contrast_batch *batch)
{
	int ranks = ranks_count();
	const struct loss_parts *parts = &batch->parts;
	size_t all = parts->rows[ranks] + (is_list(cross) ? 0 : parts->negatives[ranks]);
	int64_t own = is_list(cross) ? batch->rows : batch->count;

	return (double)own / (double)all;
}

/* Without negatives: the number of pairs on the right side of one half. */
static double
count_right(const struct cross *cross, const struct contrast_batch *batch)
{
	double right = 0;

	for (int64_t i = 0; i < batch->rows; i++)
		right += (cross->s[i] > 0) == (batch->scores[i] > 0.5);
	return right;
}

static void
begin(struct paired *pairs, const struct contrast_batch *batch, float *vectors,
    struct batch_report *report)
{
	struct cross *cross = (struct cross *)pairs;
	size_t count = (size_t)batch->count;
	/* of all ranks' parts of a batch, unless it is held out */
	bool negatives =
	    batch->negatives || (report && batch->parts.negatives[ranks_count()] > 0);

	check_scores(cross, batch, negatives);
	cross->logits =
	    mem_grow(cross->logits, &cross->logits_room, count, sizeof *cross->logits);
	cross->s = mem_grow(cross->s, &cross->s_room, count, sizeof *cross->s);
	cross->ds = mem_grow(cross->ds, &cross->ds_room, count, sizeof *cross->ds);
	nn_download(cross->logits, vectors, count * sizeof *cross->logits);
	for (size_t i = 0; i < count; i++)
		cross->s[i] = cross->logits[i];
	pairs->loss = pair_loss(
	    &(struct pair_loss){ .kind = is_list(cross) ? PAIR_LISTNET : PAIR_BCE,
		.temperature = batch->temperature,
		.positive = pairs->objective.options.positive,
		.rows = (size_t)batch->rows,
		.count = count,
		.row = batch->negative_rows,
		.s = cross->s,
		.t = batch->scores,
		.ds = cross->ds },
	    &pairs->correct);
	if (!negatives)
		pairs->correct = count_right(cross, batch);
	if (!report)
		return;
	double share = share_of(cross, batch);
	pairs->loss *= share;
	for (size_t i = 0; i < count; i++)
		cross->logits[i] = (float)(share * cross->ds[i]);
	nn_upload(pairs->gradient, cross->logits, count * sizeof *cross->logits);
}

/* Held-out pairs. ------------------------------------------------------------------ */

/* The query of a pair: its row, or without negatives the tokens of its first segment, if the model has segments. */
static uint64_t
query_of(const struct contrast_batch *batch, int64_t pair)
{
	const struct sequence *s = &batch->sequences[pair];
	int64_t row =
	    pair < batch->rows ? pair : batch->negative_rows[pair - batch->rows];
	int64_t key[] = { batch->record, row };

	if (batch->negatives)
		return rng_hash(1, key, sizeof key);
	return s->second ? rng_hash(1, s->ids, (size_t)s->second * sizeof *s->ids) : 0;
}

static void
begin_held_out(struct paired *pairs, const struct contrast_batch *batch, float *vectors,
    struct batch_report *report)
{
	struct cross *cross = (struct cross *)pairs;

	begin(pairs, batch, vectors, report);
	for (int64_t i = 0; i < batch->count; i++)
		pair_ranks_add(
		    &cross->measured, query_of(batch, i), cross->s[i], batch->scores[i]);
}

/* The best step has the greatest nDCG@10, or, of pairs of different queries, the greatest average precision. */
static void
dev_cross(struct objective *objective, struct dev_report *report)
{
	struct cross *cross = (struct cross *)objective;

	cross->measured.count = 0;
	cross->pairs.begin = begin_held_out;
	paired_dev(objective, report);
	cross->pairs.begin = begin;
	report->ndcg = pair_ranks_ndcg(&cross->measured);
	report->precision = pair_ranks_precision(&cross->measured);
	if (!isnan(report->ndcg))
		report->best = report->ndcg;
	else if (!isnan(report->precision))
		report->best = report->precision;
}

/* The objective. ------------------------------------------------------------------- */

static void
open_cross(struct objective *objective, const char *path)
{
	struct paired *pairs = (struct paired *)objective;
	struct contrast_options *options = &objective->options.contrast;

	if (model_width(objective->model) != 1)
		die("%s: has %d labels; a reranker is trained with one",
		    model_dir(objective->model), model_width(objective->model));
	options->scores = options->pairs = options->keep_duplicates = true;
	options->usual_temperature = 1;
	paired_open(objective, path);
	pairs->begin = begin;
}

static void
close_cross(struct objective *objective)
{
	struct cross *cross = (struct cross *)objective;

	paired_close(objective);
	pair_ranks_free(&cross->measured);
	free(cross->logits);
	free(cross->s);
	free(cross->ds);
}

static void
add_settings(const struct objective_options *o, struct tree *settings)
{
	paired_settings(o, settings);
	tree_set(settings, "positive-weight", tree_of_real(o->positive));
}

#define FUNCTIONS                                                                        \
	.size = sizeof(struct cross), .rate = 2e-5, .balance = 0.001,                    \
	.classifies = true, .open = open_cross, .close = close_cross,                    \
	.settings = add_settings, .dev_accuracy = true, .dev_ranks = true,               \
	.dev = dev_cross, PAIRED_FUNCTIONS

const struct objective_type objective_bce = {
	.name = "bce", .applies = "positive-weight", FUNCTIONS
};
const struct objective_type objective_listnet = {
	.name = "listnet", .applies = "temperature", FUNCTIONS
};
