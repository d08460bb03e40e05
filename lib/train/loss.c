#include "train/loss.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/nn.h"
#include "train/candidates.h"
#include "train/loss_mask.h"

enum { BLOCK_BYTES = 32 << 20, BLOCK_ROWS = 512, BLOCK_ROWS_LEAST = 16 };

/* Scratch memory, reused in each step; grows to the largest batch. */
struct loss {
	float *logits;	      /* [block, candidates] */
	int32_t *targets;     /* [block] */
	uint8_t *mask;	      /* [block, candidates] */
	float *lengths;	      /* [vectors] */
	float *host_logits;   /* [block, candidates] */
	struct nn_loss *sums; /* of the two directions */
	struct nn_loss got[2];
	struct nn_transfer *transfer;
	size_t all; /* rows */
	bool twice; /* the right candidate is in both lists of a row */
	struct candidates candidates, guide;
	float *twins;		       /* [2, block] */
	int32_t *places, *host_places; /* [2, block] of them in `logits` */
	size_t twins_size, places_size, host_places_capacity;
	float *pairs, *dpairs; /* [block, 2, width] a query and its document; gradient */
	int32_t *order, *host_order;
	size_t pairs_size, dpairs_size, order_size, host_order_capacity;
	size_t logits_size, targets_size, mask_size, lengths_size; /* bytes */
	uint8_t *host_mask;
	int32_t *host_targets;
	size_t host_mask_capacity, host_targets_capacity, host_logits_capacity;
};

struct loss *
loss_new(void)
{
	struct loss *loss = mem_zero(1, sizeof *loss);

	loss->sums = nn_alloc(2 * sizeof *loss->sums);
	return loss;
}

void
loss_free(struct loss *loss)
{
	nn_free(loss->logits, loss->logits_size);
	nn_free(loss->targets, loss->targets_size);
	nn_free(loss->mask, loss->mask_size);
	nn_free(loss->lengths, loss->lengths_size);
	nn_free(loss->sums, 2 * sizeof *loss->sums);
	nn_free(loss->pairs, loss->pairs_size);
	nn_free(loss->dpairs, loss->dpairs_size);
	nn_free(loss->order, loss->order_size);
	nn_free(loss->twins, loss->twins_size);
	nn_free(loss->places, loss->places_size);
	free(loss->host_places);
	candidates_free(&loss->candidates);
	candidates_free(&loss->guide);
	free(loss->host_order);
	free(loss->host_mask);
	free(loss->host_targets);
	free(loss->host_logits);
	free(loss);
}

static size_t
block_rows(size_t candidates)
{
	size_t rows = BLOCK_BYTES / sizeof(float) / candidates;

	return rows > BLOCK_ROWS	 ? BLOCK_ROWS
	       : rows < BLOCK_ROWS_LEAST ? BLOCK_ROWS_LEAST
					 : rows;
}

/*
 * One direction of the loss: this rank's rows choose among the candidates `to`.  Row r has a vector of `from` for each of its lists
 * (loss_mask.h): its own, or its query's and its document's.
 */
struct direction {
	const float *from, *to, *guide; /* guide: of the candidates; NULL: none */
	float *dfrom, *dto;
	size_t rows, first; /* `from` is row `first` of all ranks */
	struct loss_mask mask;
	struct nn_loss *sum;
};

/* Clears the masks of candidates whose similarity, in `logits`, is greater than the right one's by more than `beyond`. */
static void
mask_similar(struct loss *loss, const struct direction *direction, size_t first,
    size_t rows, float beyond)
{
	size_t all = loss_mask_lists(&direction->mask) * direction->mask.layout.count;

	loss->host_logits = mem_grow(loss->host_logits, &loss->host_logits_capacity,
	    rows * all, sizeof *loss->host_logits);
	nn_download(loss->host_logits, loss->logits, rows * all * sizeof *loss->logits);
	for (size_t r = 0; r < rows; r++) {
		const float *logits = loss->host_logits + r * all;
		uint8_t *mask = loss->host_mask + r * all;
		float most = logits[loss->host_targets[r]] + beyond;

		for (size_t j = 0; j < all; j++)
			mask[j] &= !(logits[j] > most);
		loss_mask_keep(mask, &direction->mask, first + r);
	}
}

static void
reserve(struct loss *loss, size_t rows, size_t candidates)
{
	loss->logits = nn_reserve(
	    loss->logits, &loss->logits_size, rows * candidates, sizeof *loss->logits);
	loss->mask = nn_reserve(loss->mask, &loss->mask_size, rows * candidates, 1);
	loss->targets =
	    nn_reserve(loss->targets, &loss->targets_size, rows, sizeof *loss->targets);
	loss->host_mask =
	    mem_grow(loss->host_mask, &loss->host_mask_capacity, rows * candidates, 1);
	loss->host_targets = mem_grow(loss->host_targets, &loss->host_targets_capacity,
	    rows, sizeof *loss->host_targets);
}

