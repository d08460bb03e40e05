/*
 * pilot_library - pilot embeddings that route queries to gates (RouterRetriever, Lee et al. 2025, "Pilot Embedding Library").
 *
 * A gate is an expert that a query can be sent to: in the paper, and in encode --gates, a LoRA adapter of the base model.  A pilot
 * embedding represents a gate.  A library is a stream with a row per pilot:
 *	gate		text		the gate's name
 *	dataset		text		the training set of the pilot, "" for all
 *	size		f64		number of its queries; a split tie gives each gate its share
 *	bias		f64		classifiers only
 *	pilot.emb	f32 [width]	the pilot embedding, or a classifier's weights
 * and the properties "router" (below), "model", the base model's fingerprint, and "emb", the kind of vectors (vectors.h), unless
 * they are its embeddings.  Libraries of one router and model can be concatenated; to remove a gate, remove its rows.
 *
 * A gate's score for query q is the mean, plain or weighted by size, or the maximum, over its vectors v of sim(q, v), or q.v + bias of a
 * classifier.
 */
#ifndef PAPERS_ROUTING_PILOT_LIBRARY_H
#define PAPERS_ROUTING_PILOT_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "stream/stream.h"

enum router {
	ROUTER_PILOTS, /* centroids of the queries of a data set that a gate serves best */
	ROUTER_DATASET, /* queries drawn from each data set, whose name is the gate's (DatasetRouter) */
	ROUTER_EXPERTS, /* a binary classifier per gate (ExpertClassifierRouter) */
	ROUTER_HEAD	/* one classifier of all gates (ClassificationHeadRouter) */
};
extern const char *const router_names[]; /* ends with NULL */
bool router_classifies(enum router router);

struct pilot {
	int gate, dataset; /* numbers in `gates` and `datasets` */
	double size, bias;
};

struct pilot_library {
	enum router router;
	int width;
	char *model; /* NULL: not known */
	char *kind;  /* of the vectors (vectors.h) */
	struct strings *gates, *datasets;
	int64_t count;
	struct pilot *pilots; /* [count] */
	float *vectors;	      /* [count, width] */

	/* private */
	size_t room, vector_room;
};

/* properties: those of the training stream, which name the model. */
struct pilot_library *pilot_library_new(
    enum router router, int width, const struct tree *properties, const char *kind);

/* Adds a pilot; copies `vector` [width]. */
void pilot_library_add(struct pilot_library *library, const char *gate,
    const char *dataset, double size, double bias, const float *vector);

/* Dies, naming the stream, if it is no library, has no pilots, or has two classifiers of a gate. */
struct pilot_library *pilot_library_read(const char *path);

/* Copies the history and properties of `from`.  level: of zstd; -1: the default. */
void pilot_library_write(const struct pilot_library *library, const char *path, int level,
    uint64_t seed, const struct reader *from);

/* Prints a table: gate, dataset, nearest (the gate of the nearest vector of another gate), its cosine, size, vector length, bias. */
void pilot_library_print(const struct pilot_library *library);
void pilot_library_free(struct pilot_library *library);

#endif
