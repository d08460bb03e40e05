#include "nn/nn.h"

#include "nn/cpu/attention_packed.h"
#include "nn/cpu/attention_panel.h"
#include "nn/cpu/attention_relative.h"
#include "nn/cpu/drop.h"
#include "nn/cpu/microkernel.h"
#include "nn/cpu/sum.h"
#include "nn/cpu/tile.h"
#include "nn/cpu/transpose.h"

/*
 * Tiles of PANEL queries by KEYS keys.  Scores are stored transposed, st[key][query], so that softmax needs no sums across a
 * vector, and K and V are read in place; only the queries are transposed.  Softmax is online (Milakov and Gimelshein 2018): it
 * keeps the greatest score so far, and sums relative to it.
 */
enum { PANEL = NN_PANEL };

/* st[n][PANEL] = x[n,D] at[D][PANEL].  NOINLINE, because in a larger function the tile would have to share its registers. */
NN_NOINLINE void
scores_wide(float *st, const float *x, size_t ld, const float *at, size_t D, size_t n)
{
	nn_tiles(st, PANEL, nn_zeros, 0, x, ld, 1, at, PANEL, D, n, NN_SHORT_TILE, 2);
}

/* The same for the first half of the panel's queries. */
NN_NOINLINE void
scores_narrow(float *st, const float *x, size_t ld, const float *at, size_t D, size_t n)
{
	nn_tiles(st, PANEL, nn_zeros, 0, x, ld, 1, at, PANEL, D, n, NN_SHORT_TILE, 1);
}

NN_INLINE void
scores(float *st, const float *x, size_t ld, const float *at, size_t D, size_t n,
    int vectors)
{
	if (vectors == 2)
		scores_wide(st, x, ld, at, D, n);
	else
		scores_narrow(st, x, ld, at, D, n);
}

/* out[r, :] = (fresh) or += sum over k of w[r wr + k wk] x[k, :], r < rows, k < n */
NN_INLINE void
mix(float *out, size_t ldo, const float *w, size_t wr, size_t wk, const float *x,
    size_t ld, size_t n, size_t rows, size_t D, bool fresh)
{
	size_t ldf = fresh ? 0 : ldo, d = 0;

	for (; d + PANEL <= D; d += PANEL)
		nn_tiles(out + d, ldo, fresh ? nn_zeros : out + d, ldf, w, wr, wk, x + d,
		    ld, n, rows, NN_TILE, 2);
	for (; d + NN_LANES <= D; d += NN_LANES)
		nn_tiles(out + d, ldo, fresh ? nn_zeros : out + d, ldf, w, wr, wk, x + d,
		    ld, n, rows, NN_TILE, 1);
	if (d == D)
		return;
	for (size_t r = 0; r < rows; r++) {
		for (size_t i = d; fresh && i < D; i++)
			out[r * ldo + i] = 0;
		for (size_t k = 0; k < n; k++)
			for (size_t i = d; i < D; i++)
				out[r * ldo + i] += w[r * wr + k * wk] * x[k * ld + i];
	}
}

/* Sums over keys for each query, the first and the following; sums over queries for each key. */
NN_NOINLINE void
mix_first_keys(float *out, size_t ldo, const float *st, const float *x, size_t ld,
    size_t keys, size_t queries, size_t D)
{
	mix(out, ldo, st, 1, PANEL, x, ld, keys, queries, D, true);
}

NN_NOINLINE void
mix_keys(float *out, size_t ldo, const float *st, const float *x, size_t ld, size_t keys,
    size_t queries, size_t D)
{
	mix(out, ldo, st, 1, PANEL, x, ld, keys, queries, D, false);
}

NN_NOINLINE void
mix_queries(float *out, size_t ldo, const float *st, const float *x, size_t ld,
    size_t queries, size_t keys, size_t D)
{
	mix(out, ldo, st, PANEL, 1, x, ld, queries, keys, D, false);
}

static void
scale_rows(float *out, size_t ld, const float *by, size_t count, size_t D)
{
	for (size_t i = 0; i < count; i++)
#pragma omp simd
		for (size_t d = 0; d < D; d++)
			out[i * ld + d] *= by[i];
}

/* dbias += gt times `by`; each distance adds its queries in their order, whatever the panel. */
NN_NOINLINE void
add_bias_back(float *dbias, const float *gt, const struct panel *p, size_t key,
    size_t keys, float by)
{
	for (size_t j = 0; j < keys; j++) {
		float *to = dbias + ahead_of(p, key + j);
		const float *row = gt + j * PANEL;
#pragma omp simd
		for (size_t i = 0; i < p->count; i++)
			to[i] += row[i] * by;
	}
}

