#include "model/terms.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/family/family.h"
#include "model/model_struct.h"
#include "model/pass.h"
#include "model/token_terms.h"

/* Rows of the output matrix at a time; tokens at a time, whose logits then fit a cache; weights of the texts at a time. */
enum { ROWS = 512, TOKENS = 256, WEIGHTS = 1 << 23 };

/* Texts of a batch, first..end-1, whose logits are made together. */
struct terms_chunk {
	size_t first, end, tokens;
	size_t starts; /* of their n + 1 starts from 0, in terms.starts */
};

/* One array of nn memory. */
struct terms_array {
	void *at;
	size_t size;
};

struct terms {
	struct model *model;
	struct token_terms *tokens; /* NULL: SPLADE */
	struct head_splade splade;
	size_t E, V;		  /* columns and rows of the output matrix */
	struct nn_matrix *blocks; /* [count], ROWS rows each */
	size_t count, *packed;	  /* [count]: bytes of a block that was packed */
	struct terms_array dense, act, norm, stats, starts, pooled;
	struct terms_array *logits; /* [workers], [tokens,ROWS] of a chunk */
	float *host;		    /* logits or weights of a device */
	size_t host_room;
	/* the batch at work */
	const float *hidden;	    /* [T,E], the input of the output matrix */
	const int32_t *host_starts; /* [N + 1] */
	struct terms_chunk *chunks;
	size_t chunks_room, group, group_end; /* the chunks at work */
	/* the terms of a text */
	int32_t *ids;
	float *weights;
	struct weighed_token *order;
};

static void *
reserve(struct terms_array *array, size_t count, size_t element)
{
	return array->at = nn_reserve(array->at, &array->size, count, element);
}

/* Dies if a tensor of the head is not finite: a maximum would hide it. */
static void
demand_finite(const struct model *model)
{
	for (int i = STEM_MLM_DENSE; i < STEM_PARAMETERS; i++) {
		int tensor = model->weights.stem[i].tensor;
		const struct safetensor *stored =
		    tensor < 0 ? NULL : model->weights.stored[tensor];
		if (stored)
			weights_demand_finite(
			    safetensors_name(model->file), stored, stored->name);
	}
}

/* Cuts the output matrix into blocks, which are packed once if the kernels read host memory. */
static void
cut_matrix(struct terms *terms, enum dtype kind)
{
	const struct nn_matrix *stem = terms->model->stem;
	struct nn_matrix whole = stem[stem[STEM_OUTPUT].at ? STEM_OUTPUT : STEM_TOKENS];
	size_t E = terms->E;
	bool pack = !nn_device() && whole.dtype != DTYPE_I8 && nn_supports(kind);

	/* as packed_weights.c: a bf16 matrix packed as f32 would take twice the memory */
	pack = pack && (kind != DTYPE_F32 || whole.dtype == DTYPE_F32);
	terms->count = (terms->V + ROWS - 1) / ROWS;
	terms->blocks = mem_new(terms->count, sizeof *terms->blocks);
	terms->packed = mem_zero(terms->count, sizeof *terms->packed);
	for (size_t i = 0; i < terms->count; i++) {
		size_t left = terms->V - i * ROWS, rows = left < ROWS ? left : ROWS;
		struct nn_matrix *block = &terms->blocks[i];
		*block = nn_matrix_from(whole, i * ROWS, E);
		if (!pack)
			continue;
		size_t bytes = terms->packed[i] = nn_packed_size(kind, rows, E);
		void *to = nn_alloc(bytes);
		if (!nn_pack(to, kind, block->at, block->dtype, false, NULL, rows, E))
			die("%s: the embeddings of the tokens are not finite",
			    model_dir(terms->model));
		*block = (struct nn_matrix){ .at = to, .dtype = kind, .packed = true };
	}
}

struct terms *
terms_open(struct model *model, enum dtype kind, int64_t most)
{
	struct terms *terms = mem_zero(1, sizeof *terms);

	terms->tokens =
	    model->head.splade.is && !model->head.table ? NULL : token_terms_open(model);
	terms->model = model;
	terms->splade = model->head.splade;
	if (most)
		terms->splade.most = (int)most;
	terms->V = (size_t)model->spec.vocabulary;
	terms->E = (size_t)spec_embedding_width(&model->spec);
	terms->logits = mem_zero(nn_workers(), sizeof *terms->logits);
	terms->ids = mem_new(terms->V, sizeof *terms->ids);
	terms->weights = mem_new(terms->V, sizeof *terms->weights);
	terms->order = mem_new(terms->V, sizeof *terms->order);
	if (terms->tokens)
		return terms;
	model_open_prediction(model);
	demand_finite(model);
	cut_matrix(terms, kind);
	return terms;
}

