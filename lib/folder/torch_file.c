#include "folder/torch_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/pickle.h"
#include "folder/zip.h"

static const char rebuild[] = "torch._utils._rebuild_tensor_v2";
/* torch.nn.Parameter: (tensor, requires_grad, hooks), also with a state dict */
static const char parameter[] = "torch._utils._rebuild_parameter";
static const char with_state[] = "torch._utils._rebuild_parameter_with_state";
static const char ordered[] = "collections.OrderedDict";

static const struct {
	const char *name;
	int dtype; /* -1: tensor.h lacks it */
	size_t size;
} storages[] = {
	{ "torch.FloatStorage", DTYPE_F32, 4 },
	{ "torch.HalfStorage", DTYPE_F16, 2 },
	{ "torch.BFloat16Storage", DTYPE_BF16, 2 },
	{ "torch.DoubleStorage", DTYPE_F64, 8 },
	{ "torch.LongStorage", DTYPE_I64, 8 },
	{ "torch.IntStorage", DTYPE_I32, 4 },
	{ "torch.CharStorage", DTYPE_I8, 1 },
	{ "torch.ByteStorage", DTYPE_U8, 1 },
	{ "torch.BoolStorage", DTYPE_BOOL, 1 },
	{ "torch.ShortStorage", -1, 2 },
};
enum { STORAGES = sizeof storages / sizeof *storages };

/* Bytes of the pickle: a value of it takes a hundred times the byte that asks for it.  60,000 tensors take as many. */
enum { TABLE_MOST = 8 << 20 };

/* A file being read. */
struct torch_reader {
	const char *path, *root; /* prefix of the names of its entries */
	struct zip *zip;
	const char *name; /* current tensor, for messages */
};

/* A tensor as a view of a storage; offset and strides in elements. */
struct storage_view {
	const char *data;
	size_t elements, size, offset, stride[SAFETENSORS_RANK];
};

_Noreturn static void
fail(const struct torch_reader *source, const char *what)
{
	die("%s: tensor '%s': %s", source->path, source->name, what);
}

static const struct zip_entry *
entry_of(const struct torch_reader *source, const char *name)
{
	char *full = mem_format("%s/%s", source->root, name);
	const struct zip_entry *entry = zip_find(source->zip, full);

	free(full);
	return entry;
}

static size_t
natural(const struct torch_reader *source, const struct pickle_value *value)
{
	if (value->kind != PICKLE_INTEGER || value->integer < 0)
		fail(source, "a size, offset or stride is not a natural number");
	return (size_t)value->integer;
}

static bool
is_call(const struct pickle_value *value, const char *function)
{
	return value->kind == PICKLE_CALL && !strcmp(value->function->string, function);
}

/* ('storage', torch.FloatStorage, '0', 'cpu', elements) */
static void
read_storage(const struct torch_reader *source, const struct pickle_value *value,
    struct torch_tensor *to, struct storage_view *place)
{
	const struct pickle_value *parts = value->of;
	int i = 0;

	if (value->kind != PICKLE_PERSISTENT || parts->kind != PICKLE_TUPLE ||
	    parts->count != 5 || parts->items[0]->kind != PICKLE_STRING ||
	    strcmp(parts->items[0]->string, "storage") ||
	    parts->items[1]->kind != PICKLE_GLOBAL ||
	    parts->items[2]->kind != PICKLE_STRING)
		fail(source, "its storage is not described as torch does");
	while (i < STORAGES && strcmp(storages[i].name, parts->items[1]->string))
		i++;
	if (i == STORAGES)
		fail(source, "its storage is not described as torch does");
	if (storages[i].dtype < 0)
		to->unknown = storages[i].name;
	else
		to->tensor.dtype = (enum dtype)storages[i].dtype;
	char *name = mem_format("data/%s", parts->items[2]->string);
	const struct zip_entry *entry = entry_of(source, name);
	*place = (struct storage_view){ .elements = natural(source, parts->items[4]),
		.size = storages[i].size };
	if (!entry || entry->size % place->size ||
	    entry->size / place->size != place->elements)
		die("%s: tensor '%s': its storage '%s' is not in the file, or has another size",
		    source->path, source->name, name);
	place->data = entry->data;
	free(name);
}

