#include "base/input.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lzma.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"

const char *const input_endings[] = { ".gz", ".zst", ".xz", ".bz2", NULL };

enum { BUFFER = 1 << 20 };

/* Memory limit of a decompressor: as much as zstd --long=31 and xz --lzma2=dict=1536MiB need. */
enum { WINDOW_LOG = 31 };
static const uint64_t XZ_MEMORY = 2ull << 30;

enum packing { PLAIN, GZIP, ZSTD, XZ, BZIP2 };

struct input {
	char *name;
	int file;
	uint64_t bytes; /* read from the file */
	bool raw_ended; /* the buffer holds the last bytes of the file */
	bool started;	/* the kind is known, the decoder is set up */
	bool between;	/* the decoder is at the boundary of two frames */
	enum packing packing;
	size_t at, end; /* the unconsumed raw bytes of the buffer */
	ZSTD_DStream *zstd;
	z_stream gzip;
	lzma_stream xz;
	bz_stream bzip2;
	char *buffer; /* [BUFFER] raw bytes */
};

static bool
ends(const char *name, size_t length, const char *ending)
{
	size_t size = strlen(ending);

	return length > size && !memcmp(name + length - size, ending, size);
}

bool
input_name_ends(const char *name, size_t length, const char *ending)
{
	for (const char *const *packed = input_endings; *packed; packed++)
		if (ends(name, length, *packed))
			return ends(name, length - strlen(*packed), ending);
	return ends(name, length, ending);
}

void
input_take_stdin(void)
{
	static bool taken;

	if (taken)
		die_usage("standard input can be read only once");
	taken = true;
}

struct input *
input_open(const char *path)
{
	bool standard = !strcmp(path, "-");

	if (standard)
		input_take_stdin();
	int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		die("%s:", path);
	return input_open_file(file, standard ? "<stdin>" : path);
}

struct input *
input_open_file(int file, const char *name)
{
	struct input *input = mem_zero(1, sizeof *input);

	input->name = mem_string(name);
	input->file = file;
	/* hints: fewer context switches in a pipe, earlier readahead */
	(void)fcntl(input->file, F_SETPIPE_SZ, BUFFER);
	(void)posix_fadvise(input->file, 0, 0, POSIX_FADV_SEQUENTIAL);
	input->buffer = mem_new(BUFFER, 1);
	input->between = true;
	return input;
}

const char *
input_name(const struct input *input)
{
	return input->name;
}

static size_t
read_file(struct input *input, void *to, size_t count)
{
	ssize_t got;

	do
		got = read(input->file, to, count < SSIZE_MAX ? count : SSIZE_MAX);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		die("%s:", input->name);
	if (!got)
		input->raw_ended = true;
	input->bytes += (uint64_t)got;
	return (size_t)got;
}

/* Makes `count` raw bytes available; fewer only at the end. */
static void
fill(struct input *input, size_t count)
{
	if (input->end - input->at >= count || input->raw_ended)
		return;
	memmove(input->buffer, input->buffer + input->at, input->end - input->at);
	input->end -= input->at;
	input->at = 0;
	while (input->end < count && !input->raw_ended)
		input->end +=
		    read_file(input, input->buffer + input->end, BUFFER - input->end);
}

/* Whether the raw bytes begin with `magic`; reads no further than the first difference. */
static bool
begins(struct input *input, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		fill(input, i + 1);
		if (input->end - input->at <= i ||
		    input->buffer[input->at + i] != bytes[i])
			return false;
	}
	return true;
}

/* BZh, the block size, and six bytes of a block header or of the end mark. */
static bool
is_bzip2(struct input *input)
{
	static const char block[] = "1AY&SY", end[] = "\x17\x72\x45\x38\x50\x90";

	if (!begins(input, "BZh", 3))
		return false;
	fill(input, 10);
	const char *at = input->buffer + input->at + 4;
	return input->end - input->at >= 10 && at[-1] >= '1' && at[-1] <= '9' &&
	       (!memcmp(at, block, 6) || !memcmp(at, end, 6));
}

static enum packing
packing_of(struct input *input)
{
	/* one of sixteen kinds of skippable frames, which some parallel compressors write first */
	char skippable[] = { 0x50, 0x2a, 0x4d, 0x18 };

	fill(input, 1);
	if (input->end > input->at)
		skippable[0] |= input->buffer[input->at] & 0x0f;
	if (begins(input, "\x1f\x8b\x08", 3))
		return GZIP;
	if (begins(input, "\3757zXZ\0", 6))
		return XZ;
	if (is_bzip2(input))
		return BZIP2;
	return begins(input, "\x28\xb5\x2f\xfd", 4) ||
		       begins(input, skippable, sizeof skippable)
		   ? ZSTD
		   : PLAIN;
}

