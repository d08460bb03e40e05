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

/* Some rows of one gate with a pair. */
struct piece {
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

/* Step to the next piece of T rows; from { 0 } to the first.  False after the last. */
static bool
next_piece(struct piece *piece, const struct linear *linear,
    const struct linear_rows *rows, size_t T)
{
	const struct linear_batch *batch = rows->batch;

	do {
		const struct linear_segment *at;
		piece->first += piece->rows;
		piece->rows = 0;
		if (piece->first == T)
			return false;
		while ((at = &batch->segments[piece->segment])->end <=
		       token_of(rows, piece->first))
			piece->segment++;
		piece->pair = at->adapter < 0 ? NULL : &linear->pairs.at[at->adapter];
		while (piece->rows < batch->step && piece->first + piece->rows < T &&
		       token_of(rows, piece->first + piece->rows) < at->end)
			piece->rows++;
	} while (!piece->pair || !piece->pair->rank);

	const struct linear_pair *pair = piece->pair;
	size_t before = linear->pairs.row * pair->rank;
	piece->b = nn_matrix_from(pair->b, linear->pairs.row, pair->rank);
	piece->db = pair->db ? pair->db + before : NULL;
	return true;
}

/* y[R,C] = drop(x); y may be x. */
static void
drop(const struct linear *linear, const struct linear_rows *rows,
    const struct piece *piece, float *y, const float *x, size_t ldx)
{
	const struct linear_batch *batch = rows->batch;
	const int32_t *listed = rows->listed ? rows->listed + piece->first : NULL;
	const uint64_t *keys =
	    listed ? batch->keys : batch->keys + rows->first + piece->first;

	nn_dropout(y, x, ldx, keys, listed, piece->pair->salt, batch->dropout,
	    piece->rows, linear->C);
}

/* low = scale drop(x) A'; x becomes drop(x), with its row stride. */
static void
narrow(const struct linear *linear, const struct linear_rows *rows,
    const struct piece *piece, const float **x, size_t *ldx)
{
	const struct linear_batch *batch = rows->batch;
	const struct linear_pair *pair = piece->pair;

	*x += piece->first * *ldx;
	if (batch->keys) {
		drop(linear, rows, piece, batch->dropped, *x, *ldx);
		*x = batch->dropped;
		*ldx = linear->C;
	}
	nn_linear(batch->low, pair->rank, *x, *ldx, pair->a, NULL, piece->rows, linear->C,
	    pair->rank);
	nn_scale(batch->low, pair->scale, piece->rows * pair->rank);
}

/* y += what the gates have beside the layer. */
static void
add_pairs(const struct linear *linear, const struct linear_rows *rows, float *y,
    size_t ldy, const float *x, size_t ldx, size_t T)
{
	struct piece piece = { 0 };

	if (!has_pairs(linear, rows))
		return;
	while (next_piece(&piece, linear, rows, T)) {
		const float *dropped = x;
		size_t ld = ldx, rank = piece.pair->rank;
		narrow(linear, rows, &piece, &dropped, &ld);
		nn_linear_add(y + piece.first * ldy, ldy, rows->batch->low, rank, piece.b,
		    piece.rows, rank, linear->O);
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
linear_forward_parts(float *y, const float *x, const struct linear_part *parts,
    size_t count, const enum nn_act *act)
{
	struct nn_gemm_group stretches[LINEAR_PARTS];
	size_t C = parts->layer.C, O = parts->layer.O, row = 0, i = 0;

	do {
		const struct linear *layer = &parts[i].layer;
		stretches[i] = (struct nn_gemm_group){ layer->w, layer->bias, parts[i].T };
		show(layer, parts[i].rows, x + row * C, C, parts[i].T);
		row += parts[i].T;
	} while (++i < count);
	nn_linear_grouped(y, x, stretches, count, act, C, O);
	row = 0;
	for (i = 0; i < count; row += parts[i++].T)
		add_pairs(&parts[i].layer, parts[i].rows, y + row * O, O, x + row * C, C,
		    parts[i].T);
}

/* dx += scale drop(dy B A), from dlow = scale dy B */
static void
widen_back(const struct linear *linear, const struct linear_rows *rows,
    const struct piece *piece, float *dx)
{
	const struct linear_batch *batch = rows->batch;
	const struct linear_pair *pair = piece->pair;
	size_t R = piece->rows, C = linear->C, rank = pair->rank;
	float *to = batch->keys ? batch->ddropped : dx;

	nn_linear_back(to, !batch->keys, NULL, NULL, batch->dlow, rank, NULL, C, pair->a,
	    R, C, rank);
	if (!batch->keys)
		return;
	drop(linear, rows, piece, to, to, C);
	nn_add(dx, to, R * C);
}

void
linear_back(const struct linear *linear, const struct linear_rows *rows, float *dx,
    bool add, const float *dy, size_t ldy, const float *x, size_t ldx, size_t T)
{
	size_t C = linear->C, O = linear->O;
	struct piece piece = { 0 };

	nn_linear_back(
	    dx, add, linear->dw, linear->db, dy, ldy, x, ldx, linear->w, T, C, O);
	if (!has_pairs(linear, rows))
		return;
	while (next_piece(&piece, linear, rows, T)) {
		const struct linear_pair *pair = piece.pair;
		float *low = rows->batch->low, *dlow = rows->batch->dlow;
		size_t R = piece.rows, rank = pair->rank, ld = ldx;
		const float *d = dy + piece.first * ldy, *dropped = x;

		nn_linear_back(
		    dlow, false, NULL, NULL, d, ldy, NULL, rank, piece.b, R, rank, O);
		nn_scale(dlow, pair->scale, R * rank);
		if (dx)
			widen_back(linear, rows, &piece, dx + piece.first * C);
		if (!x || !pair->da)
			continue;
		narrow(linear, rows, &piece, &dropped, &ld);
		nn_linear_back(
		    NULL, false, piece.db, NULL, d, ldy, low, rank, piece.b, R, rank, O);
		nn_linear_back(NULL, false, pair->da, NULL, dlow, rank, dropped, ld,
		    pair->a, R, C, rank);
	}
}
