#include "folder/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/torch_file.h"
#include "text/json.h"

enum { HEADER_MAX = 100000000 };

/* A file of a checkpoint. */
struct weight_shard {
	char *path;
	char *map;
	size_t size, start; /* of the file; offset of its data */
	struct timespec changed;
	struct tree *header;
	struct torch_file *torch; /* of a *.bin or *.pt; NULL: safetensors */
};

struct tensor_entry {
	struct safetensor tensor;
	const char *unknown; /* name of a dtype that tensor.h lacks, or NULL */
	size_t begin, end;   /* offsets in the data */
	const struct weight_shard *shard;
};

struct safetensors {
	char *path;
	struct weight_shard *shards;
	int shard_count;
	struct tensor_entry
	    *entries; /* in file order, those with an unknown dtype last */
	struct tensor_entry **sorted; /* [all] by name */
	int count, all;		      /* entries of known dtypes; of all */
};

static const struct {
	const char *name;
	int bits;
	int dtype; /* -1: tensor.h lacks it */
} dtypes[] = {
	{ "F32", 32, DTYPE_F32 },
	{ "F16", 16, DTYPE_F16 },
	{ "BF16", 16, DTYPE_BF16 },
	{ "F64", 64, DTYPE_F64 },
	{ "I8", 8, DTYPE_I8 },
	{ "I32", 32, DTYPE_I32 },
	{ "I64", 64, DTYPE_I64 },
	{ "U8", 8, DTYPE_U8 },
	{ "BOOL", 8, DTYPE_BOOL },
	{ "I16", 16, -1 },
	{ "U16", 16, -1 },
	{ "U32", 32, -1 },
	{ "U64", 64, -1 },
	{ "C64", 64, -1 },
	{ "F8_E4M3", 8, -1 },
	{ "F8_E5M2", 8, -1 },
	{ "F8_E8M0", 8, -1 },
	{ "F6_E2M3", 6, -1 },
	{ "F6_E3M2", 6, -1 },
	{ "F4", 4, -1 },
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

_Noreturn static void
fail(const struct weight_shard *shard, const struct tensor_entry *entry, const char *what)
{
	die("%s: tensor '%s': %s", shard->path, entry->tensor.name, what);
}

static int64_t
natural(const struct weight_shard *shard, const struct tensor_entry *entry,
    const struct tree *number)
{
	if (number->kind != TREE_INTEGER || number->integer < 0)
		fail(shard, entry, "a shape or offset is not a natural number");
	return number->integer;
}

static const struct tree *
member(const struct weight_shard *shard, const struct tensor_entry *entry,
    const struct tree *object, const char *key, enum tree_kind kind)
{
	const struct tree *value = tree_get(object, key);

	if (!value || value->kind != kind)
		die("%s: tensor '%s': '%s' is missing or of the wrong kind", shard->path,
		    entry->tensor.name, key);
	return value;
}

static int
parse_dtype(
    const struct weight_shard *shard, struct tensor_entry *entry, const char *name)
{
	for (int i = 0; i < DTYPES; i++)
		if (!strcmp(name, dtypes[i].name)) {
			if (dtypes[i].dtype < 0)
				entry->unknown = dtypes[i].name;
			else
				entry->tensor.dtype = (enum dtype)dtypes[i].dtype;
			return dtypes[i].bits;
		}
	die("%s: tensor '%s': dtype '%s' is not supported", shard->path,
	    entry->tensor.name, name);
}

static void
parse_entry(
    const struct weight_shard *shard, struct tensor_entry *entry, const struct tree *tree)
{
	static const char *const keys[] = { "dtype", "shape", "data_offsets", NULL };
	struct safetensor *tensor = &entry->tensor;

	*entry = (struct tensor_entry){ .shard = shard, .tensor.name = tree->key };
	if (tree->kind != TREE_OBJECT)
		fail(shard, entry, "its description is not an object");
	tree_only(tree, keys);
	const struct tree *dtype = member(shard, entry, tree, "dtype", TREE_STRING);
	const struct tree *shape = member(shard, entry, tree, "shape", TREE_LIST);
	const struct tree *offsets =
	    member(shard, entry, tree, "data_offsets", TREE_LIST);
	size_t bits = (size_t)parse_dtype(shard, entry, dtype->string);
	if (shape->count > SAFETENSORS_RANK)
		fail(shard, entry, "it has more than 8 dimensions");
	tensor->rank = (int)shape->count;
	tensor->count = 1;
	for (int i = 0; i < tensor->rank; i++) {
		tensor->shape[i] = natural(shard, entry, shape->items[i]);
		if (__builtin_mul_overflow(
			tensor->count, (size_t)tensor->shape[i], &tensor->count))
			fail(shard, entry, "its shape is too large");
	}
	if (offsets->count != 2)
		fail(shard, entry, "data_offsets must be two numbers");
	entry->begin = (size_t)natural(shard, entry, offsets->items[0]);
	entry->end = (size_t)natural(shard, entry, offsets->items[1]);
	if (entry->begin > entry->end || entry->end > shard->size - shard->start)
		fail(shard, entry, "its data lie outside the file");
	if (__builtin_mul_overflow(tensor->count, bits, &bits) || bits % 8 ||
	    entry->end - entry->begin != bits / 8)
		fail(shard, entry, "its bytes do not agree with its shape and dtype");
	tensor->data = shard->map + shard->start + entry->begin;
}

static int
by_place(const void *a, const void *b)
{
	const struct tensor_entry *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end !=
	    y->end) /* empty tensors come before the tensor at the same offset */
		return x->end < y->end ? -1 : 1;
	return strcmp(x->tensor.name, y->tensor.name);
}