/*
 * The vectors of `rows` rows, from row r of `vectors` on: they lie there, or are copied so that each query is followed by its
 * document, which lies `apart` rows behind it.
 */
static const float *
rows_of(struct loss *loss, const float *vectors, size_t r, size_t rows, size_t apart,
    size_t lists, size_t width)
{
	if (lists == 1)
		return vectors + r * width;
	loss->host_order = mem_grow(loss->host_order, &loss->host_order_capacity,
	    2 * rows, sizeof *loss->host_order);
	loss->order =
	    nn_reserve(loss->order, &loss->order_size, 2 * rows, sizeof *loss->order);
	loss->pairs = nn_reserve(
	    loss->pairs, &loss->pairs_size, 2 * rows, width * sizeof *loss->pairs);
	for (size_t i = 0; i < 2 * rows; i++)
		loss->host_order[i] = (int32_t)(r + i / 2 + (i % 2 ? apart : 0));
	nn_upload(loss->order, loss->host_order, 2 * rows * sizeof *loss->order);
	nn_gather(loss->pairs, vectors, loss->order, 2 * rows, width);
	return loss->pairs;
}

/*
 * A query's similarity to its document and the document's to the query are one number, but two places of a product may round it
 * differently, and then only one of them would be the greatest.  The second becomes the first.
 */
static void
equal_twins(struct loss *loss, const struct loss_mask *mask, size_t first, size_t rows)
{
	size_t count = mask->layout.count;

	loss->host_places = mem_grow(loss->host_places, &loss->host_places_capacity,
	    2 * rows, sizeof *loss->host_places);
	loss->places =
	    nn_reserve(loss->places, &loss->places_size, 2 * rows, sizeof *loss->places);
	loss->twins =
	    nn_reserve(loss->twins, &loss->twins_size, 2 * rows, sizeof *loss->twins);
	for (size_t i = 0; i < rows; i++) {
		size_t row = 2 * i * count, query = mask->layout.queries + first + i;
		loss->host_places[i] = (int32_t)(row + query + count);
		loss->host_places[rows + i] =
		    (int32_t)(row + loss_mask_target(mask, first + i));
	}
	nn_upload(loss->places, loss->host_places, 2 * rows * sizeof *loss->places);
	nn_gather(loss->twins, loss->logits, loss->places, 2 * rows, 1);
	nn_scale(loss->twins, -1, rows);
	nn_add(loss->twins, loss->twins + rows, rows);
	nn_scatter_add(loss->logits, loss->twins, loss->places, rows, 1);
}

/* Fills the masks of a block and the similarities in loss->logits; returns whether a candidate is left out. */
static bool
compare(struct loss *loss, const struct direction *direction, const float **mine,
    size_t r, size_t rows, const struct loss_batch *batch)
{
	const struct loss_mask *mask = &direction->mask;
	size_t lists = loss_mask_lists(mask), count = mask->layout.count;
	size_t first = direction->first + r;
	bool masked = loss_mask_needed(mask) || batch->beyond;

	for (size_t i = 0; i < rows; i++) {
		loss->host_targets[i] = (int32_t)loss_mask_target(mask, first + i);
		if (masked)
			loss_mask_row(
			    loss->host_mask + i * lists * count, mask, first + i);
	}
	nn_upload(loss->targets, loss->host_targets, rows * sizeof *loss->targets);
	if (direction->guide) {
		size_t wide = batch->guide_width;
		const float *guide = batch->guide + (mask->back ? batch->rows * wide : 0);
		guide = rows_of(loss, guide, r, rows, batch->rows, lists, wide);
		nn_product_nt(loss->logits, guide, direction->guide, lists * rows, count,
		    wide, 1, 0);
		mask_similar(loss, direction, first, rows, *batch->beyond);
	}
	float scale = 1 / batch->temperature;
	*mine = rows_of(loss, direction->from, r, rows, batch->rows, lists, batch->width);
	nn_product_nt(loss->logits, *mine, direction->to, lists * rows, count,
	    batch->width, scale, 0);
	if (mask->terms & LOSS_DQ)
		equal_twins(loss, mask, first, rows);
	if (batch->beyond && !direction->guide)
		mask_similar(loss, direction, first, rows, *batch->beyond * scale);
	return masked && memchr(loss->host_mask, 0, rows * lists * count);
}

