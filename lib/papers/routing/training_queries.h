/*
 * training_queries - training queries in memory: the base model's embedding of each, its data set, and its score with each gate
 * (pilot_library.h).
 *
 *	X.emb		f32 [width], or another float type
 *	score.GATE	a number for each gate, from `pilot-route --oracle`
 *	dataset		text or number; or an attribute of the records; or else the file's name without folder and suffix
 */
#ifndef PAPERS_ROUTING_TRAINING_QUERIES_H
#define PAPERS_ROUTING_TRAINING_QUERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "search/vectors.h"
#include "stream/stream.h"

struct training_queries {
	struct reader *first; /* the first stream, read to its end */
	char *kind;	      /* of the vectors (vectors.h) */
	int width, gate_count;
	struct strings *gates, *datasets;
	int64_t count;
	float *vectors;	  /* [count, width] */
	int32_t *dataset; /* [count] */
	double *scores;	  /* [count, gate_count] */

	/* private */
	size_t vector_room, dataset_room, score_room;
};

/* Reads the streams; without `scored` ignores scores and has no gates.  Dies if streams differ in gates, width or (unless
 * `any_model`) model, if vectors were made with adapters, on values that are not finite, and if there are no rows. */
struct training_queries *training_queries_read(
    const char *const *paths, int count, const char *field, bool scored, bool any_model);
void training_queries_free(struct training_queries *queries);

/* Dies if the vectors are not of the kind of `other`'s (vectors.h). */
void training_queries_check_kind(
    const struct vectors *vectors, const char *other, const char *kind);

/* Dies if the stream's vectors were made with adapters, not by the base model alone. */
void training_queries_check_base(const struct reader *reader);

#endif
