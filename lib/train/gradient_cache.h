/*
 * gradient_cache - the gradient of a loss over more sequences than fit into memory at once.
 *
 * Gao et al. 2021 ("Scaling deep contrastive learning batch size under memory limited setup"): embed all sequences in chunks
 * without keeping activations, compute the gradient of the embeddings, then take each chunk once more, forward and backward.  The
 * result is the gradient of the whole batch.  The last chunks, up to `tokens` tokens together, keep their activations, so a
 * batch of at most `tokens` tokens is a plain step without a second forward pass.
 *
 * A chunk has sequences of one task expert, at most `tokens` tokens but at least one sequence, which bounds the activations.
 */
#ifndef TRAIN_GRADIENT_CACHE_H
#define TRAIN_GRADIENT_CACHE_H

#include <stdint.h>

#include "model/model.h"

struct gradient_cache;

/* The number of tokens whose activations, forward and backward, take about `bytes`; at least 512. */
int64_t gradient_cache_tokens(const struct model *model, size_t bytes);

/* Borrows the model. */
struct gradient_cache *gradient_cache_new(struct model *model, int64_t tokens);
void gradient_cache_free(struct gradient_cache *cache);

/* Embeddings f32 [count, model_width], nn memory, in the order of the sequences; borrowed until the next call; the caller may
 * overwrite them.  They are not checked for NaN or infinity. */
float *gradient_cache_embed(
    struct gradient_cache *cache, const struct sequence *sequences, int64_t count);

/* Adds d loss / d parameters to the model's gradients, from d loss / d embeddings (nn memory).  whole: as in model_backward; NULL:
 * none. */
void gradient_cache_backward(
    struct gradient_cache *cache, const float *gradient, const struct model_whole *whole);

/* Dies as model_encode does if the last embeddings, or what the caller wrote there, are not finite. */
void gradient_cache_demand_finite(const struct gradient_cache *cache);

/* The number of chunks of the last gradient_cache_embed. */
int64_t gradient_cache_chunks(const struct gradient_cache *cache);

#endif
