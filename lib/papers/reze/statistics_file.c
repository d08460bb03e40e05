#include "papers/reze/statistics_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "papers/reze/shrinkage_settings.h"

enum part {
	MEAN,
	SOURCE_MEAN,
	COVARIANCE,
	EIGENVALUE,
	EIGENVECTOR,
	SOURCE_EIGEN,
	CENTRE,
	DISPERSION,
	BAND,
	SHRINK,
	PARTS,
	SUMS = EIGENVALUE /* number of parts of sums */
};

/* The columns: is a row a list; has it a number per source? */
static const struct {
	const char *name;
	bool list, by_source;
} parts[PARTS] = { { "mean", false, false }, { "source.mean", false, true },
	{ "covariance", true, false }, { "eigenvalue", false, false },
	{ "eigenvector", true, false }, { "source.eigen", false, true },
	{ "centre", false, false }, { "dispersion", false, false },
	{ "band", false, false }, { "shrink", false, true } };

/* Writing. -------------------------------------------------------------------------- */

static void
set_attributes(struct tree *attributes, const struct statistics *statistics)
{
	struct tree *sources = tree_list();

	for (int s = 0; s < strings_count(statistics->sources); s++) {
		struct tree *source = tree_add(sources, tree_object());
		tree_set(source, "name",
		    tree_of_bytes(strings_get(statistics->sources, s),
			strings_length(statistics->sources, s)));
		tree_set(
		    source, "pairs", tree_of_integer(statistics->by_source[s].pairs));
	}
	tree_set(attributes, "anchor", tree_of_string(statistics->anchor));
	tree_set(attributes, "positive", tree_of_string(statistics->positive));
	tree_set(attributes, "relations", tree_of_integer(statistics->sums->count));
	tree_set(attributes, "sources", sources);
	if (!statistics->eigen)
		return;
	tree_set(attributes, "settings", shrinkage_tree(&statistics->settings));
	tree_set(attributes, "active", tree_of_integer(statistics->shrinkage->active));
	tree_set(attributes, "threshold", tree_of_real(statistics->shrinkage->threshold));
}

/* [width + 1] offsets of the rows' lists. */
static int64_t *
offsets_of(const struct statistics *statistics, enum part part)
{
	int width = statistics->width;
	int64_t *offsets = mem_new((size_t)width + 1, sizeof *offsets);

	offsets[0] = 0;
	for (int j = 0; j < width; j++)
		offsets[j + 1] = offsets[j] + (part == COVARIANCE		? j + 1
						  : j < statistics->eigen->rank ? width
										: 0);
	return offsets;
}

/* [width, sources] */
static double *
source_means(const struct statistics *statistics)
{
	size_t width = (size_t)statistics->width,
	       count = (size_t)strings_count(statistics->sources);
	double *means = mem_new(mem_multiply(width, count, "means"), sizeof *means);

	for (size_t s = 0; s < count; s++) {
		double *mean = statistics_mean(statistics, (int)s);
		for (size_t j = 0; j < width; j++)
			means[j * count + s] = mean[j];
		free(mean);
	}
	return means;
}

/* The lower triangle of the covariance. */
static double *
triangle(const struct statistics *statistics)
{
	size_t width = (size_t)statistics->width, at = 0;
	double *list = mem_new(width * (width + 1) / 2, sizeof *list);

	for (size_t i = 0; i < width; i++)
		for (size_t j = 0; j <= i; j++)
			list[at++] = statistics->sums->scatter[i * width + j] /
				     (double)statistics->sums->count;
	return list;
}

/* Pads `rank` rows with NaN to all components. */
static double *
padded(const struct statistics *statistics, const double *list, size_t columns)
{
	size_t rows = (size_t)statistics->width, known = (size_t)statistics->eigen->rank;
	double *all = mem_new(mem_multiply(rows, columns, "components"), sizeof *all);

	memcpy(all, list, known * columns * sizeof *all);
	for (size_t i = known * columns; i < rows * columns; i++)
		all[i] = (double)NAN;
	return all;
}

static double *
copy_of(const double *list, size_t count)
{
	return memcpy(mem_new(count, sizeof *list), list, count * sizeof *list);
}

/* A part's numbers; the caller frees them. */
static double *
numbers_of(const struct statistics *statistics, enum part part)
{
	const struct shrinkage *shrinkage = statistics->shrinkage;
	size_t width = (size_t)statistics->width,
	       count = (size_t)strings_count(statistics->sources);

	switch (part) {
	case MEAN: return copy_of(statistics->sums->mean, width);
	case SOURCE_MEAN: return source_means(statistics);
	case COVARIANCE: return triangle(statistics);
	case EIGENVALUE: return padded(statistics, statistics->eigen->values, 1);
	case EIGENVECTOR:
		return copy_of(
		    statistics->eigen->vectors, (size_t)statistics->eigen->rank * width);
	case SOURCE_EIGEN: return padded(statistics, statistics->means, count);
	case CENTRE: return padded(statistics, shrinkage->centre, 1);
	case DISPERSION: return padded(statistics, shrinkage->dispersion, 1);
	case BAND: return padded(statistics, shrinkage->bands, 1);
	default: return padded(statistics, shrinkage->factors, count);
	}
}

