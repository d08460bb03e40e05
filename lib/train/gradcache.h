/*
 * gradcache - the gradient of a loss over more sequences than fit into memory at once.
 *
 * Gao et al. 2021 ("Scaling deep contrastive learning batch size under memory limited setup"):
 * embed all sequences in chunks without keeping activations, differentiate the loss by the
 * embeddings, then take the chunks once more, forward and backward.  The gradient is that of the
 * whole batch.  There is one engine: the last (largest) chunk keeps its activations, so a batch
 * that fits into one chunk is the plain step, without a second forward.
 *
 * A chunk holds sequences of one task expert only, at most `tokens` tokens (one sequence at
 * least): activations are bounded by it whatever the batch.
 */
#ifndef GRADCACHE_H
#define GRADCACHE_H

#include <stdint.h>

#include "model/model.h"

struct gradcache;

/* Tokens whose activations, forward and backward, take about so many bytes; 512 at least. */
int64_t gradcache_tokens(const struct model *model, size_t bytes);

/* Borrows the model. */
struct gradcache *gradcache_new(struct model *model, int64_t tokens);
void gradcache_free(struct gradcache *cache);

/* Embeddings [count, model_width], nn memory, in the order of the sequences; borrowed until the
 * next call, and may be overwritten. */
float *gradcache_embed(
    struct gradcache *cache, const struct sequence *sequences, int64_t count);

/* Add d loss / d parameters to the model's gradients, from d loss / d embeddings (nn memory). */
void gradcache_backward(struct gradcache *cache, const float *gradient);

/* Chunks that the last gradcache_embed took. */
int64_t gradcache_chunks(const struct gradcache *cache);

#endif
