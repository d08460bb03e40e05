#include "geometry/whitening.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/folder.h"
#include "folder/model_folder.h"
#include "geometry/covariance.h"
#include "geometry/eigen.h"
#include "geometry/transform.h"
#include "model/model.h"
#include "model/save.h"
#include "stream/stream.h"

struct whitening {
	int in, out;
	double *mean;	/* [in] */
	double *matrix; /* [out,in] */
	double *values; /* [in] eigenvalues before raising */
	int raised;	/* number of used eigenvalues that were raised */
};

enum { TOGETHER = 16 }; /* rows per reading of the matrix */

/* The eigenvalues to the power -power/2, small ones raised. */
static double *
scales_of(
    struct whitening *whitening, const struct eigen *eigen, double least, double power)
{
	double *scales = mem_new((size_t)eigen->rank, sizeof *scales);
	double floor = least * eigen->values[0];

	for (int i = 0; i < eigen->rank; i++) {
		bool low = !(eigen->values[i] >= floor && eigen->values[i] > 0);
		whitening->raised += low;
		scales[i] = pow(low ? floor : eigen->values[i], -power / 2);
	}
	return scales;
}

/* Row i of V L^-1/2 V^T, or of L^-1/2 V^T. */
static void
fill_row(double *row, const struct eigen *eigen, const double *scales,
    enum whitening_kind kind, size_t i)
{
	size_t width = (size_t)eigen->width;

	if (kind == WHITENING_PCA) {
		for (size_t j = 0; j < width; j++)
			row[j] = scales[i] * eigen->vectors[i * width + j];
		return;
	}
	for (size_t k = 0; k < (size_t)eigen->rank; k++) {
		const double *vector = eigen->vectors + k * width;
		double factor = scales[k] * vector[i];
		for (size_t j = 0; j < width; j++)
			row[j] += factor * vector[j];
	}
}

/* ZCA of a diagonal matrix divides each component by its deviation. */
static void
keep_diagonal(double *matrix, size_t width)
{
	for (size_t i = 0; i < width; i++)
		for (size_t j = 0; j < width; j++)
			if (i != j)
				matrix[i * width + j] = 0;
}

static struct whitening *
solve(const struct covariance *covariance, const struct whitening_options *options)
{
	struct whitening *whitening = mem_zero(1, sizeof *whitening);
	int in = covariance->width, out = options->width ? options->width : in;
	size_t width = (size_t)in;

	if (out > in)
		die("--dim: %d of %d components cannot be kept", out, in);
	whitening->in = in;
	whitening->out = out;
	whitening->mean = mem_new(width, sizeof(double));
	whitening->values = mem_new(width, sizeof(double));
	whitening->matrix = mem_zero((size_t)out * width, sizeof(double));
	double *matrix = covariance_matrix(covariance, 1);
	if (options->kind == WHITENING_SCALE)
		keep_diagonal(matrix, width);
	struct eigen *eigen = eigen_symmetric(matrix, in, in);
	free(matrix);
	for (int i = 0; i < in; i++) {
		whitening->mean[i] =
		    options->centre == WHITENING_ZERO ? 0 : covariance->mean[i];
		whitening->values[i] = eigen->values[i];
	}
	eigen->rank = out;
	double *scales = scales_of(whitening, eigen, options->least, options->power);
#pragma omp parallel for
	for (int i = 0; i < out; i++)
		fill_row(whitening->matrix + (size_t)i * width, eigen, scales,
		    options->kind, (size_t)i);
	free(scales);
	eigen_free(eigen);
	return whitening;
}

static void
free_whitening(struct whitening *whitening)
{
	free(whitening->mean);
	free(whitening->matrix);
	free(whitening->values);
	free(whitening);
}

/* [in,out] */
static double *
transpose(const struct whitening *whitening)
{
	size_t in = (size_t)whitening->in, out = (size_t)whitening->out;
	double *to = mem_new(in * out, sizeof *to);

	for (size_t i = 0; i < in; i++)
		for (size_t j = 0; j < out; j++)
			to[i * out + j] = whitening->matrix[j * in + i];
	return to;
}

