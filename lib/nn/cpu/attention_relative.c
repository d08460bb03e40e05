#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/cpu/attention_relative.h"
#include "nn/cpu/elementary.h"
#include "nn/cpu/gemm.h"

enum { TILE = 16 };

/* A head of a sequence: its first rows of q, k, v and out, and what it computes. */
struct relative_head {
	const float *q, *k, *v;
	float *out;
	size_t queries, keys;
	const int32_t *rows; /* of i - j, from the table's row `first` on */
	int32_t first,
	    count; /* the table's rows that relative positions of this sequence need */
	float *scores;	   /* [queries, keys] */
	float *of_queries; /* [queries, count] q k' */
	float *of_keys;	   /* [keys, count] k q' */
};

/* c[M,N] = a b', or a b */
static void
product(float *c, size_t ldc, const float *a, size_t lda, const float *b, size_t ldb,
    size_t M, size_t N, size_t K, bool transposed)
{
	struct gemm g = { .c = c,
		.a = a,
		.b = nn_f32(b),
		.ldc = ldc,
		.lda = lda,
		.ldb = ldb,
		.M = M,
		.N = N,
		.K = K,
		.b_transposed = transposed,
		.alpha = 1 };

	gemm_f32(&g, &(struct gemm_rectangle){ 0, M, 0, N });
}

/* scores += of_queries and of_keys, tile by tile, so that a tile's rows of both stay in the cache. */
static void
add_positions(const struct relative_head *head)
{
	size_t R = (size_t)head->count;

	for (size_t i0 = 0; i0 < head->queries; i0 += TILE)
		for (size_t j0 = 0; j0 < head->keys; j0 += TILE)
			for (size_t i = i0; i < i0 + TILE && i < head->queries; i++)
				for (size_t j = j0; j < j0 + TILE && j < head->keys;
				     j++) {
					ptrdiff_t away = (ptrdiff_t)i - (ptrdiff_t)j;
					size_t r =
					    (size_t)(head->rows[away] - head->first);
					head->scores[i * head->keys + j] +=
					    head->of_queries[i * R + r] +
					    head->of_keys[j * R + r];
				}
}

/* Each row of n scores becomes weights that sum to 1. */
static void
weigh(float *row, size_t n, float scale)
{
	float top = -INFINITY, sum = 0;

	for (size_t j = 0; j < n; j++)
		top = row[j] > top ? row[j] : top;
	for (size_t j = 0; j < n; j++)
		row[j] = nn_exp2((row[j] - top) * scale);
	for (size_t j = 0; j < n; j++)
		sum += row[j];
	for (size_t j = 0; j < n; j++)
		row[j] /= sum;
}

static void
attend(const struct relative_head *head, const struct nn_attention *a, size_t h)
{
	const struct nn_relative *relative = a->relative;
	size_t D = a->D, HD = a->H * D, R = (size_t)head->count;
	size_t table = (size_t)head->first * HD + h * D;
	float scale = a->scale != 0 ? a->scale : 1 / sqrtf((float)D);

	product(head->scores, head->keys, head->q, a->ldq, head->k, a->ldkv,
	    head->queries, head->keys, D, true);
	product(head->of_queries, R, head->q, a->ldq, relative->k + table, HD,
	    head->queries, R, D, true);
	product(head->of_keys, R, head->k, a->ldkv, relative->q + table, HD, head->keys,
	    R, D, true);
	add_positions(head);
	for (size_t i = 0; i < head->queries; i++)
		weigh(head->scores + i * head->keys, head->keys, scale * 1.44269504f);
	product(head->out, HD, head->scores, head->keys, head->v, a->ldkv, head->queries,
	    D, head->keys, false);
}

static void
attend_head(float *out, const float *q, const float *k, const float *v,
    const struct nn_attention *a, size_t sequence, size_t h)
{
	const int32_t *starts = a->sequences.starts, *attended = a->sequences.attended;
	size_t start = (size_t)starts[sequence];
	size_t T = (size_t)starts[sequence + 1] - start, D = a->D;
	size_t keys = attended ? (size_t)attended[sequence] : T;
	const int32_t *rows = a->relative->rows + a->sequences.longest;
	size_t kv = start * a->ldkv + h / (a->H / a->K) * D;

	if (!T)
		return;
	struct relative_head head = { .q = q + start * a->ldq + h * D,
		.k = k + kv,
		.v = v + kv,
		.out = out + start * a->H * D + h * D,
		.queries = T,
		.keys = keys < T ? keys : T,
		.rows = rows,
		.first = rows[1 - (ptrdiff_t)T] };
	head.count = rows[T - 1] - head.first + 1;
	if (!head.keys) {
		for (size_t i = 0; i < T; i++)
			memset(head.out + i * a->H * D, 0, D * sizeof *out);
		return;
	}
	size_t R = (size_t)head.count;
	float *room = mem_new(T * head.keys + (T + head.keys) * R, sizeof *room);
	head.scores = room;
	head.of_queries = room + T * head.keys;
	head.of_keys = head.of_queries + T * R;
	attend(&head, a, h);
	free(room);
}

void
nn_attention_relative(float *out, const float *q, const float *k, const float *v,
    const struct nn_attention *a)
{
	size_t H = a->H, items = a->sequences.N * H;
	bool shared = a->sequences.T * H * a->D > NN_SERIAL;

	if (nn_count_region)
		nn_count_region(shared, true);
#pragma omp parallel for schedule(dynamic) if (shared)
	for (size_t item = 0; item < items; item++)
		attend_head(out, q, k, v, a, item / H, item % H);
}
