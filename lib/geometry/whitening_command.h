/*
 * whitening_command - 'geom whiten': fits and applies a whitening.
 *
 * Its file is a stream of one row: mean f64 [in], matrix f64 [out,in], eigenvalues f64 [in], vectors (their number) i64; the
 * property "model" is that of the embeddings.
 */
#ifndef GEOMETRY_WHITENING_COMMAND_H
#define GEOMETRY_WHITENING_COMMAND_H

#include "geometry/embeddings.h"
#include "geometry/transform.h"
#include "geometry/whitening.h"

/* Fits a whitening to all embeddings of the streams.  Without `model`, writes it to the file `output`; otherwise `output` becomes a
 * copy of the folder `model` (model_folder), which made the embeddings, with the whitening as its last module. */
void whitening_fit(const char *const *paths, int count,
    const struct embeddings_options *columns, const struct whitening_options *options,
    const char *model, const char *output);

/* Applies the whitening in `file` to the stream at `path`. */
void whitening_apply_to(
    const char *file, const char *path, const struct transform_options *options);

#endif
