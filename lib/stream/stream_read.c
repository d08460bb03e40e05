#define ZSTD_STATIC_LINKING_ONLY /* the parameter ZSTD_d_stableOutBuffer */
#include "stream/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "stream/documents.h"
#include "stream/stream_format.h"
#include "text/json.h"

enum {
	CHUNK = 1 << 18,  /* compressed bytes read at once */
	STEP = 1 << 20,	  /* of the room for a frame's content */
	FRAME_HEADER = 18 /* the longest of zstd */
};

struct reader {
	struct input *input;
	ZSTD_DCtx *zstd;
	char *chunk; /* [CHUNK] */
	size_t at, end;
	bool chunks_ended;
	char *block; /* the frame's content, mapped, 64-byte aligned */
	size_t size, capacity;
	struct header header;
	struct array *arrays;
	struct tree *attributes;
	/* the same of the record before, with stream_keep */
	bool keeps;
	char *block_before;
	size_t capacity_before;
	struct array *arrays_before;
	struct tree *attributes_before;
	int64_t records, part_records, part_rows;
	struct progress *progress; /* borrowed; or NULL */
	int64_t rows;		   /* of the current record */
	bool ended;
	char place[48]; /* "header", "record 3": for messages */
};

_Noreturn static void
fail(const struct reader *reader, const char *what)
{
	die("%s: %s: %s", input_name(reader->input), reader->place, what);
}

static void
go_to(struct reader *reader, const char *place, int64_t number)
{
	if (number)
		snprintf(reader->place, sizeof reader->place, "%s %lld", place,
		    (long long)number);
	else
		snprintf(reader->place, sizeof reader->place, "%s", place);
}

/* Frames. -------------------------------------------------------------------------- */

/* Reads ahead until `count` compressed bytes are buffered, fewer only at the end; returns the number buffered. */
static size_t
have(struct reader *reader, size_t count)
{
	if (reader->end - reader->at < count && !reader->chunks_ended) {
		memmove(
		    reader->chunk, reader->chunk + reader->at, reader->end - reader->at);
		reader->end -= reader->at;
		reader->at = 0;
	}
	while (reader->end < reader->at + count && !reader->chunks_ended) {
		size_t got = input_read_raw(
		    reader->input, reader->chunk + reader->end, CHUNK - reader->end);
		reader->end += got;
		reader->chunks_ended = !got;
	}
	return reader->end - reader->at;
}

/* Maps addresses for the size that a frame claims; memory is allocated only as content arrives. */
static void
make_room(struct reader *reader, size_t size)
{
	void *block;

	if (size <= reader->capacity)
		return;
	size = (size + STEP - 1) / STEP * STEP;
	if (reader->block)
		block = mremap(reader->block, reader->capacity, size, MREMAP_MAYMOVE);
	else
		block = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (block == MAP_FAILED)
		fail(reader, "there is not enough memory for it");
	madvise(block, size, MADV_HUGEPAGE);
	reader->block = block;
	reader->capacity = size;
}

/* Checks the frame header; returns the content size that it states.  header: of a stream's first frame, which is small. */
static size_t
frame_size(struct reader *reader, bool header)
{
	const char *frame = reader->chunk + reader->at;
	size_t count = have(reader, FRAME_HEADER);

	frame = reader->chunk + reader->at;
	if (!reader->header.tree)
		header_refuse_text(frame, reader->end - reader->at, stream_name(reader));
	if (count < 4 || memcmp(frame, "\x28\xb5\x2f\xfd", 4))
		fail(reader,
		    count < 4
			? "the stream is cut short"
			: "these bytes are not a zstd frame: damaged, or not a tensor stream");
	unsigned long long size = ZSTD_getFrameContentSize(frame, count);
	if (count < 6 || size == ZSTD_CONTENTSIZE_ERROR)
		fail(reader, count < FRAME_HEADER ? "the stream is cut short"
						  : "the zstd frame is damaged");
	if (size == ZSTD_CONTENTSIZE_UNKNOWN)
		fail(reader,
		    "the zstd frame does not state its size: not a tensor stream, or one that was compressed again as a whole");
	/* the descriptor: checksum, and neither dictionary nor reserved bits */
	if ((frame[4] & 0x1f) != 4)
		fail(reader,
		    "the zstd frame has no checksum, or flags that streams do not use");
	if (header && size > STREAM_HEADER)
		fail(reader,
		    "it is longer than 16 MiB: no tensor stream, or one that was compressed again as a whole");
	if (size > (unsigned long long)STREAM_RECORD)
		fail(reader, "it claims more than 16 GiB");
	return (size_t)size;
}

