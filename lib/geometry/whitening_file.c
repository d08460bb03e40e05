#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "geometry/whitening.h"
#include "stream/stream.h"

void
whitening_write(const struct whitening *whitening, int64_t vectors, const char *path,
    const char *model)
{
	struct writer *writer = stream_create(path, NULL);
	int in = whitening->in, out = whitening->out;
	const struct {
		struct column column;
		const void *data;
	} parts[] = {
		{ { .name = "mean", .dtype = DTYPE_F64, .rank = 1, .shape = { in } },
		    whitening->mean },
		{ { .name = "matrix",
		      .dtype = DTYPE_F64,
		      .rank = 2,
		      .shape = { out, in } },
		    whitening->matrix },
		{ { .name = "eigenvalues",
		      .dtype = DTYPE_F64,
		      .rank = 1,
		      .shape = { in } },
		    whitening->values },
		{ { .name = "vectors", .dtype = DTYPE_I64 }, &vectors },
	};
	enum { PARTS = sizeof parts / sizeof *parts };
	int slots[PARTS];

	stream_property(writer, "model", *model ? model : NULL);
	for (int i = 0; i < PARTS; i++)
		slots[i] = stream_add(writer, &parts[i].column);
	struct record *record = stream_make(writer, NULL);
	record->rows = 1;
	for (int i = 0; i < PARTS; i++)
		record->columns[slots[i]].data = parts[i].data;
	stream_put(writer, record);
	stream_finish(writer);
}

static int
need_column(const struct reader *reader, const char *name, int rank)
{
	int index = stream_find(reader, name);
	const struct column *column = index < 0 ? NULL : stream_column(reader, index);

	if (!column || column->dtype != DTYPE_F64 || column->depth ||
	    column->rank != rank)
		die("%s: is no whitening: 'geom whiten fit' writes one with a column '%s' of f64",
		    stream_name(reader), name);
	return index;
}

static double *
copy_finite(
    const struct reader *reader, const struct record *record, int column, size_t count)
{
	const double *from = record->columns[column].data;
	double *to = mem_new(count, sizeof *to);

	for (size_t i = 0; i < count; i++) {
		to[i] = from[i];
		if (!isfinite(to[i]))
			die("%s: is no whitening: its '%s' is not finite",
			    stream_name(reader), stream_column(reader, column)->name);
	}
	return to;
}

static struct whitening *
read_whitening(struct reader *reader)
{
	struct whitening *whitening = mem_zero(1, sizeof *whitening);
	int mean = need_column(reader, "mean", 1),
	    matrix = need_column(reader, "matrix", 2);
	int values = need_column(reader, "eigenvalues", 1);
	const int64_t *shape = stream_column(reader, matrix)->shape;
	struct record record;

	if (shape[0] < 1 || shape[0] > shape[1] || shape[1] > 1 << 20 ||
	    stream_column(reader, mean)->shape[0] != shape[1] ||
	    stream_column(reader, values)->shape[0] != shape[1])
		die("%s: is no whitening: the shapes of its columns do not agree",
		    stream_name(reader));
	if (!stream_next(reader, &record) || record.rows != 1)
		die("%s: is no whitening: it has not one row", stream_name(reader));
	whitening->out = (int)shape[0];
	whitening->in = (int)shape[1];
	whitening->mean = copy_finite(reader, &record, mean, (size_t)shape[1]);
	whitening->values = copy_finite(reader, &record, values, (size_t)shape[1]);
	whitening->matrix =
	    copy_finite(reader, &record, matrix, (size_t)(shape[0] * shape[1]));
	if (stream_next(reader, &record))
		die("%s: is no whitening: it has not one row", stream_name(reader));
	return whitening;
}

static void
apply(const void *with, float *to, const float *from, size_t rows)
{
	whitening_apply(with, to, from, rows);
}

static uint64_t
hash_of(const struct whitening *whitening)
{
	size_t in = (size_t)whitening->in, out = (size_t)whitening->out;
	uint64_t hash = rng_hash(0, whitening->mean, in * sizeof *whitening->mean);

	return rng_hash(hash, whitening->matrix, in * out * sizeof *whitening->matrix);
}

struct whitening_file *
whitening_open(const char *path)
{
	struct whitening_file *file = mem_zero(1, sizeof *file);
	struct reader *reader = stream_open(path);
	struct whitening *whitening = file->whitening = read_whitening(reader);
	const char *model = tree_string(stream_properties(reader), "model", "");

	file->transform = (struct transform){ .name = mem_string(stream_name(reader)),
		.model = mem_string(model),
		.made = transform_model(hash_of(whitening), model),
		.in = whitening->in,
		.out = whitening->out,
		.with = whitening,
		.apply = apply };
	stream_close(reader);
	return file;
}

void
whitening_close(struct whitening_file *file)
{
	free((char *)file->transform.name);
	free((char *)file->transform.model);
	free((char *)file->transform.made);
	whitening_free(file->whitening);
	free(file);
}
