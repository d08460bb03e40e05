#include "train/gradcache.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/block.h"
#include "nn/nn.h"

struct chunk {
	int64_t first, last; /* into order */
	int64_t tokens;
	bool frozen;
};

struct gradcache {
	struct model *model;
	int64_t tokens;
	const struct sequence *sequences;
	int32_t *order; /* indices of sequences, grouped by expert */
	struct chunk *chunks;
	int64_t count, chunk_count;
	size_t order_capacity, chunk_capacity;
	struct batch batch; /* the chunk in work; its arrays are ours */
	int32_t *ids, *starts, *skip;
	size_t ids_capacity, starts_capacity, skip_capacity;
	float *vectors, *part; /* nn memory: all embeddings; those of one chunk */
	size_t vectors_size, part_size;
	int32_t *rows; /* nn memory: the chunk's piece of order */
	size_t rows_size;
	float *host; /* [chunk, width] */
	size_t host_capacity;
};

int64_t
gradcache_tokens(const struct model *model, size_t bytes)
{
	size_t token = block_floats(model_spec(model)) * sizeof(float);

	return bytes / token > 512 ? (int64_t)(bytes / token) : 512;
}

struct gradcache *
gradcache_new(struct model *model, int64_t tokens)
{
	struct gradcache *cache = mem_zero(1, sizeof *cache);

	cache->model = model;
	cache->tokens = tokens;
	return cache;
}

void
gradcache_free(struct gradcache *cache)
{
	nn_free(cache->vectors, cache->vectors_size);
	nn_free(cache->part, cache->part_size);
	nn_free(cache->rows, cache->rows_size);
	free(cache->order);
	free(cache->chunks);
	free(cache->ids);
	free(cache->starts);
	free(cache->skip);
	free(cache->host);
	free(cache);
}

static void *
reserve(void *memory, size_t *size, int64_t count, size_t element)
{
	size_t bytes = mem_multiply((size_t)count, element, "batch");

	if (bytes <= *size)
		return memory;
	nn_free(memory, *size);
	*size = bytes;
	return nn_alloc(bytes);
}

static void
add_chunk(struct gradcache *cache, struct chunk chunk)
{
	cache->chunks = mem_grow(cache->chunks, &cache->chunk_capacity,
	    (size_t)cache->chunk_count + 1, sizeof *cache->chunks);
	cache->chunks[cache->chunk_count++] = chunk;
}

/* The sequences of one kind into chunks of their own; `placed` of all have their place. */
static int64_t
cut(struct gradcache *cache, const struct sequence *sequences, int64_t count,
    int64_t placed, bool frozen, int expert)
{
	struct chunk chunk = { placed, placed, 0, frozen };

	for (int64_t i = 0; i < count; i++) {
		if (sequences[i].expert != expert || sequences[i].frozen != frozen)
			continue;
		if (chunk.tokens && chunk.tokens + sequences[i].length > cache->tokens) {
			add_chunk(cache, chunk);
			chunk = (struct chunk){ placed, placed, 0, frozen };
		}
		chunk.tokens += sequences[i].length;
		cache->order[placed++] = (int32_t)i;
		chunk.last = placed;
	}
	if (chunk.last > chunk.first)
		add_chunk(cache, chunk);
	return placed;
}

/* Order by kind and expert, cut by the budget; of those that learn, which follow the others, put
 * the largest last. */