static bool
start_zstd(struct input *input)
{
	input->zstd = ZSTD_createDStream();
	return input->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(
				  input->zstd, ZSTD_d_windowLogMax, WINDOW_LOG));
}

static void
start(struct input *input)
{
	bool ready = true;

	if (input->started)
		return;
	input->started = true;
	input->packing = packing_of(input);
	switch (input->packing) {
	case ZSTD: ready = start_zstd(input); break;
	case GZIP: ready = inflateInit2(&input->gzip, 15 + 16) == Z_OK; break;
	case XZ: input->xz = (lzma_stream)LZMA_STREAM_INIT; break;
	default: break;
	}
	if (!ready)
		die("%s: out of memory for decompression", input->name);
}

static void
stop(struct input *input)
{
	if (input->zstd)
		ZSTD_freeDStream(input->zstd);
	if (input->started && input->packing == GZIP)
		inflateEnd(&input->gzip);
	if (input->started && input->packing == XZ)
		lzma_end(&input->xz);
	if (input->started && input->packing == BZIP2)
		BZ2_bzDecompressEnd(&input->bzip2);
	input->zstd = NULL;
	input->started = false;
	input->between = true;
}

/* Decompresses from the buffer; returns NULL, or the error. */
static const char *
unpack_zstd(struct input *input, char *to, size_t count, size_t *made)
{
	ZSTD_outBuffer out = { to, count, 0 };
	ZSTD_inBuffer in = { input->buffer, input->end, input->at };
	size_t left = ZSTD_decompressStream(input->zstd, &out, &in);

	if (ZSTD_isError(left))
		return ZSTD_getErrorName(left);
	input->at = in.pos;
	input->between = left == 0;
	*made = out.pos;
	return NULL;
}

static const char *
unpack_gzip(struct input *input, char *to, size_t count, size_t *made)
{
	z_stream *gzip = &input->gzip;

	if (input->between && inflateReset(gzip) != Z_OK)
		return "gzip cannot be started";
	input->between = false;
	gzip->next_in = (unsigned char *)input->buffer + input->at;
	gzip->avail_in = (unsigned)(input->end - input->at);
	gzip->next_out = (unsigned char *)to;
	gzip->avail_out = (unsigned)(count < UINT_MAX ? count : UINT_MAX);
	unsigned room = gzip->avail_out;
	int status = inflate(gzip, Z_NO_FLUSH);
	input->at = input->end - gzip->avail_in;
	*made = room - gzip->avail_out;
	if (status == Z_STREAM_END)
		input->between = true;
	else if (status != Z_OK && status != Z_BUF_ERROR)
		return gzip->msg ? gzip->msg : "not valid gzip data";
	return NULL;
}

static const char *
unpack_xz(struct input *input, char *to, size_t count, size_t *made)
{
	lzma_stream *xz = &input->xz;

	if (input->between && lzma_stream_decoder(xz, XZ_MEMORY, 0) != LZMA_OK)
		return "xz cannot be started";
	input->between = false;
	xz->next_in = (unsigned char *)input->buffer + input->at;
	xz->avail_in = input->end - input->at;
	xz->next_out = (unsigned char *)to;
	xz->avail_out = count;
	lzma_ret status = lzma_code(xz, LZMA_RUN);
	input->at = input->end - xz->avail_in;
	*made = count - xz->avail_out;
	if (status == LZMA_STREAM_END)
		input->between = true;
	else if (status == LZMA_MEMLIMIT_ERROR)
		return "it takes more than 2 GiB to unpack";
	else if (status != LZMA_OK && status != LZMA_BUF_ERROR)
		return "not valid xz data";
	return NULL;
}

static const char *
unpack_bzip2(struct input *input, char *to, size_t count, size_t *made)
{
	bz_stream *bzip2 = &input->bzip2;
	unsigned room = (unsigned)(count < UINT_MAX ? count : UINT_MAX);

	if (input->between) {
		BZ2_bzDecompressEnd(bzip2);
		*bzip2 = (bz_stream){ 0 };
		if (BZ2_bzDecompressInit(bzip2, 0, 0) != BZ_OK)
			return "bzip2 cannot be started";
	}
	input->between = false;
	bzip2->next_in = input->buffer + input->at;
	bzip2->avail_in = (unsigned)(input->end - input->at);
	bzip2->next_out = to;
	bzip2->avail_out = room;
	int status = BZ2_bzDecompress(bzip2);
	input->at = input->end - bzip2->avail_in;
	*made = room - bzip2->avail_out;
	if (status == BZ_STREAM_END)
		input->between = true;
	else if (status != BZ_OK)
		return "not valid bzip2 data";
	return NULL;
}

