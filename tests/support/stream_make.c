/*
 * stream_make RECORDS ROWS WIDTH [OUT] - a stream with every kind of column, always the same
 * stream_make --pass [LEVEL] - copy standard input to standard output, record by record
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/mem.h"
#include "base/rng.h"
#include "stream/stream.h"

static const struct column columns[] = {
	{ .name = "id", .dtype = DTYPE_I64 },
	{ .name = "good", .dtype = DTYPE_BOOL },
	{ .name = "text", .dtype = DTYPE_U8, .text = true, .depth = 1 },
	{ .name = "ids", .dtype = DTYPE_I32, .depth = 1 },
	{ .name = "others", .dtype = DTYPE_U8, .text = true, .depth = 2 },
	{ .name = "half", .dtype = DTYPE_F16, .rank = 1, .shape = { 3 } },
	{ .name = "emb", .dtype = DTYPE_F32, .rank = 1 },
};
enum { ID, GOOD, TEXT, IDS, OTHERS, HALF, EMB, COLUMNS };

static int
pass(int level)
{
	struct reader *in = stream_open("-");
	struct writer *out = stream_create("-", in);
	struct record record;

	if (level >= 0)
		stream_level(out, level);
	while (stream_next(in, &record))
		stream_put(out, stream_make(out, &record));
	stream_finish(out);
	stream_close(in);
	return 0;
}

/* Fills the words, of two letters: row r has r % 4. */
static void
fill(struct record *made, int64_t rows, int64_t width, struct rng *rng)
{
	int64_t *ids = mem_new((size_t)rows, 8), *starts = mem_new((size_t)rows + 1, 8);
	int64_t *bytes = mem_new((size_t)rows + 1, 8),
		*words = mem_new(4 * (size_t)rows + 1, 8);
	char *good = mem_new((size_t)rows, 1), *text = mem_new(8 * (size_t)rows, 1);
	int32_t *tokens = mem_new(4 * (size_t)rows, 4);
	uint16_t *half = mem_new(3 * (size_t)rows, 2);
	float *emb = mem_new((size_t)(rows * width), 4);
	int64_t n = 0;

	starts[0] = bytes[0] = words[0] = 0;
	for (int64_t r = 0; r < rows; r++) {
		ids[r] = (int64_t)rng_next(rng);
		good[r] = (char)rng_below(rng, 2);
		for (int64_t w = 0; w < r % 4; w++, n++) {
			tokens[n] = (int32_t)rng_below(rng, 30000);
			text[2 * n] = (char)('a' + rng_below(rng, 26));
			text[2 * n + 1] = (char)('a' + rng_below(rng, 26));
			words[n + 1] = 2 * n + 2;
		}
		starts[r + 1] = n;
		bytes[r + 1] = 2 * n;
		for (int i = 0; i < 3; i++)
			half[3 * r + i] = f16_narrow((float)rng_uniform(rng));
		for (int64_t i = 0; i < width; i++)
			emb[r * width + i] = (float)rng_uniform(rng) - 0.5f;
	}
	made->columns[ID].data = ids;
	made->columns[GOOD].data = good;
	made->columns[TEXT] = (struct array){ { bytes, NULL }, text };
	made->columns[IDS] = (struct array){ { starts, NULL }, tokens };
	made->columns[OTHERS] = (struct array){ { starts, words }, text };
	made->columns[HALF].data = half;
	made->columns[EMB].data = emb;
}

int
main(int argc, char **argv)
{
	static const struct cli cli = { .name = "stream_make", NULL };
	struct rng rng = rng_seed(1, 0);

	cli_start(&cli, argc, argv);
	if (argc >= 2 && !strcmp(argv[1], "--pass"))
		return pass(argc > 2 ? atoi(argv[2]) : -1);
	if (argc < 4)
		return 2;
	int64_t records = atoll(argv[1]), rows = atoll(argv[2]), width = atoll(argv[3]);
	struct writer *out = stream_create(argc > 4 ? argv[4] : "-", NULL);
	stream_property(out, "tokenizer", "0123456789abcdef");
	stream_seed(out, 1);
	for (int i = 0; i < COLUMNS; i++) {
		struct column column = columns[i];
		if (i == EMB)
			column.shape[0] = width;
		stream_add(out, &column);
	}
	for (int64_t r = 0; r < records; r++) {
		struct record *made = stream_make(out, NULL);
		made->rows = rows;
		tree_set(made->attributes, "task", tree_of_string("sts"));
		tree_set(made->attributes, "step", tree_of_integer(r));
		fill(made, rows, width, &rng);
		stream_put(out, made);
		for (int i = 0; i < COLUMNS; i++)
			if (i != OTHERS && i != IDS)
				free((void *)made->columns[i].data);
		free((void *)made->columns[IDS].data);
		free((void *)made->columns[IDS].offsets[0]);
		free((void *)made->columns[TEXT].offsets[0]);
		free((void *)made->columns[OTHERS].offsets[1]);
	}
	stream_finish(out);
	return 0;
}