static void
plan(struct gradcache *cache, const struct sequence *sequences, int64_t count)
{
	int experts = model_spec(cache->model)->experts;
	int64_t placed = 0, largest = 0;

	cache->order = mem_grow(
	    cache->order, &cache->order_capacity, (size_t)count, sizeof *cache->order);
	cache->chunk_count = 0;
	for (int expert = -1; expert < experts; expert++)
		placed = cut(cache, sequences, count, placed, true, expert);
	for (int expert = -1; expert < experts; expert++)
		placed = cut(cache, sequences, count, placed, false, expert);
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

/* Pack a chunk's sequences into cache->batch. */
static void
pack(struct gradcache *cache, const struct chunk *chunk)
{
	struct batch *batch = &cache->batch;
	size_t count = (size_t)(chunk->last - chunk->first);
	bool skips = false;

	cache->ids = mem_grow(
	    cache->ids, &cache->ids_capacity, (size_t)chunk->tokens, sizeof *cache->ids);
	cache->starts = mem_grow(
	    cache->starts, &cache->starts_capacity, count + 1, sizeof *cache->starts);
	cache->skip =
	    mem_grow(cache->skip, &cache->skip_capacity, count, sizeof *cache->skip);
	*batch = (struct batch){ .sequences = (int64_t)count,
		.tokens = chunk->tokens,
		.ids = cache->ids,
		.starts = cache->starts };
	cache->starts[0] = 0;
	for (size_t i = 0; i < count; i++) {
		const struct sequence *s =
		    &cache->sequences[cache->order[(size_t)chunk->first + i]];
		memcpy(cache->ids + cache->starts[i], s->ids,
		    (size_t)s->length * sizeof *s->ids);
		cache->starts[i + 1] = cache->starts[i] + s->length;
		cache->skip[i] = s->skip;
		skips |= s->skip > 0;
		if (s->length > batch->longest)
			batch->longest = s->length;
		batch->expert = s->expert;
	}
	batch->skip = skips ? cache->skip : NULL;
}

/* Rows of the chunk in the matrix of all embeddings. */
static const int32_t *
chunk_rows(struct gradcache *cache, const struct chunk *chunk)
{
	int64_t count = chunk->last - chunk->first;

	cache->rows = reserve(cache->rows, &cache->rows_size, count, sizeof *cache->rows);
	nn_upload(cache->rows, cache->order + chunk->first,
	    (size_t)count * sizeof *cache->rows);
	return cache->rows;
}

float *
gradcache_embed(struct gradcache *cache, const struct sequence *sequences, int64_t count)
{
	size_t width = (size_t)model_width(cache->model);

	cache->sequences = sequences;
	cache->count = count;
	plan(cache, sequences, count);
	cache->vectors = reserve(
	    cache->vectors, &cache->vectors_size, count, width * sizeof *cache->vectors);
	nn_zero(cache->vectors, (size_t)count * width);
	for (int64_t c = 0; c < cache->chunk_count; c++) {
		const struct chunk *chunk = &cache->chunks[c];
		size_t size = (size_t)(chunk->last - chunk->first);
		const float *part;

		pack(cache, chunk);
		if (chunk->frozen)
			model_base(cache->model, true);
		if (c == cache->chunk_count - 1 && !chunk->frozen) {
			part = model_forward(cache->model, &cache->batch);
		} else {
			cache->host = mem_grow(cache->host, &cache->host_capacity,
			    size * width, sizeof *cache->host);
			cache->part = reserve(cache->part, &cache->part_size,
			    (int64_t)size, width * sizeof *cache->part);
			model_encode(cache->model, &cache->batch, cache->host);
			nn_upload(
			    cache->part, cache->host, size * width * sizeof *cache->part);
			part = cache->part;
		}
		if (chunk->frozen)
			model_base(cache->model, false);
		nn_scatter_add(
		    cache->vectors, part, chunk_rows(cache, chunk), size, width);
	}
	return cache->vectors;
}

void
gradcache_backward(struct gradcache *cache, const float *gradient)
{
	size_t width = (size_t)model_width(cache->model);

	/* from the last, whose activations are still there */
	for (int64_t c = cache->chunk_count - 1; c >= 0 && !cache->chunks[c].frozen;
	     c--) {
		const struct chunk *chunk = &cache->chunks[c];
		size_t size = (size_t)(chunk->last - chunk->first);

		cache->part = reserve(cache->part, &cache->part_size, (int64_t)size,
		    width * sizeof *cache->part);
		nn_gather(cache->part, gradient, chunk_rows(cache, chunk), size, width);
		if (c < cache->chunk_count - 1) {
			pack(cache, chunk);
			model_forward(cache->model, &cache->batch);
		}
		model_backward(cache->model, &cache->batch, cache->part);
	}
}

int64_t
gradcache_chunks(const struct gradcache *cache)
{
	return cache->chunk_count;
}