/* Dies unless the tensors cover the data without gap or overlap. */
static void
check_tiles(
    const struct weight_shard *shard, const struct tensor_entry *entries, int count)
{
	size_t at = 0;

	for (int i = 0; i < count; at = entries[i++].end) {
		if (entries[i].begin > at)
			fail(shard, &entries[i], "a hole is before its data");
		if (entries[i].begin < at)
			fail(shard, &entries[i], "its data overlap another tensor's");
	}
	if (at != shard->size - shard->start)
		die("%s: %zu bytes follow the last tensor", shard->path,
		    shard->size - shard->start - at);
}

static void
check_metadata(const struct weight_shard *shard, const struct tree *metadata)
{
	if (metadata->kind != TREE_OBJECT)
		die("%s: __metadata__ is not an object", shard->path);
	for (size_t i = 0; i < metadata->count; i++)
		if (metadata->items[i]->kind != TREE_STRING)
			die("%s: __metadata__: '%s' is not a string", shard->path,
			    metadata->items[i]->key);
}

static void
map_shard(struct weight_shard *shard)
{
	struct stat status;
	int file = open(shard->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (file < 0 || fstat(file, &status))
		die("%s:", shard->path);
	if (!S_ISREG(status.st_mode))
		die("%s: not a regular file", shard->path);
	shard->size = (size_t)status.st_size;
	if (shard->size < 10)
		die("%s: too short for a file of weights: truncated?", shard->path);
	shard->changed = status.st_mtim;
	shard->map = mmap(NULL, shard->size, PROT_READ, MAP_PRIVATE, file, 0);
	if (shard->map == MAP_FAILED)
		die("%s: cannot be mapped into memory:", shard->path);
	close(file);
}

/* Whether a path ends with `with`. */
static bool
ends(const char *path, const char *with)
{
	size_t length = strlen(path), last = strlen(with);

	return length >= last && !strcmp(path + length - last, with);
}

static void
open_shard(struct weight_shard *shard)
{
	uint64_t length;

	map_shard(shard);
	if (file_pointer(shard->map, shard->size))
		die("%s: %s", shard->path, file_pointer(shard->map, shard->size));
	if (ends(shard->path, ".bin") || ends(shard->path, ".pt")) {
		shard->torch = torch_file_read(shard->path, shard->map, shard->size);
		return;
	}
	memcpy(&length, shard->map, sizeof length);
	if (length > HEADER_MAX)
		die("%s: not a safetensors file: it claims a header of %llu bytes",
		    shard->path, (unsigned long long)length);
	if (length > shard->size - 8)
		die("%s: truncated: the header needs %llu bytes, the file has %zu",
		    shard->path, (unsigned long long)length + 8, shard->size);
	if (shard->map[8] != '{')
		die("%s: not a safetensors file: the header is no JSON object",
		    shard->path);
	shard->start = 8 + (size_t)length;
	shard->header = json_parse(shard->map + 8, (size_t)length, shard->path, 0);
	if (shard->header->kind != TREE_OBJECT)
		die("%s: not a safetensors file: the header is no JSON object",
		    shard->path);
}

static void
add_torch(struct safetensors *file, const struct weight_shard *shard)
{
	const struct torch_file *torch = shard->torch;

	file->entries = mem_resize(file->entries,
	    (size_t)file->all + (size_t)torch->count, sizeof *file->entries);
	for (int i = 0; i < torch->count; i++)
		file->entries[file->all++] =
		    (struct tensor_entry){ .tensor = torch->tensors[i].tensor,
			    .unknown = torch->tensors[i].unknown,
			    .end = torch->tensors[i].bytes,
			    .shard = shard };
}

static void
add_entries(struct safetensors *file, const struct weight_shard *shard)
{
	if (shard->torch) {
		add_torch(file, shard);
		return;
	}
	int first = file->all;

	file->entries = mem_resize(file->entries,
	    (size_t)file->all + shard->header->count, sizeof *file->entries);
	for (size_t i = 0; i < shard->header->count; i++) {
		const struct tree *tree = shard->header->items[i];
		if (!strcmp(tree->key, "__metadata__"))
			check_metadata(shard, tree);
		else
			parse_entry(shard, &file->entries[file->all++], tree);
	}
	qsort(file->entries + first, (size_t)(file->all - first), sizeof *file->entries,
	    by_place);
	check_tiles(shard, file->entries + first, file->all - first);
}

static int
by_name(const void *a, const void *b)
{
	struct tensor_entry *const *x = a, *const *y = b;

	return strcmp((*x)->tensor.name, (*y)->tensor.name);
}

_Noreturn static void
die_twice(const struct safetensors *file, const struct tensor_entry *a,
    const struct tensor_entry *b)
{
	if (a->shard == b->shard)
		die("%s: tensor '%s' is there twice", a->shard->path, a->tensor.name);
	die("%s: tensor '%s' is in both %s and %s", file->path, b->tensor.name,
	    a->shard->path, b->shard->path);
}

static void
sort_entries(struct safetensors *file)
{
	struct tensor_entry *ordered = mem_new((size_t)file->all, sizeof *ordered);

	for (int i = 0; i < file->all; i++)
		if (!file->entries[i].unknown)
			ordered[file->count++] = file->entries[i];
	for (int i = 0, last = file->count; i < file->all; i++)
		if (file->entries[i].unknown)
			ordered[last++] = file->entries[i];
	free(file->entries);
	file->entries = ordered;
	file->sorted = mem_new((size_t)file->all, sizeof *file->sorted);
	for (int i = 0; i < file->all; i++)
		file->sorted[i] = &ordered[i];
	qsort(file->sorted, (size_t)file->all, sizeof *file->sorted, by_name);
	for (int i = 1; i < file->all; i++)
		if (!by_name(&file->sorted[i - 1], &file->sorted[i]))
			die_twice(file, file->sorted[i - 1], file->sorted[i]);
}

static struct tensor_entry *
find(const struct safetensors *file, const char *name)
{
	struct tensor_entry key = { .tensor.name = name }, *wanted = &key;
	struct tensor_entry **found = bsearch(
	    &wanted, file->sorted, (size_t)file->all, sizeof *file->sorted, by_name);

	return found ? *found : NULL;
}

/* Shards. -------------------------------------------------------------------------- */

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The distinct file names of an index, sorted; borrowed from the index. */
static const char **
shard_names(const struct tree *map, int *count)
{
	const char **names = mem_new(map->count, sizeof *names);

	for (size_t i = 0; i < map->count; i++) {
		const struct tree *file = map->items[i];
		if (file->kind != TREE_STRING || strlen(file->string) != file->length ||
		    !file->length || strchr(file->string, '/') || file->string[0] == '.')
			tree_die(file,
			    "'%s': a shard must be the plain name of a file beside the index",
			    file->key);
		names[i] = file->string;
	}
	qsort(names, map->count, sizeof *names, by_text);
	int kept = 0;
	for (size_t i = 0; i < map->count; i++)
		if (!i || strcmp(names[i], names[i - 1]))
			names[kept++] = names[i];
	*count = kept;
	return names;
}

static void
check_index(const struct safetensors *file, const struct tree *map)
{
	for (size_t i = 0; i < map->count; i++) {
		const struct tensor_entry *entry = find(file, map->items[i]->key);
		const char *slash = entry ? strrchr(entry->shard->path, '/') : NULL;
		if (!entry || strcmp(slash + 1, map->items[i]->string))
			tree_die(map->items[i], "tensor '%s' is not in %s",
			    map->items[i]->key, map->items[i]->string);
	}
}

static void
open_shards(struct safetensors *file, const struct tree *index)
{
	const struct tree *map = tree_need(index, "weight_map");

	if (map->kind != TREE_OBJECT || !map->count)
		tree_die(map, "'weight_map' must be an object that names files");
	const char **names = shard_names(map, &file->shard_count);
	file->shards = mem_zero((size_t)file->shard_count, sizeof *file->shards);
	for (int i = 0; i < file->shard_count; i++) {
		file->shards[i].path = mem_format("%s/%s", file->path, names[i]);
		open_shard(&file->shards[i]);
		add_entries(file, &file->shards[i]);
	}
	free(names);
	sort_entries(file);
	check_index(file, map);
}

char *
safetensors_in(const char *folder)
{
	static const char *const names[] = { "model.safetensors",
		"model.safetensors.index.json", "pytorch_model.bin",
		"pytorch_model.bin.index.json" };
	struct stat status;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = mem_format("%s/%s", folder, names[i]);
		if (!lstat(path, &status)) /* also a link to no file, which is an error */
			return path;
		free(path);
	}
	return NULL;
}

