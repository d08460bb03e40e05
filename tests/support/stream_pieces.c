/* stream_pieces <stream - what its zstd frames hold, each behind its length (u32): see
 * tests/fuzz/fuzz_stream.c. */
#include <stdint.h>
#include <stdio.h>
#include <zstd.h>

int
main(void)
{
	static char in[1 << 20], out[1 << 20];
	size_t size = fread(in, 1, sizeof in, stdin), frame;

	for (size_t at = 0; at < size; at += frame) {
		frame = ZSTD_findFrameCompressedSize(in + at, size - at);
		if (ZSTD_isError(frame))
			return 1;
		size_t made = ZSTD_decompress(out, sizeof out, in + at, frame);
		uint32_t length = (uint32_t)made;
		if (ZSTD_isError(made) ||
		    fwrite(&length, 1, sizeof length, stdout) != sizeof length ||
		    fwrite(out, 1, made, stdout) != made)
			return 1;
	}
	return 0;
}
