#include "stream/coded.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"

enum { STEPS = 255, HALF = 128, BYTE = 8 };

struct coded *
coded_bits(int width)
{
	struct coded *coded = mem_zero(1, sizeof *coded);

	coded->dtype = DTYPE_U8;
	coded->width = width;
	coded->size = (width + BYTE - 1) / BYTE;
	return coded;
}

struct coded *
coded_i8(int width)
{
	struct coded *coded = mem_zero(1, sizeof *coded);

	coded->dtype = DTYPE_I8;
	coded->width = coded->size = width;
	coded->least = mem_new(4 * (size_t)width, sizeof *coded->least);
	coded->greatest = coded->least + width;
	coded->step = coded->greatest + width;
	coded->middle = coded->step + width;
	for (int c = 0; c < width; c++) {
		coded->least[c] = FLT_MAX;
		coded->greatest[c] = -FLT_MAX;
	}
	return coded;
}

void
coded_calibrate(struct coded *coded, const float *vectors, int64_t count)
{
	for (int64_t i = 0; i < count; i++, vectors += coded->width)
		for (int c = 0; c < coded->width; c++) {
			coded->least[c] = fminf(coded->least[c], vectors[c]);
			coded->greatest[c] = fmaxf(coded->greatest[c], vectors[c]);
		}
}

void
coded_ready(struct coded *coded)
{
	for (int c = 0; c < coded->width; c++) {
		if (coded->least[c] > coded->greatest[c])
			coded->least[c] = coded->greatest[c] = 0;
		float step = (coded->greatest[c] - coded->least[c]) / STEPS;
		coded->step[c] = step == 0 ? 1 : step;
		coded->middle[c] = step == 0 ? 0 : 0.5F;
	}
}

/* Properties. ------------------------------------------------------------------------ */

/* Reads the numbers of NAME.ranges; returns false if they are no ranges of this width. */
static bool
read_ranges(struct coded *coded, const char *text)
{
	int count = 2 * coded->width, at = 0;

	for (; *text; text += *text == ' ') {
		size_t length = strcspn(text, " ");
		double value;
		if (at == count || !number_read(text, length, &value) ||
		    fabs(value) > (double)FLT_MAX)
			return false;
		coded->least[at++] = (float)value;
		text += length;
	}
	for (int c = 0; at == count && c < coded->width; c++)
		if (coded->least[c] > coded->greatest[c] ||
		    !isfinite(coded->greatest[c] - coded->least[c]))
			return false;
	return at == count;
}

static const char *
property(const struct reader *reader, const char *name, const char *ending)
{
	char *key = mem_format("%s%s", name, ending);
	const char *value = tree_string(stream_properties(reader), key, NULL);

	free(key);
	return value;
}

struct coded *
coded_open(const struct reader *reader, int index)
{
	const struct column *column = stream_column(reader, index);
	bool bits = column->dtype == DTYPE_U8;
	const char *ending = bits ? STREAM_BITS : STREAM_RANGES;

	if (column->rank != 1 || (!bits && column->dtype != DTYPE_I8) ||
	    column->shape[0] > 1 << 20)
		return NULL;
	const char *value = property(reader, column->name, ending);
	if (!value)
		return NULL;
	struct coded *coded = NULL;
	bool fits = false;
	if (bits) {
		int64_t width;
		fits = number_read_whole(value, strlen(value), &width) && width > 0 &&
		       (width - 1) / BYTE + 1 == column->shape[0];
		coded = coded_bits(fits ? (int)width : BYTE);
	} else {
		coded = coded_i8((int)column->shape[0]);
		fits = read_ranges(coded, value);
		coded_ready(coded);
	}
	if (!fits)
		die("%s: the property '%s%s' does not fit the column's %lld bytes a vector",
		    stream_name(reader), column->name, ending,
		    (long long)column->shape[0]);
	return coded;
}

static char *
ranges_text(const struct coded *coded)
{
	struct buffer text = { 0 };

	for (int i = 0; i < 2 * coded->width; i++) {
		if (i)
			buffer_add(&text, " ", 1);
		char *to = buffer_room(&text, NUMBER_ROOM);
		text.used += number_put(to, (double)coded->least[i], true);
	}
	buffer_add(&text, "", 1);
	return text.data;
}

void
coded_tell(const struct coded *coded, struct writer *writer, const char *name)
{
	bool bits = !coded->least;
	char *key = mem_format("%s%s", name, bits ? STREAM_BITS : STREAM_RANGES);
	char *value = bits ? mem_format("%d", coded->width) : ranges_text(coded);

	stream_property(writer, key, value);
	free(key);
	free(value);
}

/* Vectors. --------------------------------------------------------------------------- */

static void
encode_i8(const struct coded *coded, int8_t *to, const float *from)
{
	const float *least = coded->least, *step = coded->step;

	for (int c = 0; c < coded->width; c++) {
		float place = floorf((from[c] - least[c]) / step[c]);
		place = place < 0 ? 0 : place > STEPS ? STEPS : place;
		to[c] = (int8_t)((int)place - HALF);
	}
}

static void
encode_bits(const struct coded *coded, uint8_t *to, const float *from)
{
	memset(to, 0, (size_t)coded->size);
	for (int c = 0; c < coded->width; c++)
		to[c / BYTE] |= (uint8_t)((from[c] > 0) << (BYTE - 1 - c % BYTE));
}

void
coded_encode(const struct coded *coded, void *to, const float *from, int64_t count)
{
	char *at = to;

	for (int64_t i = 0; i < count; i++, from += coded->width, at += coded->size)
		if (coded->least)
			encode_i8(coded, (int8_t *)at, from);
		else
			encode_bits(coded, (uint8_t *)at, from);
}

/* In double, so that the product is exact and the bits are the same with and without FMA. */
static void
decode_i8(const struct coded *coded, float *to, const int8_t *from)
{
	const float *least = coded->least, *step = coded->step, *middle = coded->middle;

	for (int c = 0; c < coded->width; c++)
		to[c] = (float)((double)least[c] +
				(double)step[c] *
				    ((double)(from[c] + HALF) + (double)middle[c]));
}

static void
decode_bits(const struct coded *coded, float *to, const uint8_t *from)
{
	float length = (float)(1 / sqrt((double)coded->width));

	for (int c = 0; c < coded->width; c++)
		to[c] = from[c / BYTE] >> (BYTE - 1 - c % BYTE) & 1 ? length : -length;
}

const float *
coded_floats(const struct coded *coded, const struct column *column,
    const struct array *array, int64_t count, struct floats *room)
{
	const char *from = array->data;

	if (!coded)
		return values_floats(column, array, count, room);
	room->data = mem_grow(room->data, &room->capacity,
	    mem_multiply((size_t)count, (size_t)coded->width, "vectors"),
	    sizeof *room->data);
	float *to = room->data;
	for (int64_t i = 0; i < count; i++, to += coded->width, from += coded->size)
		if (coded->least)
			decode_i8(coded, to, (const int8_t *)from);
		else
			decode_bits(coded, to, (const uint8_t *)from);
	return room->data;
}

void
coded_free(struct coded *coded)
{
	if (!coded)
		return;
	free(coded->least);
	free(coded);
}
