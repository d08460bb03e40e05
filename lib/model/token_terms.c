#include "model/token_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/bge_m3.h"
#include "model/model_struct.h"
#include "token/tokenizer.h"

enum { SPECIALS = 4 };

struct token_terms {
	const struct model *model;
	bool weighs; /* by `linear`; else a table */
	struct bge_m3_linear linear;
	int32_t special[SPECIALS]; /* -1: the tokenizer lacks it */
	/* the batch */
	float *made; /* [T], nn memory */
	size_t made_size;
	float *weights; /* [T] */
	int32_t *ids;	/* [T] */
	struct weighed_token *tokens;
	size_t weights_room, ids_room, tokens_room;
};

static void
find_specials(struct token_terms *tokens)
{
	static const char *const names[SPECIALS] = { "<s>", "</s>", "<pad>", "<unk>" };
	struct tokenizer *tokenizer = tokenizer_open(model_dir(tokens->model));

	for (int i = 0; i < SPECIALS; i++)
		tokens->special[i] = tokenizer_id(tokenizer, names[i]);
	tokenizer_close(tokenizer);
}

struct token_terms *
token_terms_open(struct model *model)
{
	bool linear = model->spec.layers && bge_m3_is(model_dir(model));

	if (!linear && !model->spec.token_weights)
		return NULL;
	struct token_terms *tokens = mem_zero(1, sizeof *tokens);
	tokens->model = model;
	tokens->weighs = linear;
	memset(tokens->special, 0xff, sizeof tokens->special);
	if (linear) {
		tokens->linear = bge_m3_read(
		    model_dir(model), bge_m3_sparse, (size_t)model->spec.width, 1);
		find_specials(tokens);
	}
	return tokens;
}

void
token_terms_weigh(struct token_terms *tokens, const struct model_seen *seen)
{
	size_t T = seen->sequences.T;
	const float *made = seen->hidden;

	tokens->weights =
	    mem_grow(tokens->weights, &tokens->weights_room, T, sizeof *tokens->weights);
	tokens->ids = mem_grow(tokens->ids, &tokens->ids_room, T, sizeof *tokens->ids);
	if (tokens->weighs) {
		size_t C = tokens->linear.in;
		tokens->made =
		    nn_reserve(tokens->made, &tokens->made_size, T, sizeof *tokens->made);
		nn_linear(tokens->made, 1, seen->hidden, C, nn_f32(tokens->linear.weight),
		    tokens->linear.bias, T, C, 1);
		made = tokens->made;
	}
	nn_download(tokens->weights, made, T * sizeof *made);
	nn_download(tokens->ids, seen->ids, T * sizeof *tokens->ids);
}

static bool
is_special(const struct token_terms *tokens, int32_t id)
{
	for (int i = 0; i < SPECIALS; i++)
		if (tokens->special[i] == id)
			return true;
	return false;
}

int
weighed_token_by_id(const void *a, const void *b)
{
	const struct weighed_token *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->weight < y->weight) - (x->weight > y->weight);
}

int64_t
token_terms_take(
    struct token_terms *tokens, size_t first, size_t end, int32_t *ids, float *weights)
{
	size_t count = 0;
	int64_t terms = 0;

	tokens->tokens = mem_grow(
	    tokens->tokens, &tokens->tokens_room, end - first, sizeof *tokens->tokens);
	for (size_t t = first; t < end; t++) {
		struct weighed_token token = { tokens->ids[t], tokens->weights[t] };
		bool none = tokens->weighs ? token.weight <= 0 : token.weight == 0;
		if (!isfinite(token.weight))
			die("%s: a term's weight is not finite",
			    model_dir(tokens->model));
		if (!none && !is_special(tokens, token.id))
			tokens->tokens[count++] = token;
	}
	if (count)
		qsort(tokens->tokens, count, sizeof *tokens->tokens, weighed_token_by_id);
	for (size_t i = 0; i < count; i++) {
		if (i && tokens->tokens[i].id == tokens->tokens[i - 1].id)
			continue;
		ids[terms] = tokens->tokens[i].id;
		weights[terms++] = tokens->tokens[i].weight;
	}
	return terms;
}

void
token_terms_free(struct token_terms *tokens)
{
	bge_m3_free(&tokens->linear);
	nn_free(tokens->made, tokens->made_size);
	free(tokens->weights);
	free(tokens->ids);
	free(tokens->tokens);
	free(tokens);
}
