#include "geometry/whitening_command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/lock.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "folder/model_folder.h"
#include "model/model.h"
#include "model/save.h"

static const double unit_error = 1e-3; /* of a squared length, mostly of bf16 */

/* The mean of the squared lengths. */
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

/* Dies unless the embeddings are those that the model makes; returns whether they were normalised, and the model
 * does not do that itself. */
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
    bool normalize)
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
	    &(struct affine){ whitening->in, whitening->out, weight, bias });
	free(weight);
	free(bias);
}

static struct whitening *
whiten(struct embeddings *embeddings, const struct covariance *covariance,
    const struct whitening_options *options)
{
	struct whitening *whitening = whitening_new(covariance, options);

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
	}
	struct embeddings *embeddings = embeddings_open(paths, count, columns);
	struct covariance *covariance = embeddings_covariance(embeddings,
	    "they do not vary in all directions, along which the whitening is chance");
	if (model)
		normalize = check_model(opened, embeddings, covariance);
	struct whitening *whitening = whiten(embeddings, covariance, options);
	if (model) {
		write_model(opened, whitening, output, normalize);
		model_close(opened);
		lock_end(lock);
	} else {
		whitening_write(
		    whitening, covariance->count, output, embeddings_model(embeddings));
	}
	whitening_free(whitening);
	covariance_free(covariance);
	embeddings_close(embeddings);
	free(folder);
}

void
whitening_apply_to(
    const char *whitening, const char *path, const struct transform_options *options)
{
	struct whitening_file *file = whitening_open(whitening);

	transform_stream(&file->transform, path, options);
	whitening_close(file);
}
