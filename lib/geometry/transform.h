/*
 * transform - the vectors of a stream replaced by what a map makes of them, everything else passed on.
 *
 * What comes out says that it is of another model than what went in (transform_model).
 */
#ifndef GEOMETRY_TRANSFORM_H
#define GEOMETRY_TRANSFORM_H

#include <stddef.h>
#include <stdint.h>

#include "geometry/embeddings.h"

struct transform {
	const char *name; /* of the file, for messages */
	/* Of whose embeddings it makes whose: "" where nobody said */
	const char *model, *made;
	int in, out; /* widths */
	const void *with;
	/* to[rows,out] from from[rows,in] */
	void (*apply)(const void *with, float *to, const float *from, size_t rows);
};

struct transform_options {
	const struct embeddings_options *columns; /* each must be there; no relations */
	const char *output;
	int level; /* of zstd; -1: the default */
};

/* A name for what a map, of which `hash` tells what it does, makes of a model's embeddings; to be freed. */
char *transform_model(uint64_t hash, const char *model);

/* From the stream at `path` to options->output: lists of vectors too, made f32.  Dies on vectors of another
 * width or, unless any_model, of another model, and on components that are not finite, before or after. */
void transform_stream(const struct transform *transform, const char *path,
    const struct transform_options *options);

#endif