/* Dropout of the weights st[key][query] of `keys` keys from `key` on, or of their gradients. */
NN_NOINLINE void
drop_weights(float *st, const struct nn_attention *a, const struct panel *p, size_t key,
    size_t keys, size_t lanes)
{
	uint32_t low[PANEL] = { 0 }, high[PANEL] = { 0 };
	uint32_t below = drop_below(a->dropout.rate);
	float by = (float)(1 / (1 - a->dropout.rate));

	for (size_t i = 0; i < p->count; i++) {
		struct drop_row row = drop_row_of(p->keys[i], p->salt);
		low[i] = row.low;
		high[i] = row.high;
	}
	for (size_t j = 0; j < keys; j++) {
		float *row = st + j * PANEL;
#pragma omp simd
		for (size_t i = 0; i < lanes; i++) {
			uint32_t drawn = drop_draw(low[i], high[i], (uint32_t)(key + j));
			row[i] = drawn < below ? 0 : row[i] * by;
		}
	}
}

NN_NOINLINE void
cap_scores(float *st, size_t keys, float cap)
{
#pragma omp simd
	for (size_t i = 0; i < keys * PANEL; i++)
		st[i] = cap * nn_tanh(st[i] / cap);
}

/* The scores of `keys` keys from `key` on, transposed, capped, biased and masked. */
NN_INLINE void
masked_scores(float *st, const float *qt, const float *k, const struct nn_attention *a,
    const struct panel *p, size_t key, size_t keys, int vectors)
{
	scores(st, k + key * a->ldkv, a->ldkv, qt, a->D, keys, vectors);
	if (a->softcap != 0)
		cap_scores(st, keys, a->softcap * LOG2_E);
	if (p->bias)
		add_bias(st, p, key, keys, PANEL);
	mask(st, a, p, key, keys, PANEL);
}

/* The arrays of a sequence and a head, from its first token on. */
struct head_forward {
	float *out, *lse; /* lse: NULL: not asked for */
	const float *q, *k, *v;
};

/* A panel while its keys come tile by tile. */
struct attending {
	struct panel panel;
	float *qt; /* [D][PANEL]: its queries, scaled */
	float top[PANEL], sum[PANEL];
};

NN_INLINE void
first_tile(
    struct attending *at, const float *q, const struct nn_attention *a, int vectors)
{
	const struct panel *p = &at->panel;
	float scale = a->scale != 0 ? LOG2_E * a->scale : LOG2_E / sqrtf((float)a->D);

	nn_transpose(at->qt, PANEL, nn_f32(q + p->first * a->ldq), a->ldq, 0, p->count,
	    a->D, (size_t)vectors * NN_LANES, scale);
	for (size_t i = 0; i < PANEL; i++) {
		at->top[i] =
		    -1e30f; /* finite, because all scores of a query in a tile may be minus infinity */
		at->sum[i] = 0;
	}
}

static void
last_tile(const struct attending *at, const struct head_forward *head,
    const struct nn_attention *a)
{
	const struct panel *p = &at->panel;
	size_t ldo = a->H * a->D;
	float factor[PANEL];

	for (size_t i = 0; i < p->count; i++)
		factor[i] = at->sum[i] >= LEAST_SUM ? 1 / at->sum[i] : 0;
	scale_rows(head->out + p->first * ldo, ldo, factor, p->count, a->D);
	if (head->lse)
		for (size_t i = 0; i < p->count; i++)
			head->lse[(p->first + i) * a->H] =
			    at->top[i] * LN_2 + logf(at->sum[i]);
}

/* The tile of keys from `key` on. */
NN_INLINE void
attend_tile(struct attending *at, const struct head_forward *head,
    const struct nn_attention *a, size_t key, int vectors)
{
	_Alignas(64) float st[KEYS * PANEL];
	float factor[PANEL];
	const struct panel *p = &at->panel;
	size_t ldo = a->H * a->D, keys = p->to - key < KEYS ? p->to - key : KEYS;
	float *out = head->out + p->first * ldo;
	const float *value = head->v + key * a->ldkv;

	if (key == p->from)
		first_tile(at, head->q, a, vectors);
	masked_scores(st, at->qt, head->k, a, p, key, keys, vectors);
	softmax_step(
	    st, keys, at->top, at->sum, factor, (size_t)vectors * NN_LANES, PANEL);
	if (p->keys)
		drop_weights(st, a, p, key, keys, (size_t)vectors * NN_LANES);
	if (key == p->from) {
		mix_first_keys(out, ldo, st, value, a->ldkv, keys, p->count, a->D);
	} else {
		scale_rows(out, ldo, factor, p->count, a->D);
		mix_keys(out, ldo, st, value, a->ldkv, keys, p->count, a->D);
	}
	if (key + keys == p->to)
		last_tile(at, head, a);
}