/* Adds to both gradients and the sum. */
static void
one_direction(
    struct loss *loss, const struct direction *direction, const struct loss_batch *batch)
{
	size_t lists = loss_mask_lists(&direction->mask),
	       count = direction->mask.layout.count, width = batch->width,
	       block = block_rows(lists * count);
	float scale = 1 / batch->temperature;

	if (block > direction->rows)
		block = direction->rows;
	reserve(loss, block, lists * count);
	for (size_t r = 0; r < direction->rows; r += block) {
		size_t rows = direction->rows - r < block ? direction->rows - r : block;
		const float *mine;
		bool left_out = compare(loss, direction, &mine, r, rows, batch);
		float *dmine = direction->dfrom + r * width;

		if (left_out)
			nn_upload(loss->mask, loss->host_mask, rows * lists * count);
		nn_cross_entropy(loss->logits, direction->sum, loss->targets,
		    left_out ? loss->mask : NULL, 1 / (float)direction->mask.rows, rows,
		    lists * count);
		if (lists == 2)
			dmine = loss->dpairs = nn_reserve(loss->dpairs,
			    &loss->dpairs_size, 2 * rows, width * sizeof *dmine);
		nn_product_nn(dmine, loss->logits, direction->to, lists * rows, width,
		    count, scale, lists == 1);
		if (lists == 2)
			nn_scatter_add(
			    direction->dfrom, dmine, loss->order, 2 * rows, width);
		nn_product_tn(direction->dto, loss->logits, mine, count, width,
		    lists * rows, scale, 1);
	}
}

/* The rows choose among the documents and negatives, and with terms among the queries; `back`: documents choose among the queries. */
static struct direction
direction_of(struct loss *loss, const struct loss_batch *batch, bool back)
{
	const struct candidates *c = &loss->candidates;
	struct loss_layout at = c->at;
	size_t first = 0;

	if (back) {
		first = at.queries;
		at = (struct loss_layout){ 0, SIZE_MAX, SIZE_MAX, c->rows };
	} else if (!batch->terms) {
		first = at.documents;
		at = (struct loss_layout){ SIZE_MAX, 0, c->rows, c->rows + c->negatives };
	}
	return (struct direction){
		.to = c->all + first * batch->width,
		.dto = c->dall + first * batch->width,
		.guide =
		    batch->guide ? loss->guide.all + first * batch->guide_width : NULL,
		.rows = batch->rows,
		.first = c->first,
		.mask = { at, back, c->rows, c->negatives, c->keyed ? c->keys : NULL,
		    c->owners, batch->terms, batch->own_only && !back },
		.sum = &loss->sums[back],
	};
}

void
loss_infonce_begin(
    struct loss *loss, float *gradient, float *vectors, const struct loss_batch *batch)
{
	size_t rows = batch->rows, width = batch->width,
	       count = 2 * rows + batch->negatives;
	struct candidates *c = &loss->candidates;
	struct nn_loss sums[2] = { { 0, 0 }, { 0, 0 } };

	nn_upload(loss->sums, sums, sizeof sums);
	loss->lengths =
	    nn_reserve(loss->lengths, &loss->lengths_size, count, sizeof *loss->lengths);
	if (!batch->dot)
		nn_normalize(vectors, loss->lengths, vectors, count, width);
	nn_zero(gradient, count * width);
	candidates_gather(c, gradient, vectors, batch, true);
	if (batch->guide) {
		struct loss_batch guide = *batch;
		guide.width = batch->guide_width;
		guide.keys = NULL;
		guide.owners = NULL;
		candidates_gather(&loss->guide, NULL, batch->guide, &guide, false);
	}
	for (int back = 0; back <= batch->bidirectional; back++) {
		struct direction direction = direction_of(loss, batch, back);
		direction.from = vectors + (back ? rows * width : 0);
		direction.dfrom = gradient + (back ? rows * width : 0);
		one_direction(loss, &direction, batch);
	}
	candidates_return(c, gradient, batch);
	if (!batch->dot)
		nn_normalize_back(
		    gradient, gradient, vectors, loss->lengths, count, width);
	loss->all = c->rows;
	loss->twice = batch->terms & LOSS_DQ;
	loss->transfer = nn_download_begin(loss->got, loss->sums, sizeof loss->got);
}

double
loss_infonce_end(struct loss *loss, double *correct)
{
	double all = (double)loss->all;

	nn_download_end(loss->transfer);
	/* the right candidate is in both lists, which share its row */
	*correct = loss->got[0].correct * (loss->twice ? 2 : 1);
	return loss->got[0].loss / all + loss->got[1].loss / all;
}
