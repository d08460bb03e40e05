#include "model/linear.h"

void
linear_layout(struct linear_batch *batch, struct workspace *workspace, size_t T,
    size_t rank, size_t C, double dropout)
{
	size_t step = nn_chunk_rows(), rows = T < step ? T : step;

	batch->step = rows;
	batch->dropout = dropout;
	batch->low = workspace_floats(workspace, rows, rank);
	batch->dlow = workspace_floats(workspace, rows, rank);
	if (dropout == 0)
		return;
	batch->keys = workspace_take(workspace, T, 1, sizeof *batch->keys);
	batch->dropped = workspace_floats(workspace, rows, C);
	batch->ddropped = workspace_floats(workspace, rows, C);
}

static bool
has_pairs(const struct linear *linear, const struct linear_rows *rows)
{
	return linear->pairs.at && rows->batch->count;
}

bool
linear_busy(const struct linear *linear, const struct linear_rows *rows)
{
	return has_pairs(linear, rows) || rows->batch->watch;
}

/* Some rows of one adapter with a pair. */
struct pair_rows {
	const struct linear_pair *pair;
	struct nn_matrix b; /* the layer's rows of it */
	float *db;
	size_t first, rows, segment;
};

static size_t
token_of(const struct linear_rows *rows, size_t row)
{
	return rows->tokens ? (size_t)rows->tokens[row] : rows->first + row;
}

/* Step to the next of T rows; from { 0 } to the first.  False after the last. */
static bool
next_rows(struct pair_rows *part, const struct linear *linear,
    const struct linear_rows *rows, size_t T)
{
	const struct linear_batch *batch = rows->batch;

	do {
		const struct linear_segment *at;
		part->first += part->rows;
		part->rows = 0;
		if (part->first == T)
			return false;
		while ((at = &batch->segments[part->segment])->end <=
		       token_of(rows, part->first))
			part->segment++;
		part->pair = at->adapter < 0 ? NULL : &linear->pairs.at[at->adapter];
		while (part->rows < batch->step && part->first + part->rows < T &&
		       token_of(rows, part->first + part->rows) < at->end)
			part->rows++;
	} while (!part->pair || !part->pair->rank);

	const struct linear_pair *pair = part->pair;
	size_t before = linear->pairs.row * pair->rank;
	part->b = nn_matrix_from(pair->b, linear->pairs.row, pair->rank);
	part->db = pair->db ? pair->db + before : NULL;
	return true;
}

/* y[R,C] = drop(x); y may be x. */
static void
drop(const struct linear *linear, const struct linear_rows *rows,
    const struct pair_rows *part, float *y, const float *x, size_t ldx)
{
	const struct linear_batch *batch = rows->batch;
	const int32_t *listed = rows->listed ? rows->listed + part->first : NULL;
	const uint64_t *keys =
	    listed ? batch->keys : batch->keys + rows->first + part->first;

	nn_dropout(y, x, ldx, keys, listed, part->pair->salt, batch->dropout, part->rows,
	    linear->C);
}

/* low = scale drop(x) A'; x becomes drop(x), with its row stride. */
static void
narrow(const struct linear *linear, const struct linear_rows *rows,
    const struct pair_rows *part, const float **x, size_t *ldx)
{
	const struct linear_batch *batch = rows->batch;
	const struct linear_pair *pair = part->pair;

	*x += part->first * *ldx;
	if (batch->keys) {
		drop(linear, rows, part, batch->dropped, *x, *ldx);
		*x = batch->dropped;
		*ldx = linear->C;
	}
	nn_linear(batch->low, pair->rank, *x, *ldx, pair->a, NULL, part->rows, linear->C,
	    pair->rank);
	nn_scale(batch->low, pair->scale, part->rows * pair->rank);
}