static void
attend(struct attending *at, const struct head_forward *head,
    const struct nn_attention *a, size_t key)
{
	if (at->panel.count <= NN_LANES)
		attend_tile(at, head, a, key, 1);
	else
		attend_tile(at, head, a, key, 2);
}

/* A panel that sees no key: zeros. */
static void
attend_nothing(
    const struct panel *p, const struct head_forward *head, const struct nn_attention *a)
{
	for (size_t i = p->first; i < p->first + p->count; i++) {
		memset(head->out + i * a->H * a->D, 0, a->D * sizeof *head->out);
		if (head->lse)
			head->lse[i * a->H] = -INFINITY;
	}
}

/* Prefetches D columns of `count` rows.  Sequences of at most FETCH tokens end before the hardware prefetcher sees a pattern. */
enum { FETCH = 2 * PANEL };

static void
fetch(const float *x, size_t ld, size_t count, size_t D)
{
	for (size_t i = 0; i < count; i++)
		for (size_t d = 0; d < D; d += 16)
			__builtin_prefetch(x + i * ld + d);
}

struct item_position {
	size_t sequence, before; /* items of the sequences before this one */
};

static size_t
length_of(const struct nn_attention *a, size_t sequence)
{
	const int32_t *starts = a->sequences.starts + sequence;

	return (size_t)(starts[1] - starts[0]);
}

static size_t
items_of(const struct nn_attention *a, size_t sequence)
{
	size_t length = length_of(a, sequence);

	return a->H * (a->queries ? length > 0 : (length + ITEM - 1) / ITEM);
}

/* Multiply-adds of queries first..last-1 of one head of a sequence, for nn_count_work. */
static double
work_of(const struct nn_attention *a, size_t sequence, size_t first, size_t last)
{
	size_t length = length_of(a, sequence);
	double pairs = 0;

	for (; first < last && first < length; first += PANEL) {
		struct panel p = panel_at(a, sequence, 0, first, length, PANEL);
		pairs += (double)(p.count * (p.to - p.from));
	}
	return 2 * (double)a->D * pairs;
}

static double
work_of_item(const struct nn_attention *a, size_t sequence, size_t item)
{
	size_t first,
	    last = item_queries(a, sequence, item, length_of(a, sequence), &first);

	return work_of(a, sequence, first, last);
}

/* Steps to the sequence of `item`; returns false after the last. */
static bool
step_to(struct item_position *position, const struct nn_attention *a, size_t item)
{
	for (; position->sequence < a->sequences.N; position->sequence++) {
		size_t items = items_of(a, position->sequence);
		if (item < position->before + items)
			return true;
		position->before += items;
	}
	return false;
}

/*
 * Item `item` of a sequence.  All its panels meet a tile of keys before the next tile comes, so that long texts read keys and
 * values from the cache.
 */
static void
attend_item(float *out, float *lse, const float *q, const float *k, const float *v,
    const struct nn_attention *a, size_t sequence, size_t item)
{
	_Alignas(64) float qt[ITEM * NN_MAX_HEAD];
	struct attending panels[ITEM / PANEL];
	size_t start = (size_t)a->sequences.starts[sequence];
	size_t length = (size_t)a->sequences.starts[sequence + 1] - start;
	size_t h = item % a->H, kv = start * a->ldkv + h / (a->H / a->K) * a->D;
	size_t first, last = item_queries(a, sequence, item, length, &first);
	size_t count = 0, left = 0;
	struct head_forward head = { out + start * a->H * a->D + h * a->D,
		lse ? lse + start * a->H + h : NULL, q + start * a->ldq + h * a->D,
		k + kv, v + kv };

	if (length <= FETCH && h + 1 < a->H) {
		fetch(head.q + a->D, a->ldq, length, a->D);
		size_t next = start * a->ldkv + (h + 1) / (a->H / a->K) * a->D;
		fetch(k + next, a->ldkv, length, a->D);
		fetch(v + next, a->ldkv, length, a->D);
	}
	for (; first < last; first += PANEL, count++) {
		panels[count].panel = panel_at(a, sequence, h, first, length, PANEL);
		panels[count].qt = qt + count * PANEL * a->D;
		if (panels[count].panel.from < panels[count].panel.to)
			left++;
		else
			attend_nothing(&panels[count].panel, &head, a);
	}
	for (size_t ahead = 0; left; ahead += KEYS)
		for (size_t i = 0; i < count; i++) {
			size_t key = panels[i].panel.from + ahead;
			if (key >= panels[i].panel.to)
				continue;
			attend(panels + i, &head, a, key);
			left -= key + KEYS >= panels[i].panel.to;
		}
}

