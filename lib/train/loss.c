#include "train/loss.h"

#include <stdlib.h>

#include "base/mem.h"
#include "nn/nn.h"

enum { BLOCK_BYTES = 32 << 20, BLOCK_ROWS = 512, BLOCK_ROWS_LEAST = 16 };

/* Kept between steps; grows to the largest batch. */
struct loss {
	float *logits;	      /* [block, candidates] */
	int32_t *targets;     /* [block] */
	uint8_t *mask;	      /* [block, candidates] */
	float *lengths;	      /* [vectors] */
	struct nn_loss *sums; /* of the two directions */
	size_t logits_size, targets_size, mask_size, lengths_size; /* bytes */
	uint8_t *host_mask;
	int32_t *host_targets;
	size_t host_mask_capacity, host_targets_capacity;
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
	free(loss->host_mask);
	free(loss->host_targets);
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

/* Which candidates take part in row i: those of its own side's partner first, then negatives.
 * own, partner: keys of the rows' side and of the candidates' side.  Returns how many do not. */
static size_t
mask_row(uint8_t *mask, const struct loss_batch *batch, const int64_t *own,
    const int64_t *partner, const int64_t *negatives, size_t i)
{
	int64_t self = own[i], positive = partner[i];
	size_t dropped = 0;

	for (size_t j = 0; j < batch->rows; j++) {
		mask[j] = partner[j] != positive && own[j] != self && partner[j] != self;
		dropped += !mask[j];
	}
	dropped -= !mask[i];
	mask[i] = 1;
	if (!negatives)
		return dropped;
	mask += batch->rows;
	for (size_t k = 0; k < batch->negatives; k++) {
		mask[k] = negatives[k] != positive && negatives[k] != self;
		dropped += !mask[k];
	}
	return dropped;
}

/* One direction: rows of `from` choose among `to` (candidates, the first `rows` of them their
 * partners in order).  Adds to both gradients and the sum. */
static void
one_way(struct loss *loss, float *dfrom, float *dto, struct nn_loss *sum,
    const float *from, const float *to, size_t candidates, const struct loss_batch *batch,
    const int64_t *own, const int64_t *partner, const int64_t *negatives)
{
	size_t block = block_rows(candidates), width = batch->width;
	float scale = 1 / batch->temperature;

	if (block > batch->rows)
		block = batch->rows;
	loss->logits = nn_reserve(
	    loss->logits, &loss->logits_size, block * candidates, sizeof *loss->logits);
	loss->mask = nn_reserve(loss->mask, &loss->mask_size, block * candidates, 1);
	loss->targets =
	    nn_reserve(loss->targets, &loss->targets_size, block, sizeof *loss->targets);
	loss->host_mask =
	    mem_grow(loss->host_mask, &loss->host_mask_capacity, block * candidates, 1);
	loss->host_targets = mem_grow(loss->host_targets, &loss->host_targets_capacity,
	    block, sizeof *loss->host_targets);

	for (size_t first = 0; first < batch->rows; first += block) {
		size_t rows = batch->rows - first < block ? batch->rows - first : block;
		const float *mine = from + first * width;
		size_t dropped = 0;

		for (size_t r = 0; r < rows; r++) {
			loss->host_targets[r] = (int32_t)(first + r);
			if (own)
				dropped += mask_row(loss->host_mask + r * candidates,
				    batch, own, partner, negatives, first + r);
		}
		nn_upload(
		    loss->targets, loss->host_targets, rows * sizeof *loss->targets);
		if (dropped)
			nn_upload(loss->mask, loss->host_mask, rows * candidates);

		nn_product_nt(loss->logits, mine, to, rows, candidates, width, scale, 0);
		nn_cross_entropy(loss->logits, sum, loss->targets,
		    dropped ? loss->mask : NULL, 1 / (float)batch->rows, rows,
		    candidates);
		nn_product_nn(dfrom + first * width, loss->logits, to, rows, width,
		    candidates, scale, 1);
		nn_product_tn(dto, loss->logits, mine, candidates, width, rows, scale, 1);
	}
}

double
loss_infonce(struct loss *loss, float *gradient, float *vectors,
    const struct loss_batch *batch, int64_t *correct)
{
	size_t rows = batch->rows, width = batch->width,
	       count = 2 * rows + batch->negatives;
	const struct loss_keys *keys = batch->keys;
	const int64_t *query = keys ? keys->query : NULL;
	const int64_t *document = keys ? keys->document : NULL;
	float *documents = vectors + rows * width, *ddocuments = gradient + rows * width;
	struct nn_loss sums[2] = { { 0, 0 }, { 0, 0 } };

	nn_upload(loss->sums, sums, sizeof sums);
	loss->lengths =
	    nn_reserve(loss->lengths, &loss->lengths_size, count, sizeof *loss->lengths);
	nn_normalize(vectors, loss->lengths, vectors, count, width);
	nn_zero(gradient, count * width);
	one_way(loss, gradient, ddocuments, &loss->sums[0], vectors, documents,
	    rows + batch->negatives, batch, query, document,
	    keys ? keys->negatives : NULL);
	if (batch->bidirectional)
		one_way(loss, ddocuments, gradient, &loss->sums[1], documents, vectors,
		    rows, batch, document, query, NULL);
	nn_normalize_back(gradient, gradient, vectors, loss->lengths, count, width);
	nn_download(sums, loss->sums, sizeof sums);
	*correct = sums[0].correct;
	return sums[0].loss / (double)rows + sums[1].loss / (double)rows;
}
