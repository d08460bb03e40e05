/*
 * rerank - the documents of a run in the order of a cross-encoder's scores.
 *
 * Each text is tokenised once; a pair is joined from the ids of its texts (token/pair.h) right before it is scored.  With a chat
 * template (token/pair_template.h) each pair is tokenised as a whole.
 */
#ifndef SEARCH_RERANK_H
#define SEARCH_RERANK_H

#include <stddef.h>
#include <stdint.h>

#include "base/progress.h"
#include "model/model.h"
#include "search/run.h"
#include "token/pair.h"
#include "token/pair_template.h"

struct rerank_options {
	const char *queries, *documents; /* files of texts (texts_by_id.h) */
	const char *field;		 /* of documents, as of tok -f; NULL: "text" */
	int64_t depth; /* documents of a query that are scored; the others are dropped */
	size_t most;   /* ids of a pair */
	struct pair_asking asking;
	enum pair_truncation truncation;
	int64_t tokens; /* of a batch of each thread; 0: as encode */
};

/* Replaces scores and order of a run.  Dies if the model has several labels, a text is missing, or a pair does not fit. */
void rerank_run(struct run *run, struct model *model, const struct tokenizer *tokenizer,
    const struct rerank_options *options, struct progress *progress);

#endif
