/*
 * transform - applies a map to the vectors of a stream, and copies everything else.
 *
 * The output names another model than the input (transform_model).
 */
#ifndef GEOMETRY_TRANSFORM_H
#define GEOMETRY_TRANSFORM_H

#include <stddef.h>
#include <stdint.h>

#include "geometry/embeddings.h"
#include "stream/stream.h"

struct transform {
	const char *name;	  /* of the file, for messages */
	const char *model, *made; /* fingerprints of input and output; "": not known */
	const char *kind;	  /* of the input (transform_kind) */
	int in, out;		  /* widths */
	const void *with;
	/* to[rows,out] from from[rows,in] */
	void (*apply)(const void *with, float *to, const float *from, size_t rows);
};

struct transform_options {
	const struct embeddings_options *columns; /* each must be there; no relations */
	const char *output;
	int level; /* of zstd; -1: the default */
};

/* The fingerprint of a model's embeddings after a map with this hash; the caller frees it. */
char *transform_model(uint64_t hash, const char *model);

/* The kind of vectors (vectors_kind) that a map was fitted to, in its file: its property "emb", absent of embeddings. */
void transform_tell_kind(struct writer *writer, const char *kind);
const char *transform_kind(const struct reader *reader);

/* Writes the stream at `path` to options->output with its vectors, also in lists, mapped and as f32.  Dies on vectors of another
 * width or, unless any_model, of another model or kind, and on components that are not finite before or after. */
void transform_stream(const struct transform *transform, const char *path,
    const struct transform_options *options);

#endif
