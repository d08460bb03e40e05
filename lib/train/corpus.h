/*
 * corpus - the token sequences of all columns NAME.ids of a stream, cut into batches by a token budget.
 *
 * A file is read into memory (4 bytes a token); each of `epochs` epochs has another order, drawn from the seed.  Standard input,
 * "-", is read once, in its order.
 */
#ifndef TRAIN_CORPUS_H
#define TRAIN_CORPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "text/tree.h"

struct corpus;

/* Leaves out sequences of fewer than `shortest` tokens (at least 1), and warns of those that are not empty.  Dies if there is no
 * column NAME.ids, or if its tokenizer is not that of the folder `model`. */
struct corpus *corpus_open(
    const char *path, const char *model, int64_t shortest, int64_t epochs, uint64_t seed);
void corpus_close(struct corpus *corpus);

struct corpus_batch {
	int64_t sequences;
	int64_t epoch;	 /* of the first sequence, from 0 */
	int32_t *ids;	 /* [starts[sequences]]; the caller may change them */
	int64_t *starts; /* [sequences + 1], into ids */
};

/* The next sequences: at least one, at most `budget` tokens in all; false at the end.  The arrays are borrowed until the next
 * call. */
bool corpus_next(struct corpus *corpus, int64_t budget, struct corpus_batch *batch);

/* The number of batches in all epochs; -1: not known (standard input).  Call it before the first corpus_next. */
int64_t corpus_batches(struct corpus *corpus, int64_t budget);

/* The number of sequences that batches had so far.  corpus_skip moves there from the start; false if there are fewer. */
int64_t corpus_position(const struct corpus *corpus);
bool corpus_skip(struct corpus *corpus, int64_t position);

/* Hash of the file, or of the sequences of standard input so far. */
uint64_t corpus_hash(const struct corpus *corpus);
const char *corpus_name(const struct corpus *corpus);
struct tree *corpus_about(const struct corpus *corpus); /* stream_about */

#endif
