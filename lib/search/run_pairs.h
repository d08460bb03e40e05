/*
 * run_pairs - the pairs of a run as ids: each query with each of its documents.
 *
 * Each text is tokenised once, and a pair is joined from the ids of its texts (token/pair.h).  With a chat template
 * (token/pair_template.h) the pairs of a query are tokenised as wholes, with all threads.
 */
#ifndef SEARCH_RUN_PAIRS_H
#define SEARCH_RUN_PAIRS_H

#include "search/rerank.h"
#include "search/run.h"
#include "token/pair.h"

struct run_pairs;

/* Reads the texts.  dir: the model's folder.  All are borrowed.  Dies if a text is missing, or if a pair has no room for texts. */
struct run_pairs *run_pairs_new(const struct run *run, const struct tokenizer *tokenizer,
    const char *dir, const struct rerank_options *options);
void run_pairs_free(struct run_pairs *pairs);

/* Begins with the pairs of a query. */
void run_pairs_query(struct run_pairs *pairs, int64_t query);

/* Appends the ids of a pair, by the number of the query's hit; second as in pair_join. */
enum pair_outcome run_pairs_add(struct run_pairs *pairs, int64_t query, int64_t hit,
    struct ids *out, int32_t *second);

#endif
