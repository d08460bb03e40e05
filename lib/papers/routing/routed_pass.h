/*
 * routed_pass - texts that are sent to gates in the pass that embeds them (RouterRetriever in one forward pass).
 *
 * The library is of hidden states, as `encode --emit emb=hs:layers=N` makes them; it is asked where they enter block N, and
 * the gates stand at that and later blocks.  A text has the bits that it has when pilot-route chooses its gate and encode --gates
 * takes it through that.  What is appended is what pilot-route appends (gate_columns.h).
 */
#ifndef PAPERS_ROUTING_ROUTED_PASS_H
#define PAPERS_ROUTING_ROUTED_PASS_H

#include "encode/embed.h"
#include "papers/routing/library.h"

struct routed_pass;

/*
 * The library is borrowed, `path` is what it is called; it is used as pilot-route does without options.  Dies where it is of
 * another model or width, of embeddings or of several layers, and where the model lacks one of its gates, or has one that changes
 * blocks before.
 */
struct routed_pass *routed_pass_new(struct model *model, const struct library *library,
    const char *path, const struct reader *reader, struct writer *writer);

const struct embed_router *routed_pass_router(const struct routed_pass *pass);
void routed_pass_free(struct routed_pass *pass);

#endif
