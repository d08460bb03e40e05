/*
 * corpus - token ids as one long list of sequences, cut into batches by a token budget.
 *
 * All columns NAME.ids of a stream.  A file is read whole into memory (4 bytes a token) and gives
 * its sequences `epochs` times, each time in another order drawn from the seed; "-", standard
 * input, is passed through once, as it comes.
 */
#ifndef TRAIN_CORPUS_H
#define TRAIN_CORPUS_H

#include <stdbool.h>
#include <stdint.h>

struct corpus;

/* Sequences of fewer than `shortest` tokens, 1 at least, are left out; it is said how many that are not empty.  Dies
 * when no column NAME.ids is there, or its tokens are not those of the tokenizer of `model`, a folder. */
struct corpus *corpus_open(
    const char *path, const char *model, int64_t shortest, int64_t epochs, uint64_t seed);
void corpus_close(struct corpus *corpus);

struct corpus_batch {
	int64_t sequences;
	int64_t epoch;	 /* of the first sequence, from 0 */
	int32_t *ids;	 /* may be written to */
	int64_t *starts; /* [sequences + 1], into ids */
};

/* The next sequences, together at most `budget` tokens, one at least; false at the end.  The
 * arrays are borrowed until the next call. */
bool corpus_next(struct corpus *corpus, int64_t budget, struct corpus_batch *batch);

/* Batches of that budget in all epochs; -1: not known (standard input).  Before the first corpus_next. */
int64_t corpus_batches(struct corpus *corpus, int64_t budget);

/* Sequences handed out so far.  corpus_skip moves there from the start; false: there are fewer. */
int64_t corpus_position(const struct corpus *corpus);
bool corpus_skip(struct corpus *corpus, int64_t position);

/* A hash of the file, or of what standard input has given so far. */
uint64_t corpus_hash(const struct corpus *corpus);
const char *corpus_name(const struct corpus *corpus);

#endif
