/*
 * whitening_command - what 'geom whiten' does with streams.
 */
#ifndef GEOMETRY_WHITENING_COMMAND_H
#define GEOMETRY_WHITENING_COMMAND_H

#include "geometry/embeddings.h"
#include "geometry/transform.h"
#include "geometry/whitening.h"

/* Whiten all embeddings of the streams, which pass once.  Without `model` the whitening is written to `output`, as a
 * stream; else `output` becomes a copy of the folder that `model` names (model_folder), of which they must be, with the whitening as its last
 * module. */
void whitening_fit(const char *const *paths, int count,
    const struct embeddings_options *columns, const struct whitening_options *options,
    const char *model, const char *output);

/* The stream at `path` through the whitening in `whitening`. */
void whitening_apply_to(
    const char *whitening, const char *path, const struct transform_options *options);

#endif