static void
open_one(struct safetensors *file, const char *path)
{
	file->shards = mem_zero(1, sizeof *file->shards);
	file->shard_count = 1;
	file->shards->path = mem_string(path);
	open_shard(file->shards);
	add_entries(file, file->shards);
	sort_entries(file);
}

struct safetensors *
safetensors_open(const char *path)
{
	struct safetensors *file = mem_zero(1, sizeof *file);
	struct stat status;

	file->path = mem_string(path);
	if (stat(path, &status))
		die("%s:", path);
	char *found = S_ISDIR(status.st_mode) ? safetensors_in(path) : mem_string(path);
	if (!found)
		die("%s: there are no weights: neither model.safetensors nor pytorch_model.bin, nor an index of shards of either",
		    path);
	if (S_ISDIR(status.st_mode) && ends(found, ".json")) {
		struct tree *index = json_read(found);
		open_shards(file, index);
		tree_free(index);
	} else {
		open_one(file, found);
	}
	free(found);
	return file;
}

const struct safetensor *
safetensors_find(const struct safetensors *file, const char *name)
{
	const struct tensor_entry *entry = find(file, name);

	if (entry && entry->unknown)
		die("%s: tensor '%s': dtype %s is not supported", entry->shard->path,
		    name, entry->unknown);
	return entry ? &entry->tensor : NULL;
}

