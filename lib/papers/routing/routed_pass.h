/*
 * routed_pass - routes texts to adapters in the forward pass that embeds them (RouterRetriever in one pass; not in the paper).
 *
 * The library (pilot_library.h) has hidden states of `encode --emit emb=hs:layers=N`; it chooses an adapter when they enter block N,
 * and the adapters change that block and later ones only.  A text gets the same bits as with pilot-route and then encode --gates.
 * Appends pilot-route's columns (gate_columns.h).
 */
#ifndef PAPERS_ROUTING_ROUTED_PASS_H
#define PAPERS_ROUTING_ROUTED_PASS_H

#include "encode/embed.h"
#include "papers/routing/pilot_library.h"

struct routed_pass;

/*
 * Borrows the library; `path` is its name for messages.  Routes as pilot-route does by default.  Dies if the library is of another
 * model or width, of embeddings or of several layers, and if the model lacks one of its gates, or one changes earlier blocks.
 */
struct routed_pass *routed_pass_new(struct model *model,
    const struct pilot_library *library, const char *path, const struct reader *reader,
    struct writer *writer);

const struct embed_router *routed_pass_router(const struct routed_pass *pass);
void routed_pass_free(struct routed_pass *pass);

#endif
