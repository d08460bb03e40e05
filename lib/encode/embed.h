/*
 * embed - the token columns of a stream as embeddings: every "X.ids" becomes "X.emb", and what else is asked for (emit.h).
 *
 * Each text has its expert, adapter and prompt (text_batch.h).  Texts are computed by expert, a batch at a time, and
 * written in the order of the stream.
 */
#ifndef ENCODE_EMBED_H
#define ENCODE_EMBED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/progress.h"
#include "model/model.h"
#include "stream/stream.h"

/*
 * Chooses the adapters of texts during the forward pass that embeds them.  Before the first record, `add` is called for
 * each column of ids, with its X, NULL where it is the only one, and whether rows have lists of texts; `begin` for each
 * column of each record, with its number of texts.  `route` gets the hidden states that enter block `layer`, pooled as the
 * folder says, vectors[count, width] of texts lists[count] of the column, and writes adapters[count] (model_adapter).
 * `put` fills in the router's own columns of a record.
 */
struct embed_router {
	int layer;
	void (*add)(void *context, int column, const char *name, bool lists);
	void (*begin)(void *context, int column, int64_t count);
	void (*route)(void *context, int column, const int64_t *lists,
	    const float *vectors, int64_t count, int32_t *adapters);
	void (*put)(void *context, int column, struct record *made, int64_t count,
	    const int64_t *starts);
	void *context;
};

struct embed_options {
	/* Tokens computed at a time, by each thread if only embeddings are asked for; 0: 2048, each thread 8192; on a device
	 * nn_worker_tokens. */
	int64_t tokens;
	int width; /* leading values of an embedding to keep; 0: as the folder says */
	bool normalize;	    /* the kept values get length 1 */
	const char *expert; /* default; NULL: none */
	bool
	    routed; /* rows name their adapters; else all texts go through adapter 0, if there is one */
	const struct embed_router *router; /* NULL: none; borrowed */
	bool keep;			   /* the columns of ids */
	bool scores; /* of a classifier: the columns are X.score, of one value a scalar */
	bool zero;   /* a text without tokens has the embedding 0; else it is an error */
	enum dtype precision; /* of the product that makes terms */
	const char *emit;     /* what to make (emit.h); NULL: embeddings */
	int64_t
	    cache; /* bytes of the cache of embeddings, which always has those of a record */
};

struct embed;

/* Adds and drops columns of `out`; dies when `in` has no token ids. */
struct embed *embed_new(struct model *model, const struct reader *in, struct writer *out,
    const struct embed_options *options);

/* Tokens of a group of batches, of `tokens` of the options; watched: hidden states are asked for. */
int64_t embed_group_tokens(int64_t tokens, bool watched);

/* Whether embeddings are asked for. */
bool embed_embeds(const struct embed *embed);

/*
 * Begins to compute the embeddings of a record; then, in the order of records, fills in the columns of `made`, which borrows
 * them until another record has begun.  If embed_ahead, a device computes one record while the host reads the next and
 * writes the one before: a record may begin before the one before has ended, but at most two are under way.
 */
bool embed_ahead(const struct embed *embed);
void embed_begin(
    struct embed *embed, const struct record *record, struct progress *progress);
void embed_end(struct embed *embed, const struct record *record, struct record *made);
void embed_free(struct embed *embed);

#endif