/* Sequences of at most so many tokens are as quick in f32 as in bf16 and int8. */
enum { SHORT = 64 };

static bool
is_short(const struct nn_attention *a, size_t sequence)
{
	return length_of(a, sequence) <= SHORT;
}

/* The kind of the products; NULL: f32.  The backward computes p anew from f32 and lse. */
static const struct attention_kind *
kind_of(const struct nn_attention *a, const float *lse)
{
	if (lse || a->dropout.keys || a->softcap != 0)
		return NULL;
	if (a->i8)
		return attention_of_i8();
	return a->bf16 && microkernel(DTYPE_BF16) ? attention_of_bf16() : NULL;
}

void
nn_attention(float *out, float *lse, const float *q, const float *k, const float *v,
    const struct nn_attention *a)
{
	const struct attention_kind *kind = kind_of(a, lse);
	const struct microkernel *kernel = kind ? microkernel(kind->dtype) : NULL;
	size_t next = 0;
	bool shared = a->sequences.T * a->H * a->D > NN_SERIAL;

	if (a->relative) {
		nn_attention_relative(out, q, k, v, a);
		return;
	}
	if (nn_count_region)
		nn_count_region(shared, true);
#pragma omp parallel if (shared)
	{
		struct item_position position = { 0 };
		if (kernel && kernel->begin)
			kernel->begin();
		for (;;) {
			size_t item;
#pragma omp atomic capture
			item = next++;
			if (!step_to(&position, a, item))
				break;
			size_t own = item - position.before, sequence = position.sequence;
			if (nn_count_work &&
			    nn_count_work(item, work_of_item(a, sequence, own)))
				continue;
			if (kind && !is_short(a, sequence))
				attend_item_packed(kind, out, q, k, v, a, sequence, own);
			else
				attend_item(out, lse, q, k, v, a, sequence, own);
		}
		if (kernel && kernel->end)
			kernel->end();
	}
}

/* Backward. ------------------------------------------------------------------------ */

/* Arguments of the backward; for one head the pointers are at the sequence's first token. */
struct head_back {
	float *dq, *dk, *dv;
	float *dbias; /* of one head: at distance 0 */
	const float *dout, *out, *lse, *q, *k, *v;
};

/*
 * With p = exp(score - lse), g = dout v^T and delta = dout . out (each per query):
 * dscore = p (g - delta);  dq = dscore k, dk = dscore^T q, both scaled;  dv = p^T dout.
 * With dropout g and the p of dv are dropped as p was; delta stays dout . out.
 * st holds the scores and becomes p; gt holds g and becomes dscore scale.
 */
NN_INLINE void
scores_back(float *st, float *gt, const float *lse, const float *delta, size_t keys,
    float scale, size_t lanes)
{
	for (size_t j = 0; j < keys; j++)
#pragma omp simd
		for (size_t i = 0; i < lanes; i++) {
			float p = nn_exp2(st[j * PANEL + i] - lse[i]);
			st[j * PANEL + i] = p;
			gt[j * PANEL + i] = p * (gt[j * PANEL + i] - delta[i]) * scale;
		}
}

/* delta and lse (times log2 e) of the panel's queries; clears their dq */
static void
queries_back(float *delta, float *lse, float *dq, const struct head_back *b,
    const struct nn_attention *a, const struct panel *p)
{
	size_t ldo = a->H * a->D;

	for (size_t i = 0; i < p->count; i++) {
		const float *out = b->out + (p->first + i) * ldo;
		const float *dout = b->dout + (p->first + i) * ldo;
		delta[i] = nn_dot(dout, out, a->D);
		lse[i] = b->lse[(p->first + i) * a->H] * LOG2_E;
		memset(dq + i * a->ldq, 0, a->D * sizeof *dq);
	}
}

