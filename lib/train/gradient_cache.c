#include "train/gradient_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/block.h"
#include "nn/nn.h"

struct chunk {
	int64_t first, end; /* into order */
	int64_t tokens;
	bool frozen;
};

struct gradient_cache {
	struct model *model;
	int64_t tokens;
	const struct sequence *sequences;
	int64_t count;
	int64_t *order; /* indices of sequences, grouped by batch_sort */
	struct chunk *chunks;
	int64_t chunk_count;
	size_t order_capacity, chunk_capacity;
	struct batch batch; /* the chunk in work */
	/* the last chunks, whose activations are kept, and their embeddings: [cached_count] */
	struct batch *cached;
	const float **cached_vectors;
	int64_t cached_count;
	size_t cached_room, cached_vectors_room;
	float *vectors, *part; /* nn memory: embeddings of all sequences; of one chunk */
	size_t vectors_size, part_size;
	int32_t *rows; /* nn memory: the chunk's indices of `order` */
	size_t rows_size;
	int32_t *host_rows;
	size_t host_rows_capacity;
};

int64_t
gradient_cache_tokens(const struct model *model, size_t bytes)
{
	const struct spec *spec = model_spec(model);
	/* static embeddings need rows and their gradients only */
	size_t floats = spec->layers ? block_floats(spec) : 2 * (size_t)spec->width;
	size_t token = floats * sizeof(float);

	return bytes / token > 512 ? (int64_t)(bytes / token) : 512;
}

struct gradient_cache *
gradient_cache_new(struct model *model, int64_t tokens)
{
	struct gradient_cache *cache = mem_zero(1, sizeof *cache);

	cache->model = model;
	cache->tokens = tokens;
	return cache;
}

void
gradient_cache_free(struct gradient_cache *cache)
{
	nn_free(cache->vectors, cache->vectors_size);
	nn_free(cache->part, cache->part_size);
	nn_free(cache->rows, cache->rows_size);
	free(cache->order);
	free(cache->chunks);
	batch_free(&cache->batch);
	for (size_t i = 0; i < cache->cached_room; i++)
		batch_free(&cache->cached[i]);
	free(cache->cached);
	free(cache->cached_vectors);
	free(cache->host_rows);
	free(cache);
}

/* Sorts the sequences by expert, cuts chunks by the budget, and puts the largest chunk that learns last.  Chunks that learn follow
 * the frozen ones. */
static void
cut(struct gradient_cache *cache, int64_t count)
{
	const struct sequence *sequences = cache->sequences;
	int64_t largest = 0;

	cache->order = mem_grow(
	    cache->order, &cache->order_capacity, (size_t)count, sizeof *cache->order);
	int64_t computed = 0;
	for (int64_t i = 0; i < count; i++)
		if (!sequences[i].vector)
			cache->order[computed++] = i;
	batch_sort(cache->order, computed, sequences);
	cache->chunk_count = 0;
	for (int64_t first = 0, end; first < computed; first = end) {
		end = batch_end(cache->order, first, computed, sequences, cache->tokens);
		struct chunk chunk = { first, end, 0,
			sequences[cache->order[first]].frozen };
		for (int64_t i = first; i < end; i++)
			chunk.tokens += sequences[cache->order[i]].length;
		cache->chunks = mem_grow(cache->chunks, &cache->chunk_capacity,
		    (size_t)cache->chunk_count + 1, sizeof *cache->chunks);
		cache->chunks[cache->chunk_count++] = chunk;
	}
	for (int64_t c = 0; c < cache->chunk_count; c++)
		if (cache->chunks[largest].frozen ||
		    cache->chunks[c].tokens >= cache->chunks[largest].tokens)
			largest = c;
	if (cache->chunk_count) {
		struct chunk last = cache->chunks[largest];
		cache->chunks[largest] = cache->chunks[cache->chunk_count - 1];
		cache->chunks[cache->chunk_count - 1] = last;
	}
}

/* Sets the number of last chunks that keep their activations: at least one, if it learns. */
static void
choose_cached(struct gradient_cache *cache)
{
	int64_t tokens = 0, kept = 0;

	for (int64_t c = cache->chunk_count - 1; c >= 0; c--, kept++) {
		const struct chunk *chunk = &cache->chunks[c];
		tokens += chunk->tokens;
		if (chunk->frozen || (kept && tokens > cache->tokens))
			break;
	}
	size_t room = cache->cached_room;
	cache->cached = mem_grow(
	    cache->cached, &cache->cached_room, (size_t)kept, sizeof *cache->cached);
	for (; room < cache->cached_room; room++)
		cache->cached[room] = (struct batch){ 0 };
	cache->cached_vectors = mem_grow(cache->cached_vectors,
	    &cache->cached_vectors_room, (size_t)kept, sizeof *cache->cached_vectors);
	cache->cached_count = kept;
}