static void
read_shape(const struct torch_reader *source, const struct pickle_value *shape,
    const struct pickle_value *strides, struct torch_tensor *to,
    struct storage_view *place)
{
	struct safetensor *tensor = &to->tensor;

	if (shape->kind != PICKLE_TUPLE || strides->kind != PICKLE_TUPLE ||
	    shape->count != strides->count)
		fail(source, "its shape and strides are not two tuples of one length");
	if (shape->count > SAFETENSORS_RANK)
		fail(source, "it has more than 8 dimensions");
	tensor->rank = (int)shape->count;
	tensor->count = 1;
	for (int i = 0; i < tensor->rank; i++) {
		size_t rows = natural(source, shape->items[i]);
		tensor->shape[i] = (int64_t)rows;
		place->stride[i] = natural(source, strides->items[i]);
		if (__builtin_mul_overflow(tensor->count, rows, &tensor->count))
			fail(source, "its shape is too large");
	}
}

/* Dies unless all elements lie in the storage, and are no more than it has. */
static void
check_place(const struct torch_reader *source, const struct safetensor *tensor,
    const struct storage_view *place)
{
	size_t last = place->offset;
	bool over = tensor->count > place->elements;

	if (!tensor->count)
		return;
	for (int i = 0; i < tensor->rank; i++) {
		size_t step;
		over |= __builtin_mul_overflow(
		    (size_t)tensor->shape[i] - 1, place->stride[i], &step);
		over |= __builtin_add_overflow(last, step, &last);
	}
	if (over || last >= place->elements)
		fail(source, "its data lie outside its storage");
}

/* Whether the tensor is contiguous. */
static bool
in_order(const struct safetensor *tensor, const struct storage_view *place)
{
	size_t step = 1;

	for (int i = tensor->rank - 1; i >= 0 && tensor->count; i--) {
		if (tensor->shape[i] != 1 && place->stride[i] != step)
			return false;
		step *= (size_t)tensor->shape[i];
	}
	return true;
}

/* rebuild(storage, offset, shape, strides, requires_grad, OrderedDict()) */
static void
read_tensor(const struct torch_reader *source, const struct pickle_value *value,
    struct torch_tensor *to, struct storage_view *place)
{
	bool wrapped = is_call(value, parameter) || is_call(value, with_state);

	if (wrapped && value->of->count)
		value = value->of->items[0];
	const struct pickle_value *of = value->of;
	if (!is_call(value, rebuild) || of->count != 6 ||
	    !is_call(of->items[5], ordered) || of->items[5]->count)
		fail(source, "is not a tensor, or not described as torch does");
	read_storage(source, of->items[0], to, place);
	place->offset = natural(source, of->items[1]);
	read_shape(source, of->items[2], of->items[3], to, place);
	check_place(source, &to->tensor, place);
	to->tensor.name = source->name;
	to->bytes = mem_multiply(to->tensor.count, place->size, source->name);
	to->tensor.data = place->data;
	if (to->tensor.count)
		to->tensor.data = place->data + place->offset * place->size;
}

/* Copies a tensor's elements to contiguous memory. */
static void
copy_in_order(char *to, const struct safetensor *tensor, const struct storage_view *place)
{
	int64_t at[SAFETENSORS_RANK] = { 0 };
	const char *from = tensor->data;

	for (size_t n = 0; n < tensor->count; n++, to += place->size) {
		memcpy(to, from, place->size);
		int i = tensor->rank - 1;
		for (; i >= 0 && ++at[i] == tensor->shape[i]; i--) {
			from -= (size_t)(at[i] - 1) * place->stride[i] * place->size;
			at[i] = 0;
		}
		if (i >= 0)
			from += place->stride[i] * place->size;
	}
}

/* size: of the file.  Several tensors may be views of one storage, as a tied weight and its transpose are; a file that asks
 * for more copies than that asks for memory without end. */
