#include "nn/cpu/attention_packed.h"

#include "nn/cpu/transpose.h"

enum { PANELS = ITEM / QUERIES }; /* of an item */

/* The arrays of a sequence and a head, from its first token on. */
struct packed_head {
	const struct attention_kind *kind;
	const struct nn_attention *a;
	float *out;
	const float *q, *k, *v;
	size_t keys;	    /* of the sequence, at most */
	const float *shift; /* [D] of the keys; NULL: none */
};

static size_t
depth_of(const struct attention_kind *kind, size_t terms)
{
	size_t size = kind->dtype == DTYPE_I8 ? 1 : sizeof(uint16_t);

	return nn_round_up(terms * size, microkernel(kind->dtype)->step);
}

static void
fill_tile(struct key_tile *tile, const struct packed_head *head, size_t first)
{
	_Alignas(64) float turned[NN_MAX_HEAD * KEYS];
	const struct nn_attention *a = head->a;
	size_t keys = head->keys - first < KEYS ? head->keys - first : KEYS;

	if (tile->keys && tile->first == first)
		return;
	tile->first = first;
	tile->keys = keys;
	tile->k_depth = depth_of(head->kind, a->D);
	tile->v_depth = depth_of(head->kind, keys);
	head->kind->pack_rows(tile->k, tile->k_scales, head->k + first * a->ldkv, a->ldkv,
	    head->shift, keys, a->D, tile->k_depth);
	nn_transpose(turned, KEYS, nn_f32(head->v + first * a->ldkv), a->ldkv, 0, keys,
	    a->D, nn_round_up(keys, NN_LANES), 1);
	head->kind->pack_rows(
	    tile->v, tile->v_scales, turned, KEYS, NULL, a->D, keys, tile->v_depth);
}

static void
begin_panel(struct packed_panel *at, const struct packed_head *head)
{
	_Alignas(64) float turned[NN_MAX_HEAD * QUERIES];
	const struct nn_attention *a = head->a;
	const struct panel *p = &at->panel;
	float scale = a->scale != 0 ? LOG2_E * a->scale : LOG2_E / sqrtf((float)a->D);

	at->groups = nn_round_up(p->count, PACKED_PANEL) / PACKED_PANEL;
	nn_transpose(turned, QUERIES, nn_f32(head->q + p->first * a->ldq), a->ldq, 0,
	    p->count, a->D, at->groups * PACKED_PANEL, 1);
	head->kind->pack_queries(at, turned, a->D, depth_of(head->kind, a->D), scale);
	for (size_t i = 0; i < QUERIES; i++) {
		at->top[i] = -1e30f; /* as in attention.c */
		at->sum[i] = 0;
	}
	memset(at->out, 0, a->D * QUERIES * sizeof *at->out);
}

void
attention_products(enum dtype dtype, union packed_sum *sums, const char *x, const char *w,
    size_t groups, size_t rows, size_t depth)
{
	const struct microkernel *kernel = microkernel(dtype);
	size_t bytes = depth * (kernel->widen ? sizeof(uint16_t) : 1);

	for (size_t r = 0; r < rows; r += kernel->rows)
		kernel->sums(sums + r * QUERIES, x + r * bytes, w, groups,
		    rows - r < kernel->rows ? rows - r : kernel->rows, depth);
}

/* The first keys of a tile join the panel's softmax. */
static void
attend_keys(struct packed_panel *at, const struct packed_head *head,
    const struct key_tile *tile, size_t keys)
{
	_Alignas(64) float st[SUMS * QUERIES];
	const struct nn_attention *a = head->a;
	_Alignas(64) float factor[QUERIES];

	head->kind->scores(st, at, tile, keys);
	if (at->panel.bias)
		add_bias(st, &at->panel, tile->first, keys, QUERIES);
	mask(st, a, &at->panel, tile->first, keys, QUERIES);
	softmax_step(
	    st, keys, at->top, at->sum, factor, at->groups * PACKED_PANEL, QUERIES);
	head->kind->mix(at, tile, st, keys, factor, a->D);
}

static void
end_panel(struct packed_panel *at, const struct packed_head *head)
{
	_Alignas(64) float rows[QUERIES * NN_MAX_HEAD];
	const struct nn_attention *a = head->a;
	const struct panel *p = &at->panel;
	size_t lanes = at->groups * PACKED_PANEL, ldo = a->H * a->D;
	size_t width = nn_round_up(a->D, NN_LANES);

	for (size_t i = 0; i < lanes; i++)
		at->sum[i] = at->sum[i] >= LEAST_SUM ? 1 / at->sum[i] : 0;
	for (size_t d = 0; d < a->D; d++)
#pragma omp simd
		for (size_t i = 0; i < lanes; i++)
			at->out[d * QUERIES + i] *= at->sum[i];
	nn_transpose(rows, width, nn_f32(at->out), QUERIES, 0, a->D, p->count, width, 1);
	for (size_t i = 0; i < p->count; i++)
		memcpy(head->out + (p->first + i) * ldo, rows + i * width,
		    a->D * sizeof *rows);
}

/* All panels meet a tile of keys before the next tile comes, as in attention.c. */
static void
attend_panels(struct packed_panel *panels, size_t count, const struct packed_head *head)
{
	struct key_tile tile;
	size_t left = count;

	tile.keys = 0; /* not all of its 140 KB */
	for (size_t ahead = 0; left; ahead += KEYS)
		for (size_t i = 0; i < count; i++) {
			const struct panel *p = &panels[i].panel;
			size_t key = p->from + ahead;
			if (ahead == 0)
				begin_panel(&panels[i], head);
			if (key < p->to) {
				fill_tile(&tile, head, key);
				attend_keys(&panels[i], head, &tile,
				    p->to - key < KEYS ? p->to - key : KEYS);
			}
			if (ahead == 0 ? key + KEYS >= p->to
				       : key < p->to && key + KEYS >= p->to) {
				end_panel(&panels[i], head);
				left--;
			}
		}
}

/* The mean of the sequence's first keys. */
static void
mean_key(float *mean, const struct packed_head *head)
{
	size_t D = head->a->D, keys = head->keys < KEYS ? head->keys : KEYS;

	memset(mean, 0, D * sizeof *mean);
	for (size_t j = 0; j < keys; j++)
#pragma omp simd
		for (size_t d = 0; d < D; d++)
			mean[d] += head->k[j * head->a->ldkv + d];
	for (size_t d = 0; keys && d < D; d++)
		mean[d] /= (float)keys;
}

void
attend_item_packed(const struct attention_kind *kind, float *out, const float *q,
    const float *k, const float *v, const struct nn_attention *a, size_t sequence,
    size_t item)
{
	struct packed_panel panels[PANELS];
	size_t start = (size_t)a->sequences.starts[sequence];
	size_t length = (size_t)a->sequences.starts[sequence + 1] - start;
	size_t h = item % a->H, kv = start * a->ldkv + h / (a->H / a->K) * a->D;
	size_t first, count = 0, last = item_queries(a, sequence, item, length, &first);
	struct packed_head head = { kind, a, out + start * a->H * a->D + h * a->D,
		q + start * a->ldq + h * a->D, k + kv, v + kv, length, NULL };
	float mean[NN_MAX_HEAD];

	if (a->sequences.attended && (size_t)a->sequences.attended[sequence] < length)
		head.keys = (size_t)a->sequences.attended[sequence];
	if (kind->centred) {
		mean_key(mean, &head);
		head.shift = mean;
	}
	for (; first < last; first += QUERIES)
		panels[count++].panel = panel_at(a, sequence, h, first, length, QUERIES);
	attend_panels(panels, count, &head);
}
