/*
 * A tensor stream, read to its end.  The input has the contents of the frames, each after its length (u32), and is compressed
 * here, because a change of compressed bytes would stop at a checksum.  An input that begins with a zstd frame is used
 * unchanged.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/rng.h"
#include "harness.h"
#include "stream/stream.h"
#include "text/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
run(void *path)
{
	struct reader *reader = stream_open(path);
	struct record record;
	uint64_t hash = 0;

	while (stream_next(reader, &record))
		for (int i = 0; i < stream_columns(reader); i++) {
			const struct column *column = stream_column(reader, i);
			const struct array *array = &record.columns[i];
			int64_t count = column_elements(column, array, record.rows);
			hash = rng_hash(hash, array->data,
			    (size_t)count * column_element_size(column));
			char *text = json_text(record.attributes, 0);
			free(text);
		}
	if (hash == 1)
		abort();
	stream_close(reader);
}

/* Writes the contents as frames; returns 0 if they need more than the room. */
static size_t
compress(char *to, size_t room, const uint8_t *data, size_t size)
{
	static ZSTD_CCtx *context;
	size_t used = 0;

	if (!context) {
		context = ZSTD_createCCtx();
		ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
		ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	}
	while (size >= 4) {
		uint32_t length;
		memcpy(&length, data, 4);
		data += 4;
		size -= 4;
		length = length < size ? length : (uint32_t)size;
		size_t made =
		    ZSTD_compress2(context, to + used, room - used, data, length);
		if (ZSTD_isError(made))
			return 0;
		used += made;
		data += length;
		size -= length;
	}
	return used;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char frames[1 << 20];
	const void *file = data;

	if (size < 4 || memcmp(data, "\x28\xb5\x2f\xfd", 4)) {
		size = compress(frames, sizeof frames, data, size);
		file = frames;
	}
	harness_run(run, (void *)(uintptr_t)harness_file("x.mts", file, size));
	return 0;
}