/* Decompresses the next frame into the block; returns false at the end.  header: as for frame_size. */
static bool
next_frame(struct reader *reader, bool header)
{
	if (!have(reader, 1))
		return false;
	size_t size = frame_size(reader, header), left = 1;
	make_room(reader, size);
	ZSTD_outBuffer out = { reader->block, size, 0 };
	while (left) {
		if (!have(reader, 1))
			fail(reader,
			    "the stream is cut short; did the program that wrote it fail?");
		ZSTD_inBuffer in = { reader->chunk, reader->end, reader->at };
		left = ZSTD_decompressStream(reader->zstd, &out, &in);
		reader->at = in.pos;
		if (ZSTD_isError(left)) {
			const char *what = ZSTD_getErrorName(left);
			die("%s: %s: the data are damaged: %s", input_name(reader->input),
			    reader->place, what);
		}
	}
	reader->size = out.pos;
	if (out.pos != size)
		fail(reader, "it is not of the size that it states");
	if (size < STREAM_TAG)
		fail(reader, "it is too short to have a kind");
	return true;
}

/* Header. -------------------------------------------------------------------------- */

static void
following_header(struct reader *reader)
{
	struct header header =
	    header_parse(reader->block, reader->size, input_name(reader->input));
	char *what = header_difference(&reader->header, &header);

	if (what)
		die("%s: record %lld: a stream follows that does not agree: %s",
		    input_name(reader->input), (long long)reader->records + 1, what);
	header_free(&header);
}

void
stream_agree(const struct reader *reader, const struct reader *other)
{
	char *what = header_difference(&reader->header, &other->header);

	if (what)
		die("%s: does not agree with %s: %s", stream_name(other),
		    stream_name(reader), what);
}

struct reader *
stream_open(const char *path)
{
	if (strcmp(path, "-") != 0 && documents_is_folder(path))
		die("%s: is a folder, not a tensor stream; near takes an index behind the queries",
		    path);
	return stream_open_input(input_open(path));
}

struct reader *
stream_open_input(struct input *input)
{
	struct reader *reader = mem_zero(1, sizeof *reader);

	reader->input = input;
	reader->zstd = ZSTD_createDCtx();
	if (!reader->zstd)
		die("%s: out of memory for decompression", input_name(input));
	/* decompress in place; libraries without this parameter copy */
	(void)ZSTD_DCtx_setParameter(reader->zstd, ZSTD_d_stableOutBuffer, 1);
	reader->chunk = mem_new(CHUNK, 1);
	go_to(reader, "header", 0);
	if (!have(reader, 1))
		die("%s: empty, not a tensor stream; did the program before it fail?",
		    input_name(input));
	next_frame(reader, true);
	reader->header = header_parse(reader->block, reader->size, input_name(input));
	reader->arrays = mem_zero((size_t)reader->header.count, sizeof *reader->arrays);
	return reader;
}

bool
stream_is(struct input *input)
{
	return input_starts_with(input, "mts ");
}

const char *
stream_name(const struct reader *reader)
{
	return input_name(reader->input);
}

int
stream_columns(const struct reader *reader)
{
	return reader->header.count;
}

const struct column *
stream_column(const struct reader *reader, int index)
{
	return &reader->header.columns[index];
}

int
stream_find(const struct reader *reader, const char *name)
{
	for (int i = 0; i < reader->header.count; i++)
		if (!strcmp(reader->header.columns[i].name, name))
			return i;
	return -1;
}

void
stream_lacks(const struct reader *reader, const char *name)
{
	int count = reader->header.count;
	const char **names = mem_zero((size_t)count + 1, sizeof *names);

	for (int i = 0; i < count; i++)
		names[i] = reader->header.columns[i].name;
	die("%s: there is no column '%s'%s", input_name(reader->input), name,
	    cli_suggestion(name, names));
}

