#include "token/shard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/input.h"
#include "base/mem.h"
#include "base/number.h"
#include "text/cut.h"

enum { BLOCK = 1 << 18, MOST = 1000000 };

struct shard
shard_parse(const char *option, const char *text)
{
	const char *slash = strchr(text, '/');
	struct shard shard = { 0 };

	if (!slash || !number_read_whole(text, (size_t)(slash - text), &shard.number) ||
	    !number_read_whole(slash + 1, strlen(slash + 1), &shard.count) ||
	    shard.count < 1 || shard.count > MOST || shard.number < 1 ||
	    shard.number > shard.count)
		die_usage(
		    "%s: '%s' is not K/N, the K-th of N parts, as in 3/64: K is from 1 to N, N at most %d",
		    option, text, MOST);
	return shard;
}

/* The first byte of shard `number` + 1. */
static int64_t
offset(int64_t bytes, int64_t number, int64_t count)
{
	return bytes / count * number + bytes % count * number / count;
}

static int64_t
inside(int64_t value, int64_t most)
{
	return value < 0 ? 0 : value > most ? most : value;
}

static int64_t
size_of(const char *path)
{
	struct stat status;

	if (!strcmp(path, "-"))
		die_usage(
		    "--shard: standard input is not cut by its offsets: name the file");
	if (stat(path, &status))
		die("%s:", path);
	if (!S_ISREG(status.st_mode))
		die("%s: is not a regular file, in which --shard can go to an offset; write it to one, or deal out its lines (split -n r/K/N)",
		    path);
	return status.st_size;
}

struct shard_piece *
shard_pieces(struct shard shard, char *const *paths, int count)
{
	struct shard_piece *pieces = mem_zero((size_t)count, sizeof *pieces);
	int64_t bytes = 0, before = 0;

	for (int i = 0; i < count; i++) {
		pieces[i].path = paths[i];
		bytes += pieces[i].size = size_of(paths[i]);
	}
	int64_t low = offset(bytes, shard.number - 1, shard.count);
	int64_t high = offset(bytes, shard.number, shard.count);
	for (int i = 0; i < count; i++) {
		pieces[i].low = inside(low - before, pieces[i].size);
		pieces[i].high = inside(high - before, pieces[i].size);
		before += pieces[i].size;
	}
	return pieces;
}

static size_t
read_block(const struct shard_piece *piece, char *block, int64_t at)
{
	ssize_t got;

	do
		got = pread(piece->descriptor, block, BLOCK, at);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		die("%s:", piece->path);
	return (size_t)got;
}

static size_t
count_quotes(const struct shard_piece *piece, char *block, int64_t from, int64_t to)
{
	size_t quotes = 0, got;

	for (; from < to && (got = read_block(piece, block, from)); from += (int64_t)got)
		for (size_t i = 0; i < got && from + (int64_t)i < to; i++)
			quotes += block[i] == '"';
	return quotes;
}

/* The start of the first record at or after an offset, or the end of the file; `known`: start of an earlier record. */
static int64_t
border(const struct shard_piece *piece, int64_t at, int64_t known)
{
	struct cut cut = { .kind = piece->format == DATAFILE_CSV ? CUT_CSV : CUT_LINES,
		.end = piece->end };
	char *block = mem_new(BLOCK, 1);
	const char *stop = NULL;
	size_t got;

	at--; /* a record at that offset has a line end before it */
	if (cut.kind == CUT_CSV)
		cut.quotes = count_quotes(piece, block, known, at);
	while (!stop && (got = read_block(piece, block, at))) {
		stop = cut_end(&cut, block, got);
		at += stop ? stop + 1 - block : (int64_t)got;
		cut.searched = 0;
	}
	free(block);
	return inside(at, piece->size);
}

static void
find(struct shard_piece *piece)
{
	bool names = piece->format == DATAFILE_TSV || piece->format == DATAFILE_CSV;
	int64_t least = names ? 1 : 0, low = piece->low < least ? least : piece->low;

	piece->from = low ? border(piece, low, 0) : 0;
	piece->to = piece->from < piece->high ? border(piece, piece->high, piece->from)
					      : piece->from;
}

struct datafile *
piece_open(struct shard_piece *piece, struct shard shard, enum datafile_format format)
{
	struct input *input = input_open(piece->path);

	if (!input_is_plain(input))
		die("%s: is compressed, and --shard goes by offsets of the text; unpack it, or cut the stream that is made of it (mts split)",
		    piece->path);
	piece->format = format == DATAFILE_GUESS ? datafile_guess(input) : format;
	input_close(input);
	piece->descriptor = open(piece->path, O_RDONLY | O_CLOEXEC);
	if (piece->descriptor < 0)
		die("%s:", piece->path);
	piece->name = mem_format("%s (shard %lld/%lld)", piece->path,
	    (long long)shard.number, (long long)shard.count);
	struct datafile *file = datafile_open_part(
	    piece->descriptor, piece->path, 0, piece->size, piece->format);
	piece->end = datafile_line_end(file);
	if (!piece->end)
		die("%s: is an array of JSON, and --shard cuts lines; make lines of it: jq -c '.[]'",
		    piece->path);
	find(piece);
	return file;
}

void
piece_close(struct shard_piece *piece)
{
	close(piece->descriptor);
	free(piece->name);
}