/* y += the pairs. */
static void
add_pairs(const struct linear *linear, const struct linear_rows *rows, float *y,
    size_t ldy, const float *x, size_t ldx, size_t T)
{
	struct pair_rows part = { 0 };

	if (!has_pairs(linear, rows))
		return;
	while (next_rows(&part, linear, rows, T)) {
		const float *dropped = x;
		size_t ld = ldx, rank = part.pair->rank;
		narrow(linear, rows, &part, &dropped, &ld);
		nn_linear_add(y + part.first * ldy, ldy, rows->batch->low, rank, part.b,
		    part.rows, rank, linear->O);
	}
}

static void
show(const struct linear *linear, const struct linear_rows *rows, const float *x,
    size_t ldx, size_t T)
{
	const struct linear_watch *watch = rows->batch->watch;

	if (watch)
		watch->see(watch->context, linear->w, x, ldx, T, linear->C);
}

void
linear_forward(const struct linear *linear, const struct linear_rows *rows, float *y,
    size_t ldy, const float *x, size_t ldx, size_t T)
{
	show(linear, rows, x, ldx, T);
	nn_linear(y, ldy, x, ldx, linear->w, linear->bias, T, linear->C, linear->O);
	add_pairs(linear, rows, y, ldy, x, ldx, T);
}

void
linear_forward_groups(float *y, const float *x, const struct linear_group *groups,
    size_t count, const enum nn_act *act)
{
	struct nn_gemm_group gemms[LINEAR_GROUPS];
	size_t C = groups->layer.C, O = groups->layer.O, row = 0, i = 0;

	do {
		const struct linear *layer = &groups[i].layer;
		gemms[i] = (struct nn_gemm_group){ layer->w, layer->bias, groups[i].T };
		show(layer, groups[i].rows, x + row * C, C, groups[i].T);
		row += groups[i].T;
	} while (++i < count);
	nn_linear_grouped(y, x, gemms, count, act, C, O);
	row = 0;
	for (i = 0; i < count; row += groups[i++].T)
		add_pairs(&groups[i].layer, groups[i].rows, y + row * O, O, x + row * C,
		    C, groups[i].T);
}

/* dx += scale drop(dy B A), from dlow = scale dy B */
static void
widen_back(const struct linear *linear, const struct linear_rows *rows,
    const struct pair_rows *part, float *dx)
{
	const struct linear_batch *batch = rows->batch;
	const struct linear_pair *pair = part->pair;
	size_t R = part->rows, C = linear->C, rank = pair->rank;
	float *to = batch->keys ? batch->ddropped : dx;

	nn_linear_back(to, !batch->keys, NULL, NULL, batch->dlow, rank, NULL, C, pair->a,
	    R, C, rank);
	if (!batch->keys)
		return;
	drop(linear, rows, part, to, to, C);
	nn_add(dx, to, R * C);
}

void
linear_back(const struct linear *linear, const struct linear_rows *rows, float *dx,
    bool add, const float *dy, size_t ldy, const float *x, size_t ldx, size_t T)
{
	size_t C = linear->C, O = linear->O;
	struct pair_rows part = { 0 };

	nn_linear_back(
	    dx, add, linear->dw, linear->db, dy, ldy, x, ldx, linear->w, T, C, O);
	if (!has_pairs(linear, rows))
		return;
	while (next_rows(&part, linear, rows, T)) {
		const struct linear_pair *pair = part.pair;
		float *low = rows->batch->low, *dlow = rows->batch->dlow;
		size_t R = part.rows, rank = pair->rank, ld = ldx;
		const float *d = dy + part.first * ldy, *dropped = x;

		nn_linear_back(
		    dlow, false, NULL, NULL, d, ldy, NULL, rank, part.b, R, rank, O);
		nn_scale(dlow, pair->scale, R * rank);
		if (dx)
			widen_back(linear, rows, &part, dx + part.first * C);
		if (!x || !pair->da)
			continue;
		narrow(linear, rows, &part, &dropped, &ld);
		nn_linear_back(
		    NULL, false, part.db, NULL, d, ldy, low, rank, part.b, R, rank, O);
		nn_linear_back(NULL, false, pair->da, NULL, dlow, rank, dropped, ld,
		    pair->a, R, C, rank);
	}
}