int
stream_need(const struct reader *reader, const char *name, enum dtype dtype, int depth)
{
	int index = stream_find(reader, name);
	struct column wanted = { .name = name, .dtype = dtype, .depth = depth };

	if (index >= 0 && reader->header.columns[index].dtype == dtype &&
	    reader->header.columns[index].depth == depth)
		return index;
	char *want = column_text(&wanted), *there = mem_string("");
	for (int i = 0; i < reader->header.count; i++) {
		char *one = column_text(&reader->header.columns[i]);
		there = mem_list(there, one);
		free(one);
	}
	die("%s: there is no column %s; there is: %s", input_name(reader->input), want,
	    *there ? there : "none");
}

const struct tree *
stream_properties(const struct reader *reader)
{
	return tree_get(reader->header.tree, "properties");
}

const struct tree *
stream_history(const struct reader *reader)
{
	return tree_get(reader->header.tree, "history");
}

struct tree *
stream_about(const struct reader *reader)
{
	struct tree *about = tree_object();

	tree_set(about, "name", tree_of_string(stream_name(reader)));
	tree_set(about, "properties", tree_copy(stream_properties(reader)));
	tree_set(about, "history", tree_copy(stream_history(reader)));
	return about;
}

int64_t
stream_records(const struct reader *reader)
{
	return reader->records;
}

double
stream_share(const struct reader *reader)
{
	return input_share(reader->input, reader->end - reader->at);
}

void
stream_watch(struct reader *reader, struct progress *progress)
{
	reader->progress = progress;
}

struct progress *
stream_progress(struct reader *reader)
{
	struct progress *progress = progress_new("rows", 0);

	stream_watch(reader, progress);
	return progress;
}

/* Records. ------------------------------------------------------------------------- */

static uint64_t
number_at(const struct reader *reader, size_t at)
{
	uint64_t number;

	memcpy(&number, reader->block + at, sizeof number);
	return number;
}

_Noreturn static void
fail_column(const struct reader *reader, int index, const char *what)
{
	die("%s: %s: column '%s': %s", input_name(reader->input), reader->place,
	    reader->header.columns[index].name, what);
}

/* Sets the pointers of a column whose arrays start at `at`; returns the offset behind them. */
static size_t
place_column(struct reader *reader, int index, int64_t rows, size_t at)
{
	struct array *array = &reader->arrays[index];
	size_t head = STREAM_HEAD + 16 * (size_t)index;
	struct counts counts = { number_at(reader, head), number_at(reader, head + 8) };
	uint64_t sizes[STREAM_DEPTH + 1];
	const char *pieces[STREAM_DEPTH + 1] = { NULL };

	if (!stream_sizes(&reader->header.columns[index], (uint64_t)rows, counts, sizes))
		fail_column(reader, index, "it claims more than a record holds");
	for (int i = 0; i <= STREAM_DEPTH; i++) {
		if (sizes[i] > reader->size - at ||
		    stream_pad(sizes[i]) > reader->size - at)
			fail_column(reader, index, "it is longer than the record");
		if (i == STREAM_DEPTH || sizes[i])
			pieces[i] = reader->block + at;
		at += stream_pad(sizes[i]);
	}
	array->offsets[0] = (const int64_t *)(const void *)pieces[0];
	array->offsets[1] = (const int64_t *)(const void *)pieces[1];
	array->data = pieces[2];
	const char *fault =
	    stream_fault(&reader->header.columns[index], array, rows, counts);
	if (fault)
		fail_column(reader, index, fault);
	return at;
}

