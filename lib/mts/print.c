#include "mts/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"

void
print_number(FILE *to, enum dtype dtype, const void *data, int64_t index)
{
	const char *at = (const char *)data + (size_t)index * dtype_size(dtype);
	char room[NUMBER_ROOM];
	int64_t whole;
	double real;

	if (dtype == DTYPE_I64) {
		memcpy(&whole, at, sizeof whole);
		fprintf(to, "%lld", (long long)whole);
		return;
	}
	tensor_to_f64(&real, at, dtype, 1);
	if (dtype == DTYPE_BOOL)
		fputs(real != 0 ? "true" : "false", to);
	else if (dtype_is_float(dtype))
		fputs(number_write(room, real, dtype != DTYPE_F64), to);
	else
		fprintf(to, "%.0f", real);
}

void
print_string(FILE *to, const char *bytes, size_t length)
{
	static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	char *repaired = NULL;

	if (length && utf8_valid(bytes, length) < length) {
		repaired = mem_new(mem_multiply(length, 3, "text"), 1);
		length = utf8_repair(repaired, bytes, length, &(int64_t){ 0 });
		bytes = repaired;
	}
	fputc('"', to);
	for (size_t i = 0; i < length; i++) {
		const char *name = bytes[i] ? strchr(names, bytes[i]) : NULL;
		if (name)
			fprintf(to, "\\%c", letters[name - names]);
		else if ((unsigned char)bytes[i] < 32 || bytes[i] == 127)
			fprintf(to, "\\u%04x", (unsigned)(unsigned char)bytes[i]);
		else if (bytes[i] == '\xC2' && (unsigned char)bytes[i + 1] < 0xA0)
			fprintf(to, "\\u%04x", (unsigned)(unsigned char)bytes[++i]);
		else
			fputc(bytes[i], to);
	}
	fputc('"', to);
	free(repaired);
}

/* The element at *index as nested lists; *index moves behind it. */
static void
print_element(
    FILE *to, const struct column *column, const void *data, int axis, int64_t *index)
{
	double real;

	if (axis == column->rank || axis == STREAM_RANK) {
		size_t size = dtype_size(column->dtype);
		if (dtype_is_float(column->dtype)) {
			tensor_to_f64(&real, (const char *)data + (size_t)*index * size,
			    column->dtype, 1);
			if (!isfinite(real)) {
				fputs("null", to);
				++*index;
				return;
			}
		}
		print_number(to, column->dtype, data, (*index)++);
		return;
	}
	fputc('[', to);
	for (int64_t i = 0; i < column->shape[axis]; i++) {
		if (i)
			fputc(',', to);
		print_element(to, column, data, axis + 1, index);
	}
	fputc(']', to);
}

/* Elements first..last-1, or the string they are. */
static void
print_list(
    FILE *to, const struct column *column, const void *data, int64_t first, int64_t last)
{
	int64_t index = first;

	if (column->text) {
		print_string(to, (const char *)data + first, (size_t)(last - first));
		return;
	}
	for (int i = 0; i < column->rank; i++)
		index *= column->shape[i];
	fputc('[', to);
	for (int64_t i = first; i < last; i++) {
		if (i > first)
			fputc(',', to);
		print_element(to, column, data, 0, &index);
	}
	fputc(']', to);
}

void
print_row(FILE *to, const struct column *column, const struct array *array, int64_t row)
{
	int64_t index = row;

	if (column->depth == 0) {
		for (int i = 0; i < column->rank; i++)
			index *= column->shape[i];
		print_element(to, column, array->data, 0, &index);
		return;
	}
	int64_t first = array->offsets[0][row], last = array->offsets[0][row + 1];
	if (column->depth == 1) {
		print_list(to, column, array->data, first, last);
		return;
	}
	fputc('[', to);
	for (int64_t i = first; i < last; i++) {
		if (i > first)
			fputc(',', to);
		print_list(to, column, array->data, array->offsets[1][i],
		    array->offsets[1][i + 1]);
	}
	fputc(']', to);
}