/* Whitens at most TOGETHER rows; columns[in,out], room[TOGETHER,out]. */
static void
apply_rows(const struct whitening *whitening, const double *columns, double *room,
    float *to, const float *from, size_t rows)
{
	size_t in = (size_t)whitening->in, out = (size_t)whitening->out;

	for (size_t i = 0; i < rows * out; i++)
		room[i] = 0;
	for (size_t i = 0; i < in; i++)
		for (size_t row = 0; row < rows; row++) {
			double x = (double)from[row * in + i] - whitening->mean[i];
			for (size_t j = 0; j < out; j++)
				room[row * out + j] += x * columns[i * out + j];
		}
	for (size_t i = 0; i < rows * out; i++)
		to[i] = (float)room[i];
}

/* A struct transform's apply; a row's result does not depend on other rows. */
static void
apply(const void *with, float *to, const float *from, size_t rows)
{
	const struct whitening *whitening = with;
	size_t in = (size_t)whitening->in, out = (size_t)whitening->out;
	double *columns = transpose(whitening);

#pragma omp parallel
	{
		double *room = mem_new(TOGETHER * out, sizeof *room);
#pragma omp for
		for (size_t row = 0; row < rows; row += TOGETHER)
			apply_rows(whitening, columns, room, to + row * out,
			    from + row * in,
			    rows - row < TOGETHER ? rows - row : TOGETHER);
		free(room);
	}
	free(columns);
}

/* The file. ------------------------------------------------------------------------ */

