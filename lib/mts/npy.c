#include "mts/npy.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { HEADER_MAX = 1 << 16, ALIGNMENT = 64 };

static const char *const descriptions[DTYPE_COUNT] = {
	[DTYPE_F32] = "<f4",
	[DTYPE_F16] = "<f2",
	[DTYPE_F64] = "<f8",
	[DTYPE_I8] = "|i1",
	[DTYPE_I32] = "<i4",
	[DTYPE_I64] = "<i8",
	[DTYPE_U8] = "|u1",
	[DTYPE_BOOL] = "|b1",
};

/* The text behind "'key':" in the header, a Python dictionary; dies if absent. */
static const char *
value_of(const struct input *input, const char *header, const char *key)
{
	const char *at = strstr(header, key);

	if (at)
		at = strchr(at, ':');
	if (!at)
		die("%s: the .npy header has no %s", input_name(input), key);
	at++;
	while (*at == ' ')
		at++;
	return at;
}

static enum dtype
parse_dtype(const struct input *input, const char *text, bool *swapped)
{
	char quote = *text == '"' ? '"' : '\'';
	const char *end = *text == quote ? strchr(text + 1, quote) : NULL;

	if (!end)
		die("%s: arrays of records (structured dtypes) are not read",
		    input_name(input));
	for (int i = 0; i < DTYPE_COUNT; i++)
		if (descriptions[i] &&
		    (size_t)(end - text) == strlen(descriptions[i]) + 1 &&
		    (text[1] == *descriptions[i] ||
			(text[1] == '>' && *descriptions[i] == '<')) &&
		    !memcmp(text + 2, descriptions[i] + 1, strlen(descriptions[i]) - 1)) {
			*swapped = text[1] == '>';
			return (enum dtype)i;
		}

	die("%s: dtype %.*s is not read; convert it with .astype() to float32, float16, float64, int8, int32, int64, uint8 or bool",
	    input_name(input), (int)(end + 1 - text > 20 ? 20 : end + 1 - text), text);
}

static void
parse_shape(const struct input *input, const char *text, struct npy *npy)
{
	if (*text++ != '(')
		die("%s: the .npy header has no shape", input_name(input));
	for (;;) {
		char *end;
		while (*text == ' ' || *text == ',')
			text++;
		if (*text == ')')
			return;
		if (npy->rank == NPY_RANK)
			die("%s: more than %d dimensions", input_name(input), NPY_RANK);
		long long size =
		    isdigit((unsigned char)*text) ? strtoll(text, &end, 10) : -1;
		if (size < 0 || size > INT64_MAX / 2)
			die("%s: the shape in the .npy header is not valid",
			    input_name(input));
		npy->shape[npy->rank++] = size;
		text = end;
	}
}

/* Elements of a row. */
static size_t
row_width(const struct npy *npy, const char *name)
{
	size_t width = 1;

	for (int axis = 1; axis < npy->rank; axis++)
		width = mem_multiply(width, (size_t)npy->shape[axis], name);
	return width;
}

/* An array in Fortran order is read whole, because its first row ends with the file's last bytes. */
static void
read_all(struct input *input, struct npy *npy)
{
	enum { BLOCK = 1 << 20 };
	const char *name = input_name(input);
	size_t rows = (size_t)npy->shape[0], used = 0, room = 0, got;
	size_t bytes = mem_multiply(
	    mem_multiply(rows, row_width(npy, name), name), dtype_size(npy->dtype), name);

	npy->data = mem_grow(NULL, &room, 1, 1);
	for (; used < bytes; used += got) {
		size_t more = bytes - used < BLOCK ? bytes - used : BLOCK;
		npy->data = mem_grow(npy->data, &room, used + more, 1);
		if ((got = input_read(input, npy->data + used, more)) < more)
			die("%s: cut short: %zu of %zu bytes are missing",
			    input_name(input), bytes - used - got, bytes);
	}
}