void
statistics_write(const struct statistics *statistics, const char *path, int level,
    const struct reader *from)
{
	struct writer *writer = stream_create(path, from);
	int count = statistics->eigen ? PARTS : SUMS, index[PARTS];
	double *numbers[PARTS];
	int64_t *offsets[PARTS] = { NULL };

	stream_level(writer, level);
	for (int i = 0; i < stream_columns(from); i++)
		stream_drop(writer, stream_column(from, i)->name);
	stream_property(writer, "batches", NULL);
	stream_property(writer, "model", statistics->model);
	stream_property(writer, "emb",
	    strcmp(statistics->kind, "embeddings") != 0 ? statistics->kind : NULL);
	for (int p = 0; p < count; p++)
		index[p] = stream_add(writer,
		    &(struct column){ .name = parts[p].name,
			.dtype = DTYPE_F64,
			.depth = parts[p].list,
			.rank = parts[p].by_source,
			.shape = { parts[p].by_source ? strings_count(statistics->sources)
						      : 0 } });
	struct record *record = stream_make(writer, NULL);
	record->rows = statistics->width;
	set_attributes(record->attributes, statistics);
	for (int p = 0; p < count; p++) {
		numbers[p] = numbers_of(statistics, (enum part)p);
		if (parts[p].list)
			offsets[p] = offsets_of(statistics, (enum part)p);
		record->columns[index[p]] =
		    (struct array){ .offsets = { offsets[p] }, .data = numbers[p] };
	}
	stream_put(writer, record);
	stream_finish(writer);
	for (int p = 0; p < count; p++) {
		free(numbers[p]);
		free(offsets[p]);
	}
}

/* Reading. -------------------------------------------------------------------------- */

struct statistics_reader {
	const struct reader *reader;
	const struct record *record;
	struct statistics *statistics;
	int sources;
	const double *numbers[PARTS];
	const int64_t *offsets[PARTS];
};

_Noreturn static void
bad(const struct statistics_reader *reading, const char *what)
{
	die("%s: holds no statistics of relations (reze-stats fit): %s",
	    stream_name(reading->reader), what);
}

static void
find_part(struct statistics_reader *reading, enum part part)
{
	int index = stream_find(reading->reader, parts[part].name);

	if (index < 0)
		bad(reading, mem_format("it has no column '%s'", parts[part].name));
	const struct column *column = stream_column(reading->reader, index);
	if (column->dtype != DTYPE_F64 || column->depth != parts[part].list ||
	    column->rank != parts[part].by_source ||
	    (parts[part].by_source && column->shape[0] != reading->sources))
		bad(reading, mem_format("column '%s' is another", parts[part].name));
	reading->numbers[part] = reading->record->columns[index].data;
	reading->offsets[part] = reading->record->columns[index].offsets[0];
}

static void
check_finite(const struct statistics_reader *reading, enum part part, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (!isfinite(reading->numbers[part][i]))
			bad(reading,
			    mem_format("column '%s' is not finite", parts[part].name));
}

/* Checks the lengths of lists before width^2 memory is allocated. */
static void
check_triangle(const struct statistics_reader *reading)
{
	const int64_t *offsets = reading->offsets[COVARIANCE];

	for (int64_t i = 0; i < reading->record->rows; i++)
		if (offsets[i + 1] - offsets[i] != i + 1)
			bad(reading, "column 'covariance' is not a triangle");
}

static void
take_sources(struct statistics_reader *reading)
{
	struct statistics *statistics = reading->statistics;
	const struct tree *list = tree_need(reading->record->attributes, "sources");
	int64_t pairs = 0;

	for (int s = 0; s < reading->sources; s++) {
		const struct tree *name = tree_get(list->items[s], "name");
		if (!name || name->kind != TREE_STRING ||
		    statistics_source(statistics, name->string, name->length) != s)
			bad(reading, "two sources have one name, or one has none");
		struct source_sum *source = &statistics->by_source[s];
		source->pairs =
		    tree_integer_in(list->items[s], "pairs", 1, INT64_MAX >> 8);
		pairs += source->pairs;
		for (int j = 0; j < statistics->width; j++)
			source->sum[j] =
			    (double)source->pairs *
			    reading
				->numbers[SOURCE_MEAN][(int64_t)j * reading->sources + s];
	}
	statistics->sums->count =
	    tree_integer_in(reading->record->attributes, "relations", 1, INT64_MAX >> 8);
	if (pairs != statistics->sums->count)
		bad(reading, "its sources have not as many pairs as there are relations");
}

