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

/* What follows "'key':" in the header, a Python dictionary; dies when it is not there. */
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
parse_dtype(const struct input *input, const char *text)
{
	char quote = *text == '"' ? '"' : '\'';
	const char *end = *text == quote ? strchr(text + 1, quote) : NULL;

	if (!end)
		die("%s: arrays of records (structured dtypes) are not read",
		    input_name(input));
	for (int i = 0; i < DTYPE_COUNT; i++)
		if (descriptions[i] &&
		    (size_t)(end - text) == strlen(descriptions[i]) + 1 &&
		    !memcmp(text + 1, descriptions[i], strlen(descriptions[i])))
			return (enum dtype)i;
	die("%s: dtype %.*s is not read; convert it with .astype() to float32, float16, "
	    "float64, "
	    "int8, int32, int64, uint8 or bool",
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

struct npy
npy_read(struct input *input)
{
	struct npy npy = { 0 };
	unsigned char start[12] = { 0 };
	const char *name = input_name(input);

	if (input_read(input, start, 10) < 10 || memcmp(start, "\x93NUMPY", 6))
		die("%s: not a .npy file", name);
	if (start[6] < 1 || start[6] > 3)
		die("%s: version %d of .npy is not known", name, start[6]);
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
	npy.dtype = parse_dtype(input, value_of(input, header, "'descr'"));
	if (strncmp(value_of(input, header, "'fortran_order'"), "False", 5))
		die("%s: the array is in Fortran order; save it with "
		    "np.ascontiguousarray()",
		    name);
	parse_shape(input, value_of(input, header, "'shape'"), &npy);
	free(header);
	return npy;
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