/* A stream of one row. */
static void
write_whitening(const struct whitening *whitening, int64_t vectors, const char *path,
    const char *model, const char *kind)
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
	transform_tell_kind(writer, kind);
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
		die("%s: is not a whitening: 'geom whiten fit' writes one with a column '%s' of f64",
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
			die("%s: is not a whitening: its '%s' is not finite",
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
		die("%s: is not a whitening: the shapes of its columns do not agree",
		    stream_name(reader));
	if (!stream_next(reader, &record) || record.rows != 1)
		die("%s: is not a whitening: it does not have one row",
		    stream_name(reader));
	whitening->out = (int)shape[0];
	whitening->in = (int)shape[1];
	whitening->mean = copy_finite(reader, &record, mean, (size_t)shape[1]);
	whitening->values = copy_finite(reader, &record, values, (size_t)shape[1]);
	whitening->matrix =
	    copy_finite(reader, &record, matrix, (size_t)(shape[0] * shape[1]));
	if (stream_next(reader, &record))
		die("%s: is not a whitening: it does not have one row",
		    stream_name(reader));
	return whitening;
}

/* Commands. ------------------------------------------------------------------------ */

static const double unit_error = 1e-3; /* of a squared length, mostly of bf16 */

static double
square_length(const struct covariance *covariance)
{
	size_t width = (size_t)covariance->width;
	double sum = 0;

	for (size_t i = 0; i < width; i++)
		sum += covariance->mean[i] * covariance->mean[i] +
		       covariance->scatter[i * width + i] / (double)covariance->count;
	return sum;
}

/* Dies unless the model made the embeddings; returns true if they have length 1 but the model does not normalise. */
static bool
check_model(struct model *model, const struct embeddings *embeddings,
    const struct covariance *covariance)
{
	const struct head *head = model_head(model);
	const char *theirs = embeddings_model(embeddings),
		   *name = embeddings_name(embeddings);
	bool normalizes =
	    head->count && head->modules[head->count - 1].kind == HEAD_NORMALIZE;
	bool units = fabs(square_length(covariance) - 1) < unit_error;

	if (*theirs && strcmp(theirs, model_fingerprint(model)) != 0)
		die("%s: its vectors are of model %s, %s is model %s; encode with this one",
		    name, theirs, model_dir(model), model_fingerprint(model));
	if (embeddings_gates(embeddings))
		die("%s: its vectors went through the adapters %s, and %s has none; encode without --adapter and --gates",
		    name, embeddings_gates(embeddings), model_dir(model));
	if (strcmp(embeddings_kind(embeddings), "embeddings") != 0)
		die("%s: its vectors are %s, not the embeddings of %s; encode without --emit",
		    name, embeddings_kind(embeddings), model_dir(model));
	if (model_width(model) != covariance->width)
		die("%s: its vectors have width %d, those of %s %d; encode without --dim",
		    name, covariance->width, model_dir(model), model_width(model));
	if (normalizes && !units)
		die("%s: its vectors have not length 1, as those of %s have in other programs; encode without --no-normalize",
		    name, model_dir(model));
	if (units && !normalizes)
		inform(
		    "%s: its vectors have length 1: the folder gets a Normalize before its Dense",
		    name);
	return units && !normalizes;
}

static void
write_model(struct model *model, const struct whitening *whitening, const char *dir,
    bool normalize, bool centred)
{
	size_t in = (size_t)whitening->in, out = (size_t)whitening->out;
	float *weight = mem_new(in * out, sizeof *weight);
	float *bias = mem_new(out, sizeof *bias);

	for (size_t i = 0; i < out; i++) {
		double sum = 0;
		for (size_t j = 0; j < in; j++) {
			weight[i * in + j] = (float)whitening->matrix[i * in + j];
			sum -= whitening->matrix[i * in + j] * whitening->mean[j];
		}
		bias[i] = (float)sum;
	}
	model_append(model, dir, normalize,
	    &(struct affine){
		whitening->in, whitening->out, weight, centred ? bias : NULL });
	free(weight);
	free(bias);
}

static struct whitening *
whiten(struct embeddings *embeddings, const struct covariance *covariance,
    const struct whitening_options *options)
{
	struct whitening *whitening = solve(covariance, options);

	if (whitening->raised)
		warn(
		    "%s: %d of the %d eigenvalues are below %g of the greatest, and raised to that",
		    embeddings_name(embeddings), whitening->raised, whitening->out,
		    options->least);
	return whitening;
}

void
whitening_fit(const char *const *paths, int count,
    const struct embeddings_options *columns, const struct whitening_options *options,
    const char *model, const char *output)
{
	struct model *opened = NULL;
	struct lock *lock = NULL;
	bool normalize = false;
	char *folder = NULL;

	if (options->width && options->kind != WHITENING_PCA)
		die_usage("--dim needs --kind pca, whose first components tell the most");
	if (model && !strcmp(output, "-"))
		die_usage("-m needs -o DIR, the folder to write");
	if (model) {
		folder = model_folder(model);
		folder_check(output);
		lock = lock_take(output);
		opened = model_open(folder, MODEL_ENCODE, 0);
		model_demand_texts(opened);
	}
	struct embeddings *embeddings = embeddings_open(paths, count, columns);
	struct covariance *covariance = embeddings_covariance(embeddings,
	    "they do not vary in all directions, along which the whitening is chance");
	if (model)
		normalize = check_model(opened, embeddings, covariance);
	struct whitening *whitening = whiten(embeddings, covariance, options);
	if (model) {
		write_model(opened, whitening, output, normalize,
		    options->centre == WHITENING_MEAN);
		model_close(opened);
		lock_end(lock);
	} else {
		write_whitening(whitening, covariance->count, output,
		    embeddings_model(embeddings), embeddings_kind(embeddings));
	}
	free_whitening(whitening);
	covariance_free(covariance);
	embeddings_close(embeddings);
	free(folder);
}

static uint64_t
hash_of(const struct whitening *whitening)
{
	size_t in = (size_t)whitening->in, out = (size_t)whitening->out;
	uint64_t hash = rng_hash(0, whitening->mean, in * sizeof *whitening->mean);

	return rng_hash(hash, whitening->matrix, in * out * sizeof *whitening->matrix);
}

void
whitening_apply(
    const char *file, const char *path, const struct transform_options *options)
{
	struct reader *reader = stream_open(file);
	struct whitening *whitening = read_whitening(reader);
	const char *model = tree_string(stream_properties(reader), "model", "");
	char *made = transform_model(hash_of(whitening), model);

	transform_stream(&(struct transform){ .name = stream_name(reader),
			     .model = model,
			     .kind = transform_kind(reader),
			     .made = made,
			     .in = whitening->in,
			     .out = whitening->out,
			     .with = whitening,
			     .apply = apply },
	    path, options);
	free(made);
	free_whitening(whitening);
	stream_close(reader);
}