static void
take_sums(struct statistics_reader *reading)
{
	struct statistics *statistics = reading->statistics;
	const int64_t *offsets = reading->offsets[COVARIANCE];
	int64_t width = statistics->width;

	check_finite(reading, MEAN, width);
	check_finite(reading, SOURCE_MEAN, width * reading->sources);
	check_finite(reading, COVARIANCE, offsets[width]);
	take_sources(reading);
	memcpy(statistics->sums->mean, reading->numbers[MEAN],
	    (size_t)width * sizeof(double));
	for (int64_t i = 0; i < width; i++)
		for (int64_t j = 0; j <= i; j++)
			statistics->sums->scatter[i * width + j] =
			    reading->numbers[COVARIANCE][offsets[i] + j] *
			    (double)statistics->sums->count;
}

/* The number of eigenvectors. */
static int
rank_of(const struct statistics_reader *reading)
{
	const int64_t *offsets = reading->offsets[EIGENVECTOR];
	int64_t width = reading->statistics->width, rank = offsets[width] / width;

	for (int64_t i = 0; i < width; i++)
		if (offsets[i + 1] - offsets[i] != (i < rank ? width : 0))
			bad(reading, "column 'eigenvector' has rows of another length");
	if (rank < 1)
		bad(reading, "it has no eigenvectors");
	return (int)rank;
}

static void
take_solution(struct statistics_reader *reading)
{
	struct statistics *statistics = reading->statistics;
	const struct tree *attributes = reading->record->attributes;
	int rank = rank_of(reading);
	size_t count = (size_t)rank, width = (size_t)statistics->width,
	       sources = (size_t)reading->sources;
	const double *const *numbers = reading->numbers;
	struct eigen *eigen = statistics->eigen = mem_zero(1, sizeof *eigen);
	struct shrinkage *shrinkage = statistics->shrinkage =
	    mem_zero(1, sizeof *shrinkage);

	for (enum part part = EIGENVALUE; part < PARTS; part++)
		check_finite(reading, part,
		    (int64_t)(count * (part == EIGENVECTOR	  ? width
					  : parts[part].by_source ? sources
								  : 1)));
	statistics->settings = shrinkage_settings_of(tree_need(attributes, "settings"));
	eigen->width = statistics->width;
	eigen->rank = rank;
	eigen->values = copy_of(numbers[EIGENVALUE], count);
	eigen->vectors = copy_of(numbers[EIGENVECTOR], count * width);
	statistics->means = copy_of(numbers[SOURCE_EIGEN], count * sources);
	shrinkage->sources = reading->sources;
	shrinkage->active = (int)tree_integer_in(attributes, "active", 1, rank);
	shrinkage->threshold = tree_real(attributes, "threshold", 0);
	shrinkage->centre = copy_of(numbers[CENTRE], count);
	shrinkage->dispersion = copy_of(numbers[DISPERSION], count);
	shrinkage->bands = copy_of(numbers[BAND], count);
	shrinkage->factors = copy_of(numbers[SHRINK], count * sources);
}

struct statistics *
statistics_read(struct reader *reader, bool solved)
{
	struct record record;
	struct statistics_reader reading = { .reader = reader, .record = &record };
	const char *model = tree_string(stream_properties(reader), "model", NULL);
	bool sums = stream_find(reader, parts[EIGENVALUE].name) < 0;

	if (stream_find(reader, parts[COVARIANCE].name) < 0)
		bad(&reading, "it has no column 'covariance'");
	if (sums && solved)
		die("%s: has sums alone; reze-stats merge makes statistics of them",
		    stream_name(reader));
	if (!stream_next(reader, &record) || record.rows < 2 || record.rows > 1 << 21)
		bad(&reading, "it does not have a record of some rows");
	const struct tree *list = tree_need(record.attributes, "sources");
	if (list->kind != TREE_LIST || list->count < 1 || list->count > INT32_MAX)
		bad(&reading, "it has no list of sources");
	reading.sources = (int)list->count;
	for (enum part part = MEAN; part < (sums ? SUMS : PARTS); part++)
		find_part(&reading, part);
	check_triangle(&reading);
	reading.statistics = statistics_new((int)record.rows);
	take_sums(&reading);
	if (!sums)
		take_solution(&reading);
	reading.statistics->anchor =
	    mem_string(tree_string(record.attributes, "anchor", ""));
	reading.statistics->positive =
	    mem_string(tree_string(record.attributes, "positive", ""));
	reading.statistics->kind =
	    mem_string(tree_string(stream_properties(reader), "emb", "embeddings"));
	reading.statistics->model = model ? mem_string(model) : NULL;
	if (stream_next(reader, &record))
		bad(&reading, "it has more than one record");
	return reading.statistics;
}