int64_t
terms_vocabulary(const struct terms *terms)
{
	return (int64_t)terms->V;
}

/* Logits to weights. ------------------------------------------------------------- */

static float
weight_of(const struct head_splade *splade, float logit)
{
	float weight = logit > 0 ? log1pf(logit) : 0;

	return splade->twice ? log1pf(weight) : weight;
}

/* logits[n] in nn memory to weights, each by itself. */
static void
weigh_each(const struct terms *terms, float *logits, size_t n)
{
	float *host = nn_device() ? mem_new(n, sizeof *host) : logits;

	if (host != logits)
		nn_download(host, logits, n * sizeof *host);
	for (size_t i = 0; i < n; i++)
		host[i] = weight_of(&terms->splade, host[i]);
	if (host == logits)
		return;
	nn_upload(logits, host, n * sizeof *host);
	free(host);
}

/* A block of rows of the output matrix, for the chunks at work. */
static void
pool_block(void *context, size_t worker, size_t i)
{
	struct terms *terms = context;
	const float *bias = terms->model->stem[STEM_OUTPUT_BIAS].at;
	size_t left = terms->V - i * ROWS, rows = left < ROWS ? left : ROWS;
	float *pooled = (float *)terms->pooled.at + i * ROWS;

	for (size_t c = terms->group; c < terms->group_end; c++) {
		const struct terms_chunk *chunk = &terms->chunks[c];
		size_t first = (size_t)terms->host_starts[chunk->first];
		size_t texts = chunk->end - chunk->first;
		float *logits =
		    reserve(&terms->logits[worker], chunk->tokens * ROWS, sizeof *logits);
		struct nn_sequences sequences = {
			.starts = (const int32_t *)terms->starts.at + chunk->starts,
			.N = texts,
			.T = chunk->tokens
		};
		nn_linear(logits, rows, terms->hidden + first * terms->E, terms->E,
		    terms->blocks[i], bias ? bias + i * ROWS : NULL, chunk->tokens,
		    terms->E, rows);
		if (terms->splade.sum)
			weigh_each(terms, logits, chunk->tokens * rows);
		nn_pool(pooled +
			    (chunk->first - terms->chunks[terms->group].first) * terms->V,
		    terms->V, logits, &sequences, NULL,
		    terms->splade.sum ? NN_POOL_MEAN : NN_POOL_MAX, rows);
	}
}

/* Terms to texts. ---------------------------------------------------------------- */

