/*
 * embed - the token columns of a stream as embeddings: every "X.ids" becomes "X.emb", and
 * what else is asked for (emit.h).
 *
 * The expert of a text: what its row says in the text column "X.expert", else what the record
 * says in the attribute experts{X}, else a default; of a model with LoRAs of its own for tasks, so its LoRA, none where nothing
 * is said.  The gate of a text (model.h): what its row says
 * in the text column "X.gate", or "gate", or for each of the texts of its list; none where that is empty.  The attribute prompt_tokens{X} counts the
 * tokens that pooling leaves out where the folder says so.  Texts are computed by expert, a batch
 * at a time; what is made is in their own order.
 */
#ifndef ENCODE_EMBED_H
#define ENCODE_EMBED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/progress.h"
#include "model/model.h"
#include "stream/stream.h"

/*
 * Who chooses the gates of texts in the pass that embeds them.  `add` is told of each column of ids before the first record,
 * with its X, NULL where it is the only one, and whether rows have lists of texts; `begin` how many texts it has in a record.
 * `route` has what the folder's pooling makes of the hidden states that enter block `layer`, vectors[count, width] of the texts
 * lists[count] of the column, and writes the number of each one's gate (model_adapter).  `put` fills in columns of its own.
 */
struct embed_router {
	int layer;
	void (*add)(void *context, int field, const char *name, bool lists);
	void (*begin)(void *context, int field, int64_t count);
	void (*route)(void *context, int field, const int64_t *lists,
	    const float *vectors, int64_t count, int32_t *gates);
	void (*put)(void *context, int field, struct record *made, int64_t count,
	    const int64_t *starts);
	void *context;
};

struct embed_options {
	/* computed at a time, by each thread where nothing but embeddings is made; 0: 2048, by each thread 8192; on a device, as
	 * many as it likes (nn_worker_tokens) */
	int64_t tokens;
	int width; /* leading values of an embedding to keep; 0: as the folder says */
	bool normalize;	    /* what is kept of it gets length 1 */
	const char *expert; /* default; NULL: none */
	bool
	    routed; /* texts go through the gates that their rows name, else all through gate 0, if there is one */
	const struct embed_router *router; /* NULL: none; borrowed */
	bool keep;			   /* the columns of ids */
	bool zero;	  /* a text without tokens has the embedding 0, and is no fault */
	const char *emit; /* what to make (emit.h); NULL: embeddings */
	int64_t cache; /* bytes for texts that were met; those of a record always are */
};

struct embed;

/* Adds and drops columns of `out`; dies when `in` has no token ids. */
struct embed *embed_new(struct model *model, const struct reader *in, struct writer *out,
    const struct embed_options *options);

/* Whether embeddings are asked for. */
bool embed_embeds(const struct embed *embed);

/*
 * Begin to make the embeddings of a record; and, in the order of records, fill in the columns of what it becomes, which
 * borrows them until another record has begun.  Where embed_ahead says so, a device makes those of one while the host
 * reads the next and writes the one before: a record may then be begun before the one before is ended, but no two.
 */
bool embed_ahead(const struct embed *embed);
void embed_begin(
    struct embed *embed, const struct record *record, struct progress *progress);
void embed_end(struct embed *embed, const struct record *record, struct record *made);
void embed_free(struct embed *embed);

#endif
