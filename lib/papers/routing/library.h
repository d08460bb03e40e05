/*
 * library - what routes queries to gates: vectors, each of which speaks for a gate.
 *
 * A stream with a row for each, in columns that a person can read:
 *	gate		text		whom it speaks for
 *	dataset		text		of which training set it was made, "" where of all
 *	size		f64		of how many queries; of a tie that was split each gate has its share
 *	bias		f64		of classifiers alone
 *	pilot.emb	f32 [width]	the vector
 * with the properties "router" (below), "model", the base model's fingerprint, and "emb", what of it the vectors are, where
 * they are not its embeddings (vectors.h).  Libraries of one router and model
 * are one when their streams are one after the other; a gate is taken out with its rows.
 *
 * A gate's score is the mean or the greatest over its vectors v of their similarity to the query q, or q.v + bias.
 */
#ifndef PAPERS_ROUTING_LIBRARY_H
#define PAPERS_ROUTING_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "stream/stream.h"

enum router {
	ROUTER_PILOTS, /* centroids of the queries of a data set that a gate serves best */
	ROUTER_DATASET, /* queries drawn of each data set, which is the gate (DatasetRouter) */
	ROUTER_EXPERTS, /* a gate against the others (ExpertClassifierRouter) */
	ROUTER_HEAD	/* all gates in one (ClassificationHeadRouter) */
};
extern const char *const router_names[]; /* ends with NULL */
bool router_classifies(enum router router);

struct pilot {
	int gate; /* in `gates` */
	int dataset;
	double size, bias;
};

struct library {
	enum router router;
	int width;
	char *model; /* or NULL: nobody said */
	char *kind;  /* of the vectors (vectors.h) */
	struct strings *gates, *datasets;
	int64_t count;
	struct pilot *pilots; /* [count] */
	float *vectors;	      /* [count, width] */

	/* its own affairs */
	size_t room, vector_room;
};

/* `properties` are those of the stream that its vectors are from: the model. */
struct library *library_new(
    enum router router, int width, const struct tree *properties, const char *kind);

/* Adds one; `vector` [width] is copied. */
void library_add(struct library *library, const char *gate, const char *dataset,
    double size, double bias, const float *vector);

/* Dies, naming the stream, where it is no library, or one without vectors; of classifiers, where a gate has several. */
struct library *library_read(const char *path);

/* `from`: whose history and properties it has.  level -1: as the stream would. */
void library_write(const struct library *library, const char *path, int level,
    uint64_t seed, const struct reader *from);

/* A table: gate, dataset, size, length of the vector, the gate of the nearest that speaks for another, and its cosine. */
void library_print(const struct library *library);
void library_free(struct library *library);

#endif
