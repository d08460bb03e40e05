#include "folder/fingerprint.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"

enum { BLOCK = 1 << 20, QUICK = 1 << 30 };

/* A tensor of so many bytes leaves memory when it has been hashed: most of it will not be used, like most rows of a
 * table of tokens.  To map the others again would take longer than hashing them. */
enum { LARGE = 1 << 24 };

/* A block of a tensor's data. */
struct hash_block {
	const char *data;
	size_t size;
	bool goes; /* drop its pages after hashing */
	uint64_t hash;
};

static void
hash_block(struct hash_block *block)
{
	struct safetensor part = {
		.data = block->data, .dtype = DTYPE_U8, .count = block->size
	};

	block->hash = XXH3_64bits(block->data, block->size);
	if (block->goes)
		safetensors_let_go(&part);
}

static size_t
size_of_all(const struct safetensors *file)
{
	size_t total = 0;

	for (int i = 0; i < safetensors_count(file); i++)
		total += safetensors_bytes(safetensors_at(file, i));
	return total;
}

/* One of `every` blocks of each tensor, its first among them. */
static size_t
choose_blocks(
    const struct safetensors *file, size_t every, bool soon, struct hash_block **blocks)
{
	size_t count = 0, room = 0;

	*blocks = NULL;
	for (int i = 0; i < safetensors_count(file); i++) {
		const struct safetensor *tensor = safetensors_at(file, i);
		size_t size = safetensors_bytes(tensor);
		for (size_t at = 0; at < size; at += every * BLOCK) {
			size_t left = size - at;
			*blocks = mem_grow(*blocks, &room, count + 1, sizeof **blocks);
			(*blocks)[count++] =
			    (struct hash_block){ .data = (const char *)tensor->data + at,
				    .size = left < BLOCK ? left : BLOCK,
				    .goes = !soon || size > LARGE };
		}
	}
	return count;
}

static uint64_t
hash_description(uint64_t hash, const struct safetensor *tensor)
{
	int64_t numbers[SAFETENSORS_RANK + 2] = { tensor->dtype, tensor->rank };

	memcpy(numbers + 2, tensor->shape, (size_t)tensor->rank * sizeof *numbers);
	hash = XXH3_64bits_withSeed(tensor->name, strlen(tensor->name), hash);
	return XXH3_64bits_withSeed(numbers, sizeof numbers, hash);
}

static uint64_t
hash_file(const struct safetensors *file, size_t every, bool soon)
{
	struct hash_block *blocks;
	size_t count = choose_blocks(file, every, soon, &blocks);
	uint64_t hash = 0;

#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < count; i++)
		hash_block(&blocks[i]);
	for (int i = 0; i < safetensors_count(file); i++)
		hash = hash_description(hash, safetensors_at(file, i));
	for (size_t i = 0; i < count; i++)
		hash = XXH3_64bits_withSeed(&blocks[i].hash, sizeof blocks[i].hash, hash);
	free(blocks);
	return hash;
}

uint64_t
fingerprint_quick(const struct safetensors *file, bool soon)
{
	return hash_file(file, size_of_all(file) / QUICK + 1, soon);
}

uint64_t
fingerprint_whole(const struct safetensors *file)
{
	return hash_file(file, 1, false);
}
