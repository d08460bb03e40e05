#include "train/loss.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/nn.h"
#include "train/candidates.h"

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
	struct candidates candidates;
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
	candidates_free(&loss->candidates);
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
 * One direction of the loss: the rows of `from`, number `first` and following of all ranks', choose among the candidates `to`: the
 * partners of all rows in order, then the negatives.  The keys are those of all ranks.
 */
struct direction_keys {
	const int64_t *own, *partner, *negatives;
};

struct direction {
	const float *from, *to;
	float *dfrom, *dto;
	size_t rows, first, all, candidates;
	const struct direction_keys *keys; /* [LOSS_KEYS]; NULL: nothing is left out */
	struct nn_loss *sum;
};

/* Clears the mask of candidates that are equal by one kind of keys. */
static void
mask_equal(uint8_t *mask, const struct direction *direction,
    const struct direction_keys *keys, size_t i)
{
	const int64_t *own = keys->own, *partner = keys->partner;
	int64_t self = own[i], positive = partner[i];

	for (size_t j = 0; j < direction->all; j++)
		mask[j] &= partner[j] != positive && own[j] != self && partner[j] != self;
	for (size_t k = direction->all; k < direction->candidates; k++) {
		int64_t negative = keys->negatives[k - direction->all];
		mask[k] &= negative != positive && negative != self;
	}
}

/* mask[candidates] of row i of all ranks: 1 for a candidate in the denominator.  Returns the number of zeros. */
static size_t
mask_row(uint8_t *mask, const struct direction *direction, size_t i)
{
	size_t dropped = 0;

	memset(mask, 1, direction->candidates);
	for (int kind = 0; kind < LOSS_KEYS; kind++)
		mask_equal(mask, direction, &direction->keys[kind], i);
	mask[i] = 1;
	for (size_t k = 0; k < direction->candidates; k++)
		dropped += !mask[k];
	return dropped;
}

/*
 * Clears the masks of candidates more similar than the row's own partner by more than `beyond`, and all that are equal by keys.
 * Returns the number of zeros.
 */
static size_t
mask_similar(
    struct loss *loss, const struct direction *direction, size_t rows, float beyond)
{
	size_t candidates = direction->candidates, dropped = 0;

	loss->host_logits = mem_grow(loss->host_logits, &loss->host_logits_capacity,
	    rows * candidates, sizeof *loss->host_logits);
	nn_download(
	    loss->host_logits, loss->logits, rows * candidates * sizeof *loss->logits);
	for (size_t r = 0; r < rows; r++) {
		const float *logits = loss->host_logits + r * candidates;
		uint8_t *mask = loss->host_mask + r * candidates;
		float most = logits[loss->host_targets[r]] + beyond;

		for (size_t j = 0; j < candidates; j++) {
			mask[j] =
			    (!direction->keys || mask[j]) &&
			    (!(logits[j] > most) || j == (size_t)loss->host_targets[r]);
			dropped += !mask[j];
		}
	}
	return dropped;
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

/* Adds to both gradients and the sum. */
static void
one_direction(
    struct loss *loss, const struct direction *direction, const struct loss_batch *batch)
{
	size_t block = block_rows(direction->candidates), width = batch->width,
	       candidates = direction->candidates;
	float scale = 1 / batch->temperature;

	if (block > direction->rows)
		block = direction->rows;
	reserve(loss, block, candidates);
	for (size_t first = 0; first < direction->rows; first += block) {
		size_t rows =
		    direction->rows - first < block ? direction->rows - first : block;
		const float *mine = direction->from + first * width;
		size_t dropped = 0;

		for (size_t r = 0; r < rows; r++) {
			size_t i = direction->first + first + r;
			loss->host_targets[r] = (int32_t)i;
			if (direction->keys)
				dropped += mask_row(
				    loss->host_mask + r * candidates, direction, i);
		}
		nn_upload(
		    loss->targets, loss->host_targets, rows * sizeof *loss->targets);
		nn_product_nt(
		    loss->logits, mine, direction->to, rows, candidates, width, scale, 0);
		if (batch->beyond)
			dropped =
			    mask_similar(loss, direction, rows, *batch->beyond * scale);
		if (dropped)
			nn_upload(loss->mask, loss->host_mask, rows * candidates);
		nn_cross_entropy(loss->logits, direction->sum, loss->targets,
		    dropped ? loss->mask : NULL, 1 / (float)direction->all, rows,
		    candidates);
		nn_product_nn(direction->dfrom + first * width, loss->logits,
		    direction->to, rows, width, candidates, scale, 1);
		nn_product_tn(direction->dto, loss->logits, mine, candidates, width, rows,
		    scale, 1);
	}
}

void
loss_infonce_begin(
    struct loss *loss, float *gradient, float *vectors, const struct loss_batch *batch)
{
	size_t rows = batch->rows, width = batch->width,
	       count = 2 * rows + batch->negatives;
	struct candidates *c = &loss->candidates;
	struct nn_loss sums[2] = { { 0, 0 }, { 0, 0 } };

	struct direction_keys there[LOSS_KEYS], back[LOSS_KEYS];

	nn_upload(loss->sums, sums, sizeof sums);
	loss->lengths =
	    nn_reserve(loss->lengths, &loss->lengths_size, count, sizeof *loss->lengths);
	if (!batch->dot)
		nn_normalize(vectors, loss->lengths, vectors, count, width);
	nn_zero(gradient, count * width);
	candidates_gather(c, gradient, vectors, batch);
	for (int kind = 0; c->keyed && kind < LOSS_KEYS; kind++) {
		const struct loss_keys *keys = &c->keys[kind];
		there[kind] = (struct direction_keys){ keys->query, keys->document,
			keys->negatives };
		back[kind] = (struct direction_keys){ keys->document, keys->query, NULL };
	}
	one_direction(loss,
	    &(struct direction){ vectors, c->documents, gradient, c->ddocuments, rows,
		c->first, c->rows, c->rows + c->negatives, c->keyed ? there : NULL,
		&loss->sums[0] },
	    batch);
	if (batch->bidirectional)
		one_direction(loss,
		    &(struct direction){ vectors + rows * width, c->queries,
			gradient + rows * width, c->dqueries, rows, c->first, c->rows,
			c->rows, c->keyed ? back : NULL, &loss->sums[1] },
		    batch);
	candidates_return(c, gradient, batch);
	if (!batch->dot)
		nn_normalize_back(
		    gradient, gradient, vectors, loss->lengths, count, width);
	loss->all = c->rows;
	loss->transfer = nn_download_begin(loss->got, loss->sums, sizeof loss->got);
}

double
loss_infonce_end(struct loss *loss, double *correct)
{
	double all = (double)loss->all;

	nn_download_end(loss->transfer);
	*correct = loss->got[0].correct;
	return loss->got[0].loss / all + loss->got[1].loss / all;
}

double
loss_infonce(struct loss *loss, float *gradient, float *vectors,
    const struct loss_batch *batch, double *correct)
{
	loss_infonce_begin(loss, gradient, vectors, batch);
	return loss_infonce_end(loss, correct);
}
