#include "train/candidates.h"

#include <stdlib.h>

#include "base/mem.h"
#include "nn/nn.h"
#include "ranks/ranks.h"

/* The order of the sides in an array of all ranks. */
enum side { DOCUMENTS, NEGATIVES, QUERIES, SIDES };

/* Rows of a side. */

struct side_rows {
	size_t first;	      /* in the array of all ranks */
	size_t own, own_rows; /* in the batch's array; their number */
	const size_t *starts; /* [ranks + 1] */
};

static void
find_places(struct side_rows sides[SIDES], const struct loss_batch *batch)
{
	int ranks = ranks_count(), own = ranks_own();
	const struct loss_parts *parts = batch->parts;
	size_t rows = parts->rows[ranks];

	sides[DOCUMENTS] =
	    (struct side_rows){ .own = batch->rows, .starts = parts->rows };
	sides[NEGATIVES] = (struct side_rows){
		.first = rows, .own = 2 * batch->rows, .starts = parts->negatives
	};
	sides[QUERIES] = (struct side_rows){
		.first = rows + parts->negatives[ranks], .own = 0, .starts = parts->rows
	};
	for (int side = 0; side < SIDES; side++)
		sides[side].own_rows =
		    sides[side].starts[own + 1] - sides[side].starts[own];
}

static int
sides_of(const struct loss_batch *batch)
{
	return batch->bidirectional || batch->terms ? SIDES : QUERIES;
}

/* Begins to share the keys of one kind, laid out as the vectors. */
static void
share_keys(int64_t *to, const struct side_rows sides[SIDES], const struct loss_keys *keys)
{
	const int64_t *own[SIDES] = { keys->document, keys->negatives, keys->query };

	for (int side = 0; side < SIDES; side++) {
		const struct side_rows *p = &sides[side];
		nn_upload(to + p->first + p->starts[ranks_own()], own[side],
		    p->own_rows * sizeof *to);
		ranks_share(to + p->first, p->starts, sizeof *to);
	}
}

static void
gather_keys(struct candidates *c, const struct side_rows sides[SIDES],
    const struct loss_batch *batch, size_t count)
{
	size_t all = LOSS_KEYS * count;

	c->nn_keys = nn_reserve(c->nn_keys, &c->keys_size, all, sizeof *c->nn_keys);
	c->host_keys =
	    mem_grow(c->host_keys, &c->host_keys_room, all, sizeof *c->host_keys);
	for (int kind = 0; kind < LOSS_KEYS; kind++) {
		const int64_t *at = c->host_keys + (size_t)kind * count;
		share_keys(c->nn_keys + (size_t)kind * count, sides, &batch->keys[kind]);
		c->keys[kind] = (struct loss_keys){ .query = at + sides[QUERIES].first,
			.document = at + sides[DOCUMENTS].first,
			.negatives = at + sides[NEGATIVES].first };
	}
	ranks_wait();
	nn_download(c->host_keys, c->nn_keys, all * sizeof *c->nn_keys);
}

/* The rows, of all ranks, of all negatives. */
static void
gather_owners(struct candidates *c, const struct side_rows sides[SIDES],
    const struct loss_batch *batch)
{
	const struct side_rows *side = &sides[NEGATIVES];
	size_t first = side->starts[ranks_own()];

	c->nn_owners =
	    nn_reserve(c->nn_owners, &c->owners_size, c->negatives, sizeof *c->nn_owners);
	c->host_owners = mem_grow(
	    c->host_owners, &c->host_owners_room, c->negatives, sizeof *c->host_owners);
	for (size_t k = 0; k < side->own_rows; k++)
		c->host_owners[first + k] = batch->owners[k] + (int64_t)c->first;
	nn_upload(c->nn_owners + first, c->host_owners + first,
	    side->own_rows * sizeof *c->nn_owners);
	ranks_share(c->nn_owners, side->starts, sizeof *c->nn_owners);
	ranks_wait();
	nn_download(c->host_owners, c->nn_owners, c->negatives * sizeof *c->nn_owners);
	c->owners = c->host_owners;
}

static void
take_own(struct candidates *c, float *gradient, const float *vectors,
    const struct loss_batch *batch)
{
	c->rows = batch->rows;
	c->negatives = batch->negatives;
	c->first = 0;
	c->all = vectors;
	c->dall = gradient;
	c->at =
	    (struct loss_layout){ 0, c->rows, 2 * c->rows, 2 * c->rows + c->negatives };
	c->owners = batch->owners;
	c->keyed = batch->keys;
	for (int kind = 0; c->keyed && kind < LOSS_KEYS; kind++)
		c->keys[kind] = batch->keys[kind];
}

void
candidates_gather(struct candidates *c, float *gradient, const float *vectors,
    const struct loss_batch *batch, bool learn)
{
	size_t width = batch->width, bytes = width * sizeof(float);
	struct side_rows sides[SIDES];

	take_own(c, gradient, vectors, batch);
	if (ranks_count() == 1 || !batch->parts)
		return;
	find_places(sides, batch);
	c->rows = sides[NEGATIVES].first;
	c->negatives = sides[QUERIES].first - c->rows;
	c->first = batch->parts->rows[ranks_own()];
	size_t count = sides[QUERIES].first + c->rows;
	c->vectors = nn_reserve(c->vectors, &c->vectors_size, count, bytes);
	for (int side = 0; side < sides_of(batch); side++) {
		const struct side_rows *p = &sides[side];
		float *to = c->vectors + p->first * width;
		nn_copy(to + p->starts[ranks_own()] * width, vectors + p->own * width,
		    p->own_rows * width);
		ranks_share(to, p->starts, bytes);
	}
	c->all = c->vectors;
	c->at = (struct loss_layout){ sides[QUERIES].first, 0, c->rows, count };
	if (learn) {
		c->gradient = nn_reserve(c->gradient, &c->gradient_size, count, bytes);
		nn_zero(c->gradient, count * width);
		c->dall = c->gradient;
	}
	if (batch->keys)
		gather_keys(c, sides, batch, count);
	/* a rank without negatives may have no owners, but sends none, too */
	if (learn && (batch->own_only || batch->terms & LOSS_DD))
		gather_owners(c, sides, batch);
	ranks_wait();
}

void
candidates_return(struct candidates *c, float *gradient, const struct loss_batch *batch)
{
	size_t ranks = (size_t)ranks_count(), width = batch->width;
	struct side_rows sides[SIDES];

	if (ranks == 1 || !batch->parts)
		return;
	find_places(sides, batch);
	size_t *starts = mem_new(ranks + 1, sizeof *starts);
	for (int side = 0; side < sides_of(batch); side++) {
		for (size_t r = 0; r <= ranks; r++)
			starts[r] = sides[side].starts[r] * width;
		ranks_sum(c->gradient + sides[side].first * width, starts);
	}
	ranks_wait();
	free(starts);
	for (int side = 0; side < sides_of(batch); side++) {
		const struct side_rows *p = &sides[side];
		nn_add(gradient + p->own * width,
		    c->gradient + (p->first + p->starts[ranks_own()]) * width,
		    p->own_rows * width);
	}
}

void
candidates_free(struct candidates *c)
{
	nn_free(c->vectors, c->vectors_size);
	nn_free(c->gradient, c->gradient_size);
	nn_free(c->nn_keys, c->keys_size);
	nn_free(c->nn_owners, c->owners_size);
	free(c->host_keys);
	free(c->host_owners);
}
