#include "model/layer_embedding.h"

static struct linear
layer_of(const struct block *block, const struct block_gradients *gradients,
    enum block_parameter which)
{
	size_t C = block->n.C, P = (size_t)block->spec->layer_embedding;
	bool out = which == BLOCK_LAYER_OUT;

	return block_linear(block, gradients, which, out ? P : C, out ? C : P);
}

static float
factor_of(const struct block *block)
{
	return *block_vector(block, BLOCK_FACTOR);
}

void
layer_embedding_forward(const struct block *block,
    const struct layer_embedding_buffers *b, float *y, const float *x, size_t first,
    size_t T)
{
	const struct spec *spec = block->spec;
	size_t C = block->n.C, P = (size_t)spec->layer_embedding;
	struct linear_rows rows = { .batch = &block->batch->adapters, .first = first };
	struct linear in = layer_of(block, NULL, BLOCK_LAYER_IN);
	struct linear gate = layer_of(block, NULL, BLOCK_LAYER_GATE);
	struct linear out = layer_of(block, NULL, BLOCK_LAYER_OUT);
	float *normed = y == x ? b->out : y;

	linear_forward(&in, &rows, b->in, P, b->embedded, C, T);
	/* 1 / sqrt(C) is part of the norm's epsilon */
	nn_norm(b->u, NULL, b->stats_in, b->in, NULL,
	    block_vector(block, BLOCK_LAYER_IN_NORM), NULL, spec->norm_eps * (float)C,
	    spec->norm, T, P);
	linear_forward(&gate, &rows, b->gate, P, x, C, T);
	nn_glu(b->inner, b->u, b->gate, P, spec->act, T, P);
	linear_forward(&out, &rows, b->out, C, b->inner, P, T);
	nn_norm(normed, NULL, b->stats_out, b->out, NULL,
	    block_vector(block, BLOCK_LAYER_NORM), NULL, spec->norm_eps, spec->norm, T,
	    C);
	nn_add(y, y == x ? normed : x, T * C);
	nn_scale(y, factor_of(block), T * C);
}

void
layer_embedding_back(const struct block *block, const struct block_gradients *gradients,
    const struct layer_embedding_buffers *b, const struct block_scratch *scratch,
    float *d, const float *x, size_t T)
{
	const struct spec *spec = block->spec;
	size_t C = block->n.C, P = (size_t)spec->layer_embedding;
	struct linear_rows rows = block_rows(block);
	struct linear in = layer_of(block, gradients, BLOCK_LAYER_IN);
	struct linear gate = layer_of(block, gradients, BLOCK_LAYER_GATE);
	struct linear out = layer_of(block, gradients, BLOCK_LAYER_OUT);
	float *dout = scratch->dgiven, *dinner = scratch->dlayer_inner;
	float *du = scratch->dlayer_u, *dgate = scratch->dlayer_gate;

	nn_scale(d, factor_of(block), T * C);
	nn_norm_back(dout, gradients->at[BLOCK_LAYER_NORM], NULL, d, b->out, b->stats_out,
	    block_vector(block, BLOCK_LAYER_NORM), spec->norm, T, C);
	linear_back(&out, &rows, dinner, false, dout, C, b->inner, P, T);
	nn_glu_back(du, dgate, dinner, b->u, b->gate, P, spec->act, T, P);
	linear_back(&gate, &rows, d, true, dgate, P, x, C, T);
	nn_norm_back(du, gradients->at[BLOCK_LAYER_IN_NORM], NULL, du, b->in, b->stats_in,
	    block_vector(block, BLOCK_LAYER_IN_NORM), spec->norm, T, P);
	linear_back(&in, &rows, scratch->dembedded, true, du, P, b->embedded, C, T);
}