static void
copy_strided(struct torch_file *file, const char *path, size_t size,
    const struct storage_view *places)
{
	for (int i = 0; i < file->count; i++)
		if (!in_order(&file->tensors[i].tensor, &places[i]))
			file->copied = mem_add(file->copied,
			    (file->tensors[i].bytes + 63) & ~(size_t)63, path);
	if (!file->copied)
		return;
	if (file->copied / 4 > size)
		die("%s: its tensors that are not stored in order would take %zu bytes, the file has %zu",
		    path, file->copied, size);
	file->copies = mmap(NULL, file->copied, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (file->copies == MAP_FAILED)
		die("%s: memory for tensors that are not in order:", path);
	char *to = file->copies;
	for (int i = 0; i < file->count; i++) {
		struct torch_tensor *tensor = &file->tensors[i];
		if (in_order(&tensor->tensor, &places[i]))
			continue;
		copy_in_order(to, &tensor->tensor, &places[i]);
		tensor->tensor.data = to;
		to += (tensor->bytes + 63) & ~(size_t)63;
	}
}

static void
read_table(struct torch_file *file, struct torch_reader *source, size_t size)
{
	const struct pickle_value *root = pickle_root(file->pickle);
	size_t count = root->count / 2;

	if (root->kind != PICKLE_DICT && !is_call(root, ordered))
		die("%s: is not a table of tensors by their names", source->path);
	struct storage_view *places = mem_new(count, sizeof *places);
	file->tensors = mem_zero(count, sizeof *file->tensors);
	for (size_t i = 0; i < count; i++) {
		const struct pickle_value *name = root->items[2 * i];
		if (name->kind != PICKLE_STRING)
			die("%s: is not a table of tensors by their names", source->path);
		source->name = name->string;
		read_tensor(
		    source, root->items[2 * i + 1], &file->tensors[i], &places[i]);
		file->count++;
	}
	copy_strided(file, source->path, size, places);
	free(places);
}

/* Finds the pickle; sets `root`. */
static const struct zip_entry *
find_table(struct torch_reader *source)
{
	static const char last[] = "/data.pkl";

	for (size_t i = 0; i < source->zip->count; i++) {
		const struct zip_entry *entry = &source->zip->entries[i];
		const char *slash = strchr(entry->name, '/');
		if (!slash || strcmp(slash, last))
			continue;
		source->root =
		    mem_format("%.*s", (int)(slash - entry->name), entry->name);
		return entry;
	}
	die("%s: a zip file, but not one of torch.save: it has no data.pkl",
	    source->path);
}

static void
check_start(const char *path, const char *map, size_t size)
{
	if (size >= 4 && !memcmp(map, "\x80\2\x8a\n", 4))
		die("%s: in the format of torch before 1.6, which is not read; convert it to model.safetensors, or load and save it with a newer torch",
		    path);
	if (size < 4 || memcmp(map, "PK\3\4", 4))
		die("%s: not a file of torch.save; convert the weights to model.safetensors",
		    path);
}

static void
check_byte_order(const struct torch_reader *source)
{
	static const char little[] = "little";
	const struct zip_entry *order = entry_of(source, "byteorder");

	if (order && (order->size != sizeof little - 1 ||
			 memcmp(order->data, little, order->size)))
		die("%s: its byte order is '%.*s'; only 'little' is read", source->path,
		    (int)(order->size < 20 ? order->size : 20), order->data);
}

struct torch_file *
torch_file_read(const char *path, const char *map, size_t size)
{
	const char *allowed[STORAGES + 5] = { rebuild, parameter, with_state, ordered };
	struct torch_file *file = mem_zero(1, sizeof *file);
	struct torch_reader source = { .path = path };

	for (int i = 0; i < STORAGES; i++)
		allowed[4 + i] = storages[i].name;
	check_start(path, map, size);
	source.zip = zip_read(path, map, size);
	const struct zip_entry *table = find_table(&source);
	check_byte_order(&source);
	if (table->size > TABLE_MOST)
		die("%s: its pickle has %zu bytes; at most %d are read", path,
		    table->size, TABLE_MOST);
	file->pickle = pickle_read(path, table->data, table->size, allowed);
	read_table(file, &source, size);
	zip_free(source.zip);
	free((char *)source.root);
	return file;
}

void
torch_file_free(struct torch_file *file)
{
	if (!file)
		return;
	if (file->copied)
		munmap(file->copies, file->copied);
	pickle_free(file->pickle);
	free(file->tensors);
	free(file);
}
