/*
 * instances - training queries: the base model's embedding of each, its data set, and what score it has with each gate.
 *
 *	X.emb		f32 [width], or another float
 *	score.GATE	a number for each gate, as `pilot-route --oracle` writes them
 *	dataset		text or number, or an attribute of the records; else the name of the file, without folder and
 *			ending
 *
 * All are held in memory.
 */
#ifndef PAPERS_ROUTING_INSTANCES_H
#define PAPERS_ROUTING_INSTANCES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "search/vectors.h"
#include "stream/stream.h"

struct instances {
	struct reader *first; /* of the streams; read */
	char *kind;	      /* of the vectors (vectors.h) */
	int width, gate_count;
	struct strings *gates, *datasets;
	int64_t count;
	float *vectors;	  /* [count, width] */
	int32_t *dataset; /* [count] */
	double *scores;	  /* [count, gate_count] */

	/* its own affairs */
	size_t vector_room, dataset_room, score_room;
};

/* Reads all; without `scored` the columns of scores are not asked for, and there are no gates.  Dies where streams
 * differ in gates, width or (unless `any_model`) model, where vectors went through gates, on what is not finite, and
 * where there are no rows. */
struct instances *instances_read(
    const char *const *paths, int count, const char *field, bool scored, bool any_model);
void instances_free(struct instances *instances);

/* Dies when the vectors are of another kind than those of `other`. */
void instances_check_kind(
    const struct vectors *vectors, const char *other, const char *kind);

/* Dies when the stream's vectors are not the base model's, but went through gates. */
void instances_check_base(const struct reader *reader);

#endif