static void
parse_record(struct reader *reader, struct record *record)
{
	if (reader->size < STREAM_HEAD)
		fail(reader, "it is too short for a record");
	uint64_t rows = number_at(reader, 8), length = number_at(reader, 16);
	size_t head = STREAM_HEAD + 16 * (size_t)reader->header.count;

	if (number_at(reader, 24) != (uint64_t)reader->header.count)
		fail(reader, "its number of columns is not the header's");
	if (rows >= (uint64_t)STREAM_RECORD || (rows && !reader->header.count))
		fail(reader, "it has more rows than it can hold");
	if (length > STREAM_ATTRIBUTES)
		fail(reader, "its attributes are longer than 1 MiB");
	if (head > reader->size || length > reader->size - head ||
	    stream_pad(head + length) > reader->size)
		fail(reader, "it is shorter than its head and attributes");
	char *name =
	    mem_format("%s: %s: attributes", input_name(reader->input), reader->place);
	reader->attributes = json_parse(reader->block + head, (size_t)length, name, 0);
	reader->attributes->name = name;
	if (reader->attributes->kind != TREE_OBJECT)
		fail(reader, "its attributes are not a JSON object");
	size_t at = stream_pad(head + length);
	for (int i = 0; i < reader->header.count; i++)
		at = place_column(reader, i, (int64_t)rows, at);
	if (at != reader->size)
		fail(reader, "its columns do not fill it");
	reader->records++;
	reader->part_records++;
	reader->part_rows += (int64_t)rows;
	*record = (struct record){ (int64_t)rows, reader->attributes, reader->arrays };
}

static void
check_end(struct reader *reader)
{
	go_to(reader, "end mark after record", reader->records);
	if (reader->size != STREAM_END)
		fail(reader, "it is not 24 bytes long");
	if (number_at(reader, 8) != (uint64_t)reader->part_records ||
	    number_at(reader, 16) != (uint64_t)reader->part_rows)
		die("%s: %s: it counts %llu records and %llu rows where %lld and %lld were read",
		    input_name(reader->input), reader->place,
		    (unsigned long long)number_at(reader, 8),
		    (unsigned long long)number_at(reader, 16),
		    (long long)reader->part_records, (long long)reader->part_rows);
	reader->part_records = reader->part_rows = 0;
}

void
stream_keep(struct reader *reader)
{
	reader->keeps = true;
	reader->arrays_before =
	    mem_zero((size_t)reader->header.count, sizeof *reader->arrays_before);
}

/* Swaps the current record with the one before. */
static void
keep(struct reader *reader)
{
	char *block = reader->block_before;
	size_t capacity = reader->capacity_before;
	struct array *arrays = reader->arrays_before;
	struct tree *attributes = reader->attributes_before;

	reader->block_before = reader->block;
	reader->capacity_before = reader->capacity;
	reader->arrays_before = reader->arrays;
	reader->attributes_before = reader->attributes;
	reader->block = block;
	reader->capacity = capacity;
	reader->arrays = arrays;
	reader->attributes = attributes;
}

bool
stream_next(struct reader *reader, struct record *record)
{
	if (reader->keeps)
		keep(reader);
	tree_free(reader->attributes);
	reader->attributes = NULL;
	if (reader->progress)
		progress_add(reader->progress, reader->rows);
	reader->rows = 0;
	while (!reader->ended) {
		go_to(reader, "record", reader->records + 1);
		if (!next_frame(reader, false))
			fail(reader,
			    "the stream ends without an end mark: it is cut short; did the program that wrote it fail?");
		if (!memcmp(reader->block, "record\0", STREAM_TAG)) {
			parse_record(reader, record);
			reader->rows = record->rows;
			if (reader->progress)
				progress_span(
				    reader->progress, stream_share(reader), reader->rows);
			return true;
		}
		if (memcmp(reader->block, "end\0\0\0\0", STREAM_TAG))
			fail(reader, "it is neither a record nor an end mark");
		check_end(reader);
		go_to(reader, "after the end mark of record", reader->records);
		if (!next_frame(reader, true)) {
			reader->ended = true;
			if (reader->progress) {
				progress_span(reader->progress, stream_share(reader), 0);
				progress_hide(reader->progress);
			}
			reader->progress = NULL;
		} else {
			following_header(reader);
		}
	}
	return false;
}

bool
stream_waits(struct reader *reader, double seconds)
{
	return reader->at == reader->end && !reader->ended &&
	       input_waits(reader->input, seconds);
}

void
stream_close(struct reader *reader)
{
	if (!reader)
		return;
	ZSTD_freeDCtx(reader->zstd);
	if (reader->block)
		munmap(reader->block, reader->capacity);
	if (reader->block_before)
		munmap(reader->block_before, reader->capacity_before);
	tree_free(reader->attributes);
	tree_free(reader->attributes_before);
	free(reader->arrays_before);
	header_free(&reader->header);
	free(reader->arrays);
	free(reader->chunk);
	input_close(reader->input);
	free(reader);
}