/* One step of decompression; *made is 0 if it needs more raw bytes. */
static const char *
unpack(struct input *input, char *to, size_t count, size_t *made)
{
	bool padded = input->packing == GZIP || input->packing == XZ;

	*made = 0;
	/* skip zeros between members: padding of a disk or tape block */
	while (padded && input->between && input->at < input->end &&
	       !input->buffer[input->at])
		input->at++;
	if (input->at == input->end && input->between)
		return NULL;
	switch (input->packing) {
	case ZSTD: return unpack_zstd(input, to, count, made);
	case XZ: return unpack_xz(input, to, count, made);
	case BZIP2: return unpack_bzip2(input, to, count, made);
	default: return unpack_gzip(input, to, count, made);
	}
}

/* Decompresses the first bytes, then restores the state. */
static size_t
peek_packed(struct input *input, char *bytes, size_t count)
{
	size_t have = 0, made, at = input->at;

	while (have < count) {
		if (unpack(input, bytes + have, count - have, &made))
			break;
		have += made;
		if (made || input->at < input->end)
			continue;
		if (at || input->end == BUFFER || input->raw_ended)
			break;
		input->end +=
		    read_file(input, input->buffer + input->end, BUFFER - input->end);
	}
	stop(input);
	input->at = at;
	return have;
}

size_t
input_peek(struct input *input, char *bytes, size_t count)
{
	start(input);
	if (input->packing != PLAIN)
		return peek_packed(input, bytes, count);
	stop(input);
	fill(input, count);
	size_t held = input->end - input->at;
	count = held < count ? held : count;
	memcpy(bytes, input->buffer + input->at, count);
	return count;
}

bool
input_starts_with(struct input *input, const char *bytes)
{
	size_t count = strlen(bytes);

	start(input);
	if (input->packing == PLAIN) {
		stop(input);
		return begins(input, bytes, count);
	}
	char *start_of = mem_new(count, 1);
	bool same = peek_packed(input, start_of, count) == count &&
		    !memcmp(start_of, bytes, count);
	free(start_of);
	return same;
}

bool
input_is_plain(struct input *input)
{
	struct stat status;

	return !fstat(input->file, &status) && S_ISREG(status.st_mode) &&
	       packing_of(input) == PLAIN;
}

static size_t
read_plain(struct input *input, char *to, size_t count)
{
	size_t done = 0;

	while (done < count) {
		size_t got = input_read_raw(input, to + done, count - done);
		if (!got)
			break;
		done += got;
	}
	return done;
}

size_t
input_read(struct input *input, void *to, size_t count)
{
	size_t done = 0, made;

	start(input);
	if (input->packing == PLAIN)
		return read_plain(input, to, count);
	while (done < count) {
		size_t before = input->at;
		const char *wrong = unpack(input, (char *)to + done, count - done, &made);
		if (wrong)
			die("%s: the compressed data are damaged: %s", input->name,
			    wrong);
		done += made;
		if (made || input->at != before)
			continue;
		fill(input, input->end - input->at + 1);
		if (input->at < input->end)
			continue;
		if (!input->between)
			die("%s: the compressed data end in the middle: the file is cut short",
			    input->name);
		break;
	}
	return done;
}

size_t
input_read_some(struct input *input, void *to, size_t count)
{
	start(input);
	return input->packing == PLAIN ? input_read_raw(input, to, count)
				       : input_read(input, to, count);
}

bool
input_waits(struct input *input, double seconds)
{
	struct pollfd wanted = { .fd = input->file, .events = POLLIN };
	double until = clock_now() + seconds;
	int ready;

	if (input->packing != PLAIN || input->at < input->end || input->raw_ended)
		return false;
	while ((ready = poll(&wanted, 1, (int)(1000 * seconds))) < 0 && errno == EINTR)
		seconds = until > clock_now() ? until - clock_now() : 0;
	return !ready;
}

double
input_share(const struct input *input, size_t unused)
{
	struct stat status;
	double used = (double)input->bytes - (double)(input->end - input->at) -
		      (input->packing == PLAIN ? (double)unused : 0);

	if (fstat(input->file, &status) || !S_ISREG(status.st_mode))
		return -1;
	return status.st_size > 0 && used < (double)status.st_size
		   ? used / (double)status.st_size
		   : 1;
}

size_t
input_read_raw(struct input *input, void *to, size_t count)
{
	size_t held = input->end - input->at;

	if (held) {
		size_t take = held < count ? held : count;
		memcpy(to, input->buffer + input->at, take);
		input->at += take;
		return take;
	}
	if (input->raw_ended)
		return 0;
	if (count >= BUFFER / 16)
		return read_file(input, to, count);
	fill(input, 1);
	return input->end > input->at ? input_read_raw(input, to, count) : 0;
}

void
input_close(struct input *input)
{
	if (!input)
		return;
	stop(input);
	if (input->file != STDIN_FILENO)
		close(input->file);
	free(input->buffer);
	free(input->name);
	free(input);
}
