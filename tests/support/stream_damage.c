/*
 * stream_damage cut FILE - read FILE cut short at every length
 * stream_damage flip FILE COUNT SEED - read FILE with one bit changed, COUNT times
 * stream_damage forge FILE COUNT SEED - read FILE with a number inside a frame changed and the checksum recomputed, COUNT times,
 * 	so that only the reader's own checks can refuse it; here other content is allowed
 *
 * Each reading is a process of its own.  It must either end with exit status 1 and one line that names the stream, or read
 * exactly the content of the whole file (some bits do not matter).  Prints the counts "refused harmless"; prints a line for each
 * reading that ends otherwise, and then exits 1.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "stream/stream.h"
#include "text/json.h"

enum { DIFFERENT = 9, ROOM = 1 << 20 };

static uint64_t
hash_text(uint64_t hash, const struct tree *tree)
{
	char *text = json_text(tree, 0);

	hash = rng_hash(hash, text, strlen(text));
	free(text);
	return hash;
}

/* A hash of all that a program sees of a stream. */
static uint64_t
hash_stream(const char *path)
{
	struct reader *reader = stream_open(path);
	struct record record;
	uint64_t hash =
	    hash_text(hash_text(0, stream_properties(reader)), stream_history(reader));

	while (stream_next(reader, &record)) {
		hash = hash_text(hash, record.attributes);
		for (int i = 0; i < stream_columns(reader); i++) {
			const struct column *column = stream_column(reader, i);
			const struct array *array = &record.columns[i];
			int64_t n = record.rows;
			hash = rng_hash(hash, column->name, strlen(column->name));
			for (int d = 0; d < column->depth; d++) {
				hash = rng_hash(
				    hash, array->offsets[d], ((size_t)n + 1) * 8);
				n = array->offsets[d][n];
			}
			hash = rng_hash(
			    hash, array->data, (size_t)n * column_element_size(column));
		}
	}
	stream_close(reader);
	return hash;
}

/* Reads the bytes in a child process. Returns 1: refused, 0: harmless, -1: wrong; lenient: other content is harmless. */
static int
try(const char *bytes, size_t length, uint64_t expected, const char *what, bool lenient)
{
	char message[4096], path[32];
	int errors[2], status, file = memfd_create("damaged", 0);

	if (file < 0 || write(file, bytes, length) != (ssize_t)length || pipe(errors))
		die("a test case cannot be set up:");
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	fflush(NULL);
	pid_t child = fork();
	if (!child) {
		dup2(errors[1], STDERR_FILENO);
		exit(hash_stream(path) == expected ? 0 : DIFFERENT);
	}
	close(errors[1]);
	ssize_t got = 0, n;
	while ((n = read(errors[0], message + got, sizeof message - 1 - (size_t)got)) > 0)
		got += n;
	message[got] = 0;
	close(errors[0]);
	close(file);
	waitpid(child, &status, 0);
	if (WIFEXITED(status) &&
	    (WEXITSTATUS(status) == 0 || (WEXITSTATUS(status) == DIFFERENT && lenient)))
		return 0;
	char *line = strchr(message, '\n');
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DATA && line && !line[1] &&
	    strstr(message, path))
		return 1;
	printf("%s: status %#x: %s\n", what, (unsigned)status, message);
	return -1;
}

/* Changes a number somewhere in the content by a little, or to an extreme. */
static void
change(char *content, size_t size, struct rng *rng)
{
	static const int64_t hostile[] = { 0, 1, -1, INT64_MAX, INT64_MIN,
		(int64_t)1 << 32, (int64_t)1 << 34, (int64_t)1 << 61, (int64_t)1 << 62,
		-64 };
	size_t at = rng_below(rng, size);
	int64_t number;

	if (size < 8 || rng_below(rng, 2)) {
		content[at] = (char)rng_next(rng);
		return;
	}
	at = at / 8 * 8 > size - 8 ? 0 : at / 8 * 8;
	memcpy(&number, content + at, sizeof number);
	number += (int64_t)rng_below(rng, 5) - 2;
	if (rng_below(rng, 2))
		number = hostile[rng_below(rng, sizeof hostile / sizeof *hostile)];
	memcpy(content + at, &number, sizeof number);
}

/* Copies a stream with the content of one frame changed; returns its length. */
static size_t
forge(char *to, const char *bytes, size_t length, struct rng *rng)
{
	static char content[ROOM];
	size_t frames = 0, made = 0, at = 0;

	for (size_t i = 0; i < length; frames++)
		i += ZSTD_findFrameCompressedSize(bytes + i, length - i);
	for (size_t frame = rng_below(rng, frames); frame; frame--)
		at += ZSTD_findFrameCompressedSize(bytes + at, length - at);
	memcpy(to, bytes, made = at);
	size_t packed = ZSTD_findFrameCompressedSize(bytes + at, length - at);
	size_t size = ZSTD_decompress(content, ROOM, bytes + at, packed);
	change(content, size, rng);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	made += ZSTD_compress2(zstd, to + made, ROOM - made, content, size);
	ZSTD_freeCCtx(zstd);
	memcpy(to + made, bytes + at + packed, length - at - packed);
	return made + length - at - packed;
}

int
main(int argc, char **argv)
{
	static const struct cli cli = { .name = "stream_damage", NULL };
	static char bytes[ROOM], forged[2 * ROOM];
	char what[64];
	int counts[3] = { 0 };

	cli_start(&cli, argc, argv);
	if (argc != 3 && argc != 5)
		return 2;
	struct input *input = input_open(argv[2]);
	size_t length = 0, got;
	while ((got = input_read_raw(input, bytes + length, sizeof bytes - length)))
		length += got;
	input_close(input);
	uint64_t expected = hash_stream(argv[2]);
	if (!strcmp(argv[1], "cut"))
		for (size_t cut = 0; cut < length; cut++) {
			snprintf(what, sizeof what, "cut at %zu", cut);
			/* every cut must be refused: ~expected makes any content that is read wrong */
			int result = try(bytes, cut, ~expected, what, false);
			counts[result + 1]++;
		}
	struct rng rng = rng_seed(argc == 5 ? (uint64_t)atoll(argv[4]) : 0, 0);
	for (int i = 0; !strcmp(argv[1], "forge") && i < atoi(argv[3]); i++) {
		snprintf(what, sizeof what, "forgery %d", i);
		size_t size = forge(forged, bytes, length, &rng);
		int result = try(forged, size, expected, what, true);
		counts[result + 1]++;
	}
	for (int i = 0; !strcmp(argv[1], "flip") && i < atoi(argv[3]); i++) {
		size_t at = rng_below(&rng, length);
		char bit = (char)(1 << rng_below(&rng, 8));
		snprintf(what, sizeof what, "bit %#x at %zu", (unsigned char)bit, at);
		bytes[at] ^= bit;
		counts[try(bytes, length, expected, what, false) + 1]++;
		bytes[at] ^= bit;
	}
	printf("%d %d\n", counts[2], counts[1]);
	return counts[0] > 0;
}