const struct safetensor *
safetensors_need(const struct safetensors *file, const char *name)
{
	const struct safetensor *tensor = safetensors_find(file, name);

	if (!tensor)
		die("%s: tensor '%s' is missing", safetensors_name(file), name);
	return tensor;
}

int
safetensors_count(const struct safetensors *file)
{
	return file->count;
}

const struct safetensor *
safetensors_at(const struct safetensors *file, int index)
{
	return &file->entries[index].tensor;
}

const char *
safetensors_name(const struct safetensors *file)
{
	return file->shard_count == 1 ? file->shards->path : file->path;
}

const char *
safetensors_note(const struct safetensors *file, const char *key)
{
	const struct tree *metadata = tree_get(file->shards->header, "__metadata__");

	return metadata ? tree_string(metadata, key, NULL) : NULL;
}

float *
safetensors_floats(const struct safetensor *tensor)
{
	float *values = mem_new(tensor->count, sizeof *values);

	tensor_to_f32(values, tensor->data, tensor->dtype, tensor->count);
	return values;
}

void
safetensors_let_go(const struct safetensor *tensor)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE),
	       before = (uintptr_t)tensor->data % page;

	(void)madvise((char *)tensor->data - before, before + safetensors_bytes(tensor),
	    MADV_DONTNEED);
}

char *
safetensors_state(const struct safetensors *file)
{
	char *all = mem_string("");

	for (int i = 0; i < file->shard_count; i++) {
		const struct weight_shard *shard = &file->shards[i];
		char *one = mem_format("%zu bytes of %lld.%09ld", shard->size,
		    (long long)shard->changed.tv_sec, shard->changed.tv_nsec);
		all = mem_list(all, one);
		free(one);
	}
	return all;
}

void
safetensors_close(struct safetensors *file)
{
	if (!file)
		return;
	for (int i = 0; i < file->shard_count; i++) {
		torch_file_free(file->shards[i].torch);
		munmap(file->shards[i].map, file->shards[i].size);
		tree_free(file->shards[i].header);
		free(file->shards[i].path);
	}
	free(file->shards);
	free(file->entries);
	free(file->sorted);
	free(file->path);
	free(file);
}
