/*
 * gradient_cache - the gradient of a loss over more sequences than fit into memory at once.
 *
 * Gao et al. 2021 ("Scaling deep contrastive learning batch size under memory limited setup"):
 * embed all sequences in chunks without keeping activations, differentiate the loss by the
 * embeddings, then take the chunks once more, forward and backward.  The gradient is that of the
 * whole batch.  There is one engine: the last chunks, as many as have `tokens` tokens together, keep
 * their activations, so a batch of no more tokens is the plain step, without a second forward.
 *
 * A chunk holds sequences of one task expert only, at most `tokens` tokens (one sequence at
 * least): activations are bounded by it whatever the batch.
 */
#ifndef TRAIN_GRADIENT_CACHE_H
#define TRAIN_GRADIENT_CACHE_H

#include <stdint.h>

#include "model/model.h"

struct gradient_cache;

/* Tokens whose activations, forward and backward, take about so many bytes; 512 at least. */
int64_t gradient_cache_tokens(const struct model *model, size_t bytes);

/* Borrows the model. */
struct gradient_cache *gradient_cache_new(struct model *model, int64_t tokens);
void gradient_cache_free(struct gradient_cache *cache);

/* Embeddings [count, model_width], nn memory, in the order of the sequences; borrowed until the
 * next call, and may be overwritten.  Whether they are finite nobody looks. */
float *gradient_cache_embed(
    struct gradient_cache *cache, const struct sequence *sequences, int64_t count);

/* Add d loss / d parameters to the model's gradients, from d loss / d embeddings (nn memory).  whole, as in
 * model_backward, is told when nothing more comes to them; NULL: nobody. */
void gradient_cache_backward(
    struct gradient_cache *cache, const float *gradient, const struct model_whole *whole);

/* Dies as model_encode does when one of them is not finite, or of what became of them where they are. */
void gradient_cache_demand_finite(const struct gradient_cache *cache);

/* Chunks that the last gradient_cache_embed took. */
int64_t gradient_cache_chunks(const struct gradient_cache *cache);

#endif