static int
by_weight(const void *a, const void *b)
{
	const struct weighed_token *x = a, *y = b;

	if (fabsf(x->weight) != fabsf(y->weight))
		return fabsf(x->weight) > fabsf(y->weight) ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Keeps the `most` terms of the greatest weights. */
static int64_t
cut_terms(struct terms *terms, int64_t count)
{
	int64_t most = terms->splade.most;

	if (!most || count <= most)
		return count;
	for (int64_t i = 0; i < count; i++)
		terms->order[i] =
		    (struct weighed_token){ terms->ids[i], terms->weights[i] };
	qsort(terms->order, (size_t)count, sizeof *terms->order, by_weight);
	qsort(terms->order, (size_t)most, sizeof *terms->order, weighed_token_by_id);
	for (int64_t i = 0; i < most; i++) {
		terms->ids[i] = terms->order[i].id;
		terms->weights[i] = terms->order[i].weight;
	}
	return most;
}

/* The terms of a text of `tokens` tokens, from its pooled row [V]; returns their number. */
static int64_t
take_terms(struct terms *terms, const float *row, size_t tokens)
{
	const struct head_splade *splade = &terms->splade;
	int64_t count = 0;

	for (size_t v = 0; v < terms->V; v++) {
		if (!(row[v] > 0))
			continue;
		float weight =
		    splade->sum ? row[v] * (float)tokens : weight_of(splade, row[v]);
		if (!isfinite(weight))
			die("%s: a term's weight is not finite; the numbers overflow",
			    model_dir(terms->model));
		if (weight > 0) {
			terms->ids[count] = (int32_t)v;
			terms->weights[count++] = weight;
		}
	}
	return cut_terms(terms, count);
}

/* Batches. ----------------------------------------------------------------------- */

/* The last hidden states [T,C] through the head up to the output matrix. */
static void
transform(struct terms *terms, const struct model_seen *seen)
{
	size_t T = seen->sequences.T, E = terms->E;
	struct prediction p = { .M = T, .hidden = (float *)seen->hidden };

	terms->hidden = seen->hidden;
	if (!terms->model->weights.names->stem[STEM_MLM_DENSE]) /* EuroBERT */
		return;
	p.dense = reserve(&terms->dense, T * E, sizeof(float));
	p.act = reserve(&terms->act, T * E, sizeof(float));
	p.norm = reserve(&terms->norm, T * E, sizeof(float));
	p.stats = reserve(&terms->stats, T * 2, sizeof(float));
	prediction_to_output(terms->model, &p);
	terms->hidden = p.norm;
}

/* Cuts a batch into chunks; returns their number. */
static size_t
cut_chunks(struct terms *terms, size_t N)
{
	const int32_t *starts = terms->host_starts;
	int32_t *relative = mem_new(2 * N + 1, sizeof *relative);
	size_t count = 0, used = 0;

	for (size_t first = 0, end; first < N; first = end) {
		for (end = first + 1;
		     end < N && starts[end + 1] - starts[first] <= TOKENS;)
			end++;
		terms->chunks = mem_grow(
		    terms->chunks, &terms->chunks_room, count + 1, sizeof *terms->chunks);
		terms->chunks[count++] = (struct terms_chunk){ first, end,
			(size_t)(starts[end] - starts[first]), used };
		for (size_t i = first; i <= end; i++)
			relative[used++] = starts[i] - starts[first];
	}
	reserve(&terms->starts, used, sizeof *relative);
	nn_upload(terms->starts.at, relative, used * sizeof *relative);
	free(relative);
	return count;
}

/* The weights of texts first..end-1 are pooled: hands their terms out. */
static void
put_terms(struct terms *terms, size_t first, size_t end, terms_put *put, void *context)
{
	const float *pooled = terms->pooled.at;
	size_t V = terms->V;

	if (nn_device()) {
		terms->host = mem_grow(terms->host, &terms->host_room, (end - first) * V,
		    sizeof *terms->host);
		nn_download(terms->host, pooled, (end - first) * V * sizeof *terms->host);
		pooled = terms->host;
	}
	for (size_t n = first; n < end; n++) {
		const int32_t *start = &terms->host_starts[n];
		int64_t count = take_terms(
		    terms, pooled + (n - first) * V, (size_t)(start[1] - start[0]));
		put(context, n, count, terms->ids, terms->weights);
	}
}

static void
weigh_tokens(
    struct terms *terms, const struct model_seen *seen, terms_put *put, void *context)
{
	token_terms_weigh(terms->tokens, seen);
	for (size_t n = 0; n < seen->sequences.N; n++) {
		const int32_t *start = &terms->host_starts[n];
		int64_t count = token_terms_take(terms->tokens, (size_t)start[0],
		    (size_t)start[1], terms->ids, terms->weights);
		put(context, n, cut_terms(terms, count), terms->ids, terms->weights);
	}
}

static void
weigh_vocabulary(
    struct terms *terms, const struct model_seen *seen, terms_put *put, void *context)
{
	size_t N = seen->sequences.N, V = terms->V, most = WEIGHTS / V + 1;

	transform(terms, seen);
	size_t chunks = cut_chunks(terms, N);
	for (terms->group = 0; terms->group < chunks; terms->group = terms->group_end) {
		size_t first = terms->chunks[terms->group].first, end = first;
		terms->group_end = terms->group;
		while (
		    terms->group_end < chunks &&
		    (end == first || terms->chunks[terms->group_end].end - first <= most))
			end = terms->chunks[terms->group_end++].end;
		reserve(&terms->pooled, (end - first) * V, sizeof(float));
		nn_parallel_for(terms->count, pool_block, terms);
		put_terms(terms, first, end, put, context);
	}
}

void
terms_weigh(
    struct terms *terms, const struct model_seen *seen, terms_put *put, void *context)
{
	size_t N = seen->sequences.N;
	int32_t *starts = mem_new(N + 1, sizeof *starts);

	nn_download(starts, seen->sequences.starts, (N + 1) * sizeof *starts);
	terms->host_starts = starts;
	if (terms->tokens)
		weigh_tokens(terms, seen, put, context);
	else
		weigh_vocabulary(terms, seen, put, context);
	free(starts);
}

static void
free_array(struct terms_array *array)
{
	nn_free(array->at, array->size);
}

void
terms_free(struct terms *terms)
{
	struct terms_array *arrays[] = { &terms->dense, &terms->act, &terms->norm,
		&terms->stats, &terms->starts, &terms->pooled };

	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		free_array(arrays[i]);
	for (size_t i = 0; i < nn_workers(); i++)
		free_array(&terms->logits[i]);
	for (size_t i = 0; i < terms->count; i++)
		if (terms->packed[i])
			nn_free((void *)terms->blocks[i].at, terms->packed[i]);
	if (terms->tokens)
		token_terms_free(terms->tokens);
	free(terms->logits);
	free(terms->blocks);
	free(terms->packed);
	free(terms->host);
	free(terms->chunks);
	free(terms->ids);
	free(terms->weights);
	free(terms->order);
	free(terms);
}
