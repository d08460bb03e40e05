#include "stream/print.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"

enum { CHUNK = 256 };

void
print_text(struct buffer *to, const char *text)
{
	buffer_add(to, text, strlen(text));
}

void
print_format(struct buffer *to, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	char *text = mem_format_with(format, arguments);
	va_end(arguments);
	print_text(to, text);
	free(text);
}

/* Writes a number of any dtype but i64, given as double; returns its length. */
static size_t
put_number(char *room, enum dtype dtype, double value)
{
	if (dtype_is_float(dtype))
		return number_put(room, value, dtype != DTYPE_F64);
	if (dtype != DTYPE_BOOL)
		return number_put_whole(room, (int64_t)value);
	strcpy(room, value != 0 ? "true" : "false");
	return value != 0 ? 4 : 5;
}

void
print_number(struct buffer *to, enum dtype dtype, const void *data, int64_t index)
{
	const char *at = (const char *)data + (size_t)index * dtype_size(dtype);
	char *room = buffer_room(to, NUMBER_ROOM);
	int64_t whole;
	double real;

	if (dtype == DTYPE_I64) {
		memcpy(&whole, at, sizeof whole);
		to->used += number_put_whole(room, whole);
		return;
	}
	tensor_to_f64(&real, at, dtype, 1);
	to->used += put_number(room, dtype, real);
}

static void
print_escaped(struct buffer *to, const char *bytes, size_t length)
{
	static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	size_t plain = 0; /* the first byte that has not been written */

	for (size_t i = 0, count; i < length; i += count) {
		unsigned char byte = (unsigned char)bytes[i];
		int32_t code = byte;
		count = 1;
		if (byte >= 127)
			count = utf8_decode(bytes + i, length - i, &code);
		if (byte != '"' && byte != '\\' && !utf8_is_harmful(code))
			continue;
		buffer_add(to, bytes + plain, i - plain);
		const char *name = byte ? strchr(names, byte) : NULL;
		if (name)
			print_format(to, "\\%c", letters[name - names]);
		else
			print_format(to, "\\u%04x", (unsigned)code);
		plain = i + count;
	}
	buffer_add(to, bytes + plain, length - plain);
}

void
print_string(struct buffer *to, const char *bytes, size_t length)
{
	char *repaired = NULL;

	if (length && utf8_valid(bytes, length) < length) {
		repaired = mem_new(mem_multiply(length, 3, "text"), 1);
		length = utf8_repair(repaired, bytes, length, &(int64_t){ 0 });
		bytes = repaired;
	}
	print_text(to, "\"");
	print_escaped(to, bytes, length);
	print_text(to, "\"");
	free(repaired);
}

/* Numbers first..first+count-1 separated by commas; null for NaN and infinity. */
static void
print_numbers(
    struct buffer *to, enum dtype dtype, const void *data, int64_t first, int64_t count)
{
	double values[CHUNK];

	for (int64_t i = 0; dtype == DTYPE_I64 && i < count; i++) {
		buffer_add(to, ",", i > 0);
		print_number(to, dtype, data, first + i);
	}
	for (int64_t at = 0; dtype != DTYPE_I64 && at < count; at += CHUNK) {
		int64_t some = count - at < CHUNK ? count - at : CHUNK;
		char *room = buffer_room(to, CHUNK * NUMBER_ROOM), *end = room;
		tensor_to_f64(values,
		    (const char *)data + (size_t)(first + at) * dtype_size(dtype), dtype,
		    (size_t)some);
		for (int64_t i = 0; i < some; i++) {
			*end = ',';
			end += at + i > 0;
			if (isfinite(values[i]))
				end += put_number(end, dtype, values[i]);
			else
				end = stpcpy(end, "null");
		}
		to->used += (size_t)(end - room);
	}
}

/* The element at *index as nested lists; advances *index. */
static void
print_element(struct buffer *to, const struct column *column, const void *data, int axis,
    int64_t *index)
{
	bool last = axis >= column->rank - 1 || axis == STREAM_RANK - 1;
	int64_t count = column->rank ? column->shape[axis] : 1;

	buffer_add(to, "[", column->rank > 0);
	if (last) {
		print_numbers(to, column->dtype, data, *index, count);
		*index += count;
	}
	for (int64_t i = 0; !last && i < count; i++) {
		buffer_add(to, ",", i > 0);
		print_element(to, column, data, axis + 1, index);
	}
	buffer_add(to, "]", column->rank > 0);
}

/* Elements first..last-1 as a list, or as a string if text. */
static void
print_list(struct buffer *to, const struct column *column, const void *data,
    int64_t first, int64_t last)
{
	int64_t index = first;

	if (column->text) {
		print_string(to, (const char *)data + first, (size_t)(last - first));
		return;
	}
	for (int i = 0; i < column->rank; i++)
		index *= column->shape[i];
	print_text(to, "[");
	if (!column->rank)
		print_numbers(to, column->dtype, data, first, last - first);
	for (int64_t i = first; column->rank && i < last; i++) {
		buffer_add(to, ",", i > first);
		print_element(to, column, data, 0, &index);
	}
	print_text(to, "]");
}

void
print_row(struct buffer *to, const struct column *column, const struct array *array,
    int64_t row)
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
	print_text(to, "[");
	for (int64_t i = first; i < last; i++) {
		buffer_add(to, ",", i > first);
		print_list(to, column, array->data, array->offsets[1][i],
		    array->offsets[1][i + 1]);
	}
	print_text(to, "]");
}

void
print_object(struct buffer *to, const struct reader *reader, const int *chosen, int count,
    const struct array *arrays, int64_t row)
{
	print_text(to, "{");
	for (int i = 0; i < count; i++) {
		int index = chosen ? chosen[i] : i;
		const struct column *column = stream_column(reader, index);
		buffer_add(to, ",", i > 0);
		print_string(to, column->name, strlen(column->name));
		print_text(to, ":");
		print_row(to, column, &arrays[index], row);
	}
	print_text(to, "}");
}
