/*
 * group - cluster texts by their embeddings
 *
 * reads	FIELD.emb	f32 [width]
 * writes	group		i64	from 0, the largest; -1: in none
 *		distance	f64	to the centre of the group: Euclidean with -k, 1 - cosine with
 *					--threshold, where 0 is also of rows in no group
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "nn/nn.h"
#include "score/kmeans.h"
#include "search/communities.h"
#include "search/vectors.h"
#include "stream/replay.h"

enum { GROUPS_MOST = 65536 };

struct settings {
	const char *field, *output;
	int clusters, level, threads;
	double threshold; /* NAN: k-means */
	int64_t least;
	uint32_t seed;
};

static const struct cli_option options[] = { { 'k', "clusters", "K",
						 "number of groups, by k-means",
						 CLI_INTEGER(clusters, 1, GROUPS_MOST) },
	{ 0, "threshold", "COSINE", "or: group texts with this cosine to a centre",
	    CLI_REAL(threshold, -1, 1) },
	{ 0, "min-size", "N", "--threshold: texts of a group (default: 10)",
	    CLI_INTEGER(least, 1, INT32_MAX) },
	{ 'f', "field", "NAME", "embeddings are NAME.emb (default: the only ones)",
	    CLI_TEXT(field) },
	{ 's', "seed", "N", "seed of k-means (default: 42)",
	    CLI_INTEGER(seed, 0, UINT32_MAX) },
	CLI_LEVEL(level), CLI_THREADS(threads), CLI_OUTPUT(output), { 0 } };

static const struct cli cli = { "group", "cluster texts by their embeddings",
	"-k K [OPTION]... [FILE]\n"
	"       group --threshold COSINE [OPTION]... [FILE]",
	options,
	"  tok -m MODEL --keep titles.txt | encode -m MODEL > titles.mts\n"
	"  group -k 20 titles.mts | topics --words 5\n"
	"  group --threshold 0.9 --min-size 2 titles.mts | mts rows --where 'group>=0' |\n"
	"      mts rows --sort group,distance | mts to tsv -c group,distance,text\n",
	nn_about, NULL, ".mts" };

/* The groups that were found. */
struct groups {
	int32_t count;
	int32_t *group;	  /* [rows] -1: none */
	double *distance; /* [rows] */
};

static void
parse(struct settings *settings, int argc, char **argv)
{
	cli_next(&cli, argc, argv, settings);
	if ((settings->clusters == 0) == !!isnan(settings->threshold))
		die_usage("-k or --threshold is required, and they exclude each other");
	if (settings->clusters)
		cli_only(&cli, "-k", "clusters field seed level threads output");
	else
		cli_only(
		    &cli, "--threshold", "threshold min-size field level threads output");
}

/* Reads all vectors, f32 [rows,width], normalised for --threshold; to be freed. */
static float *
read_vectors(
    struct replay *replay, const struct settings *settings, int64_t *rows, int *width)
{
	struct reader *reader = replay_reader(replay);
	bool cosines = !settings->clusters;
	struct vectors *vectors =
	    vectors_open(reader, settings->field, cosines ? VECTORS_UNITS : 0);
	struct progress *progress = stream_progress(reader);
	struct record record;
	size_t capacity = 0, row = (size_t)vectors->width;
	float *x = NULL;

	*rows = 0;
	*width = vectors->width;
	while (stream_next(reader, &record)) {
		vectors_load(vectors, &record);
		size_t used = (size_t)*rows * row, more = (size_t)record.rows * row;
		x = mem_grow(x, &capacity, used + more, sizeof *x);
		if (more)
			memcpy(x + used, cosines ? vectors->units : vectors->raw,
			    more * sizeof *x);
		*rows += record.rows;
	}
	progress_free(progress);
	if (*rows == 0)
		die("%s: there is no row in it", stream_name(reader));
	if (settings->clusters > *rows)
		die("%s: -k %d: there are only %lld rows to make groups of",
		    stream_name(reader), settings->clusters, (long long)*rows);
	if (*rows > INT32_MAX)
		die("%s: it has more than %d rows; group a sample (mts rows --sample)",
		    stream_name(reader), INT32_MAX);
	if (cosines && settings->threshold > 0)
		vectors_warn_zero(vectors, "they are in no group");
	vectors_close(vectors);
	stream_close(reader);
	return x;
}

