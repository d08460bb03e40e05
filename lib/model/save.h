/*
 * save - model folders written: config.json, modules.json, weights, and copies of the tokenizer's files.  A folder is written
 * beside `dir`, then renamed into place; folder_begin and folder_commit (folder.h) do that.
 */
#ifndef MODEL_SAVE_H
#define MODEL_SAVE_H

#include "folder/safetensors.h"
#include "model/model.h"
#include "text/tree.h"

/* The model as it is, weights in `dtype`; with an adapter that learns (model_adapt), the adapter's folder instead.  origin: the
 * content of train.json; NULL: none. */
void model_save(const struct model *model, const char *dir, enum dtype dtype,
    const struct tree *origin);

/* A copy of the model's folder with one module Dense more at the end, y = weight x + bias; before it a module Normalize, if
 * that is wanted.  Without bias, if the model ends with a Normalize, Dense comes before it, so that vectors have length 1 as
 * before: a linear map and a change of length may change places.  The files of weights are hard links where the file system can. */
struct affine {
	int in, out;
	const float *weight, *bias; /* [out,in], [out] or NULL */
};
void model_append(const struct model *model, const char *dir, bool normalize,
    const struct affine *affine);

/* Parts of model_save, for lib/edit. ----------------------------------------------- */

/* Puts `count` floats of nn memory into a file that is being written, as `dtype`, some at a time. */
void model_put(struct safetensors_writer *writer, const float *values, size_t count,
    enum dtype dtype);

/* A parameter's values in a new array of `dtype`, which the caller frees. */
struct safetensor model_tensor(
    const struct model *model, const struct parameter *p, enum dtype dtype);

/* The task expert beside whose tensors this one lies in the file; -1: beside the shared ones.  Matrices of one expert lie
 * together, so that a process that encodes with another never touches them; vectors are converted when the folder is opened. */
int model_file_group(const struct parameter *p);

/* Begins the folder `dir` with all but weights and prompts; the caller commits and frees it. */
char *model_begin_folder(const struct model *model, const char *dir);

/* Its file of weights, with their data and weights.extra. */
void model_write_weights(const struct model *model, const char *folder,
    const struct safetensor *tensors, int count);

/* The same where the caller puts the data (safetensors_put) between these.  floats: the type of weights.extra's floats; NULL:
 * as they are stored. */
struct safetensors_writer *model_create_weights(const struct model *model,
    const char *folder, const struct safetensor *tensors, int count,
    const enum dtype *floats);

#endif