static struct batch *
pack(struct gradient_cache *cache, const struct chunk *chunk, struct batch *batch)
{
	batch_pack(batch, cache->order + chunk->first, chunk->end - chunk->first,
	    cache->sequences);
	return batch;
}

/* Rows of the chunk in the matrix of all embeddings. */
static const int32_t *
chunk_rows(struct gradient_cache *cache, const struct chunk *chunk)
{
	int64_t count = chunk->end - chunk->first;

	cache->host_rows = mem_grow(cache->host_rows, &cache->host_rows_capacity,
	    (size_t)count, sizeof *cache->host_rows);
	for (int64_t i = 0; i < count; i++)
		cache->host_rows[i] = (int32_t)cache->order[chunk->first + i];
	cache->rows = nn_reserve(
	    cache->rows, &cache->rows_size, (size_t)count, sizeof *cache->rows);
	nn_upload(cache->rows, cache->host_rows, (size_t)count * sizeof *cache->rows);
	return cache->rows;
}

static void
place(struct gradient_cache *cache, const struct chunk *chunk, const float *part)
{
	nn_scatter_add(cache->vectors, part, chunk_rows(cache, chunk),
	    (size_t)(chunk->end - chunk->first), (size_t)model_width(cache->model));
}

/* Embeds a chunk without keeping activations. */
static void
encode(struct gradient_cache *cache, const struct chunk *chunk)
{
	size_t width = (size_t)model_width(cache->model);
	size_t size = (size_t)(chunk->end - chunk->first);

	cache->part =
	    nn_reserve(cache->part, &cache->part_size, size, width * sizeof *cache->part);
	model_embed(cache->model, pack(cache, chunk, &cache->batch), cache->part);
	place(cache, chunk, cache->part);
}

float *
gradient_cache_embed(
    struct gradient_cache *cache, const struct sequence *sequences, int64_t count)
{
	size_t width = (size_t)model_width(cache->model);

	cache->sequences = sequences;
	cache->count = count;
	cut(cache, count);
	choose_cached(cache);
	const struct chunk *kept =
	    cache->chunks + cache->chunk_count - cache->cached_count;
	cache->vectors = nn_reserve(cache->vectors, &cache->vectors_size, (size_t)count,
	    width * sizeof *cache->vectors);
	nn_zero(cache->vectors, (size_t)count * width);
	for (const struct chunk *chunk = cache->chunks; chunk < kept; chunk++)
		encode(cache, chunk);
	for (size_t i = 0; i < (size_t)count; i++)
		if (sequences[i].vector)
			nn_upload(cache->vectors + i * width, sequences[i].vector,
			    width * sizeof *cache->vectors);
	for (int64_t k = 0; k < cache->cached_count; k++)
		pack(cache, &kept[k], &cache->cached[k]);
	if (cache->cached_count)
		model_forward_all(cache->model, cache->cached,
		    (size_t)cache->cached_count, cache->cached_vectors);
	for (int64_t k = 0; k < cache->cached_count; k++)
		place(cache, &kept[k], cache->cached_vectors[k]);
	return cache->vectors;
}

void
gradient_cache_backward(
    struct gradient_cache *cache, const float *gradient, const struct model_whole *whole)
{
	size_t width = (size_t)model_width(cache->model);
	int64_t first = cache->chunk_count - cache->cached_count;

	/* nothing learns: all gradients are complete; ranks (ranks.h) rely on this order */
	if (whole && !cache->cached_count)
		for (int layer = model_spec(cache->model)->layers - 1; layer >= -1;
		     layer--)
			whole->tell(whole->context, layer);
	/* the last chunks first: their activations are kept */
	for (int64_t c = cache->chunk_count - 1; c >= 0 && !cache->chunks[c].frozen;
	     c--) {
		const struct chunk *chunk = &cache->chunks[c];
		size_t size = (size_t)(chunk->end - chunk->first);
		bool last = c == 0 || cache->chunks[c - 1].frozen;

		cache->part = nn_reserve(
		    cache->part, &cache->part_size, size, width * sizeof *cache->part);
		nn_gather(cache->part, gradient, chunk_rows(cache, chunk), size, width);
		if (c >= first) {
			model_backward(cache->model, &cache->cached[c - first],
			    cache->part, last ? whole : NULL);
			continue;
		}
		model_forward(cache->model, pack(cache, chunk, &cache->batch));
		model_backward(
		    cache->model, &cache->batch, cache->part, last ? whole : NULL);
	}
}

void
gradient_cache_demand_finite(const struct gradient_cache *cache)
{
	size_t width = (size_t)model_width(cache->model);

	/* if all chunks were kept, the backward pass is at fault, not the weights before it */
	if (cache->chunk_count > cache->cached_count)
		model_demand_finite(
		    cache->model, cache->vectors, (size_t)cache->count * width);
}

int64_t
gradient_cache_chunks(const struct gradient_cache *cache)
{
	return cache->chunk_count;
}