struct npy
npy_read(struct input *input)
{
	struct npy npy = { 0 };
	unsigned char start[12] = { 0 };
	const char *name = input_name(input);

	if (input_read(input, start, 10) < 10 || memcmp(start, "\x93NUMPY", 6))
		die("%s: not a .npy file", name);
	if (start[6] < 1 || start[6] > 3)
		die("%s: version %d of .npy is not supported", name, start[6]);
	size_t length = start[8] | (size_t)start[9] << 8;
	if (start[6] > 1) {
		if (input_read(input, start + 10, 2) < 2)
			die("%s: the .npy header is cut short", name);
		length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
	}
	if (length > HEADER_MAX)
		die("%s: a .npy header of %zu bytes is refused", name, length);
	char *header = mem_zero(length + 1, 1);
	if (input_read(input, header, length) < length)
		die("%s: the .npy header is cut short", name);
	npy.dtype = parse_dtype(input, value_of(input, header, "'descr'"), &npy.swapped);
	const char *order = value_of(input, header, "'fortran_order'");
	npy.fortran = !strncmp(order, "True", 4);
	if (!npy.fortran && strncmp(order, "False", 5))
		die("%s: the order of axes in the .npy header is not valid", name);
	parse_shape(input, value_of(input, header, "'shape'"), &npy);
	free(header);
	if (npy.fortran && npy.rank > 1)
		read_all(input, &npy);
	return npy;
}

/* Reverses the bytes of each element. */
static void
swap(char *data, size_t elements, size_t size)
{
	for (char *at = data; elements--; at += size)
		for (size_t i = 0; i < size / 2; i++) {
			char byte = at[i];
			at[i] = at[size - 1 - i];
			at[size - 1 - i] = byte;
		}
}

/* The position of element `index` of a row in Fortran order, in units of shape[0] elements. */
static size_t
place_of(const struct npy *npy, size_t width, size_t index)
{
	size_t place = 0, step = width;

	for (int axis = npy->rank - 1; axis > 0; axis--) {
		size_t size = (size_t)npy->shape[axis];
		step /= size;
		place += index % size * step;
		index /= size;
	}
	return place;
}

static void
gather(const struct npy *npy, char *to, size_t count, size_t width)
{
	size_t size = dtype_size(npy->dtype);

	for (size_t e = 0; e < width; e++) {
		size_t start =
		    place_of(npy, width, e) * (size_t)npy->shape[0] + (size_t)npy->row;
		for (size_t row = 0; row < count; row++)
			memcpy(to + (row * width + e) * size,
			    npy->data + (start + row) * size, size);
	}
}

void
npy_rows(struct input *input, struct npy *npy, void *to, int64_t count)
{
	size_t size = dtype_size(npy->dtype), width = row_width(npy, input_name(input)),
	       bytes = (size_t)count * width * size;

	if (npy->data)
		gather(npy, to, (size_t)count, width);
	else if (input_read(input, to, bytes) < bytes)
		die("%s: cut short: %lld of %lld rows are missing", input_name(input),
		    (long long)(npy->shape[0] - npy->row), (long long)npy->shape[0]);
	if (npy->swapped)
		swap(to, (size_t)count * width, size);
	npy->row += count;
}

void
npy_free(struct npy *npy)
{
	free(npy->data);
}

void
npy_write(struct output *output, const struct npy *npy)
{
	char *shape = mem_string(""), *header;

	if (!descriptions[npy->dtype])
		die("%s: a .npy file cannot hold %s", output_name(output),
		    dtype_name(npy->dtype));
	for (int i = 0; i < npy->rank; i++) {
		char *longer = mem_format("%s%s%lld%s", shape, i ? " " : "",
		    (long long)npy->shape[i],
		    i + 1 < npy->rank || npy->rank == 1 ? "," : "");
		free(shape);
		shape = longer;
	}
	header = mem_format("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
	    descriptions[npy->dtype], shape);
	size_t used = strlen(header) + 10 + 1;
	size_t padded = (used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	unsigned short length = (unsigned short)(padded - 10);
	unsigned char start[10] = "\x93NUMPY\x01";
	start[8] = length & 255;
	start[9] = (unsigned char)(length >> 8);
	output_write(output, start, sizeof start);
	output_write(output, header, strlen(header));
	for (size_t i = used; i < padded; i++)
		output_write(output, " ", 1);
	output_write(output, "\n", 1);
	free(header);
	free(shape);
}