struct size {
	int64_t rows;
	int32_t group;
};

static int
by_size(const void *a, const void *b)
{
	const struct size *one = a, *two = b;

	if (one->rows != two->rows)
		return one->rows > two->rows ? -1 : 1;
	return (one->group > two->group) - (one->group < two->group);
}

/* Numbers groups by size, the largest first; returns the number of groups that are not empty. */
static int32_t
number_by_size(struct groups *groups, int64_t rows)
{
	struct size *sizes = mem_zero((size_t)groups->count + 1, sizeof *sizes);
	int32_t *number = mem_new((size_t)groups->count + 1, sizeof *number), filled = 0;

	for (int32_t i = 0; i < groups->count; i++)
		sizes[i].group = i;
	for (int64_t i = 0; i < rows; i++)
		if (groups->group[i] >= 0)
			sizes[groups->group[i]].rows++;
	qsort(sizes, (size_t)groups->count, sizeof *sizes, by_size);
	for (int32_t i = 0; i < groups->count; i++) {
		number[sizes[i].group] = i;
		filled += sizes[i].rows > 0;
	}
	for (int64_t i = 0; i < rows; i++)
		if (groups->group[i] >= 0)
			groups->group[i] = number[groups->group[i]];
	free(sizes);
	free(number);
	return filled;
}

static struct groups
find_groups(const struct settings *settings, const float *x, int64_t rows, int width)
{
	if (settings->clusters) {
		struct kmeans_lloyd_result made =
		    kmeans_lloyd(x, rows, width, settings->clusters, settings->seed);
		inform("inertia %.9g after %d steps", made.inertia, made.steps);
		return (struct groups){ settings->clusters, made.cluster, made.distance };
	}
	struct progress *progress = progress_new("rows compared", rows);
	struct communities found = communities_find(
	    x, rows, width, (float)settings->threshold, settings->least, progress);
	progress_free(progress);
	return (struct groups){ found.count, found.group, found.distance };
}

static void
write_stream(struct replay *replay, const struct settings *settings,
    const struct groups *groups, int64_t rows)
{
	struct reader *reader = replay_reader(replay);
	struct writer *writer = stream_create(settings->output, reader);
	struct record record;
	int64_t *numbers = NULL, row = 0;
	size_t capacity = 0;

	stream_level(writer, settings->level);
	if (settings->clusters)
		stream_seed(writer, settings->seed);
	int group =
	    stream_add(writer, &(struct column){ .name = "group", .dtype = DTYPE_I64 });
	int distance = stream_add(
	    writer, &(struct column){ .name = "distance", .dtype = DTYPE_F64 });
	while (stream_next(reader, &record)) {
		struct record *made = stream_make(writer, &record);
		if (row + record.rows > rows)
			die("%s: it changed while it was read", stream_name(reader));
		numbers =
		    mem_grow(numbers, &capacity, (size_t)record.rows, sizeof *numbers);
		for (int64_t i = 0; i < record.rows; i++)
			numbers[i] = groups->group[row + i];
		made->columns[group].data = numbers;
		made->columns[distance].data = groups->distance + row;
		stream_put(writer, made);
		row += record.rows;
	}
	stream_finish(writer);
	stream_close(reader);
	free(numbers);
}

static void
tell(const struct settings *settings, int32_t filled)
{
	if (settings->clusters && filled < settings->clusters)
		warn("only %d groups have texts: embeddings repeat", filled);
	if (!settings->clusters && filled == 0)
		warn(
		    "no %lld texts lie within %g of one of them: no row has a group; say a lower --threshold or --min-size",
		    (long long)settings->least, settings->threshold);
	inform("%d groups", filled);
}

int
main(int argc, char **argv)
{
	struct settings settings = {
		.output = "-", .level = -1, .threshold = NAN, .least = 10, .seed = 42
	};
	int64_t rows;
	int width;

	cli_start(&cli, argc, argv);
	parse(&settings, argc, argv);
	nn_start(settings.threads, argv);
	struct replay *replay = replay_open(cli_input(argc, argv));
	float *x = read_vectors(replay, &settings, &rows, &width);
	struct groups groups = find_groups(&settings, x, rows, width);
	free(x);
	tell(&settings, number_by_size(&groups, rows));
	write_stream(replay, &settings, &groups, rows);
	replay_close(replay);
	free(groups.group);
	free(groups.distance);
	return 0;
}