NN_INLINE void
attend_panel_back(const struct head_back *b, const struct nn_attention *a,
    const struct panel *p, int vectors)
{
	_Alignas(64) float qt[NN_MAX_HEAD * PANEL], dt[NN_MAX_HEAD * PANEL];
	_Alignas(64) float st[KEYS * PANEL], gt[KEYS * PANEL];
	float delta[PANEL] = { 0 }, lse[PANEL] = { 0 };
	float scale = a->scale != 0 ? a->scale : 1 / sqrtf((float)a->D);
	size_t ldo = a->H * a->D, ldkv = a->ldkv, lanes = (size_t)vectors * NN_LANES;
	const float *q = b->q + p->first * a->ldq, *dout = b->dout + p->first * ldo;
	float *dq = b->dq + p->first * a->ldq;

	nn_transpose(
	    qt, PANEL, nn_f32(q), a->ldq, 0, p->count, a->D, lanes, LOG2_E * scale);
	nn_transpose(dt, PANEL, nn_f32(dout), ldo, 0, p->count, a->D, lanes, 1);
	queries_back(delta, lse, dq, b, a, p);
	for (size_t key = p->from; key < p->to; key += KEYS) {
		size_t keys = p->to - key < KEYS ? p->to - key : KEYS, at = key * ldkv;
		masked_scores(st, qt, b->k, a, p, key, keys, vectors);
		scores(gt, b->v + at, ldkv, dt, a->D, keys, vectors);
		if (p->keys)
			drop_weights(gt, a, p, key, keys, lanes);
		scores_back(st, gt, lse, delta, keys, scale, lanes);
		if (b->dbias)
			add_bias_back(b->dbias, gt, p, key, keys, 1 / scale);
		mix_keys(dq, a->ldq, gt, b->k + at, ldkv, keys, p->count, a->D);
		mix_queries(b->dk + at, ldkv, gt, q, a->ldq, p->count, keys, a->D);
		if (p->keys)
			drop_weights(st, a, p, key, keys, lanes);
		mix_queries(b->dv + at, ldkv, st, dout, ldo, p->count, keys, a->D);
	}
}

static void
attend_back(
    const struct head_back *b, const struct nn_attention *a, const struct panel *p)
{
	if (p->count <= NN_LANES)
		attend_panel_back(b, a, p, 1);
	else
		attend_panel_back(b, a, p, 2);
}

/* Key/value head `to` of a sequence and the heads that read it. */
static void
heads_back(
    const struct head_back *all, const struct nn_attention *a, size_t sequence, size_t to)
{
	size_t group = a->H / a->K, ldo = a->H * a->D, D = a->D;
	size_t start = (size_t)a->sequences.starts[sequence];
	size_t length = (size_t)a->sequences.starts[sequence + 1] - start;
	size_t kv = start * a->ldkv + to * D;

	for (size_t t = 0; t < length; t++) {
		memset(all->dk + kv + t * a->ldkv, 0, D * sizeof *all->dk);
		memset(all->dv + kv + t * a->ldkv, 0, D * sizeof *all->dv);
	}
	for (size_t h = to * group; h < (to + 1) * group; h++) {
		size_t q = start * a->ldq + h * D, out = start * ldo + h * D;
		float *dbias =
		    all->dbias ? all->dbias + 2 * start * a->H + 2 * h * length + length
			       : NULL;
		struct head_back b = { all->dq + q, all->dk + kv, all->dv + kv, dbias,
			all->dout + out, all->out + out, all->lse + start * a->H + h,
			all->q + q, all->k + kv, all->v + kv };
		if (length <= FETCH && h + 1 < a->H) {
			size_t next = (h + 1) / group * D - to * D;
			fetch(b.q + D, a->ldq, length, D);
			fetch(b.dq + D, a->ldq, length, D);
			fetch(b.out + D, ldo, length, D);
			fetch(b.dout + D, ldo, length, D);
			fetch(b.k + next, a->ldkv, length, D);
			fetch(b.v + next, a->ldkv, length, D);
		}
		for (size_t first = 0; first < length; first += PANEL) {
			struct panel p = panel_at(a, sequence, h, first, length, PANEL);
			attend_back(&b, a, &p);
		}
	}
}

/* Multiply-adds of heads_back. */
static double
work_back(const struct nn_attention *a, size_t sequence)
{
	return 2.5 * (double)(a->H / a->K) * work_of(a, sequence, 0, SIZE_MAX);
}

void
nn_attention_back(float *dq, float *dk, float *dv, float *dbias, const float *dout,
    const float *out, const float *lse, const float *q, const float *k, const float *v,
    const struct nn_attention *a)
{
	struct head_back all = { dq, dk, dv, dbias, dout, out, lse, q, k, v };
	bool shared = a->sequences.T * a->H * a->D > NN_SERIAL;

	if (nn_count_region)
		nn_count_region(shared, true);
		/* one thread makes all sums of a key/value head, in a fixed order */
#pragma omp parallel for collapse(2) schedule(dynamic) if (shared)
	for (size_t sequence = 0; sequence < a->sequences.N; sequence++)
		for (size_t to = 0; to < a->K; to++)
			if (!nn_count_work ||
			    !nn_count_work(sequence * a->K + to, work_back(a, sequence)))
				heads_back(&all, a, sequence, to);
}
