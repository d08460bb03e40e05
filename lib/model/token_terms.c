#include "model/token_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/model_struct.h"
#include "token/tokenizer.h"

enum { SPECIALS = 4 };

struct weighed_token {
	int32_t id;
	float weight;
};

struct token_terms {
	const struct model *model;
	float *linear; /* [C] and a bias, nn memory; NULL: a table */
	size_t C;
	int32_t special[SPECIALS]; /* -1: the tokenizer lacks it */
	/* the batch */
	float *made; /* [T], nn memory */
	size_t made_size;
	float *weights; /* [T] */
	int32_t *ids;	/* [T] */
	struct weighed_token *tokens;
	size_t weights_room, ids_room, tokens_room;
};

/* Whether the folder has a file of that name, whose path is to be freed. */
static bool
has(const struct model *model, const char *name, char **path)
{
	*path = mem_format("%s/%s", model_dir(model), name);
	return !access(*path, F_OK);
}

/* A tensor of `count` values of the layer to floats; dies unless it has this shape. */
static void
read_tensor(float *to, const struct safetensors *file, const char *name, int rank,
    const int64_t *shape)
{
	const struct safetensor *tensor = safetensors_need(file, name);
	int64_t count = rank == 2 ? shape[0] * shape[1] : shape[0];

	if (tensor->rank != rank || tensor->shape[0] != shape[0] ||
	    (rank == 2 && tensor->shape[1] != shape[1]) || !dtype_is_float(tensor->dtype))
		die("%s: tensor '%s' is no %lld numbers of a floating type, one for each channel of the model",
		    safetensors_name(file), name, (long long)count);
	tensor_to_f32(to, tensor->data, tensor->dtype, tensor->count);
	for (int64_t i = 0; i < count; i++)
		if (!isfinite(to[i]))
			die("%s: tensor '%s' holds values that are not finite (NaN or infinity)",
			    safetensors_name(file), name);
}

static void
read_linear(struct token_terms *tokens, const char *path)
{
	struct safetensors *file = safetensors_open(path);
	int64_t C = (int64_t)tokens->C;
	float *host = mem_new(tokens->C + 1, sizeof *host);

	read_tensor(host, file, "weight", 2, (const int64_t[]){ 1, C });
	read_tensor(host + C, file, "bias", 1, (const int64_t[]){ 1 });
	if (safetensors_count(file) != 2)
		die("%s: has other tensors than 'weight' and 'bias'", path);
	tokens->linear = nn_alloc((tokens->C + 1) * sizeof *host);
	nn_upload(tokens->linear, host, (tokens->C + 1) * sizeof *host);
	free(host);
	safetensors_close(file);
}

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
	char *path, *other;
	bool sparse = has(model, "sparse_linear.pt", &path);
	bool vectors = has(model, "colbert_linear.pt", &other);
	bool table = model->spec.token_weights;
	struct token_terms *tokens = NULL;

	if (vectors && !sparse)
		die("%s: is not there, but colbert_linear.pt is; a model of BGE-M3's kind has both",
		    path);
	if (sparse || table) {
		tokens = mem_zero(1, sizeof *tokens);
		tokens->model = model;
		tokens->C = (size_t)model->spec.width;
		memset(tokens->special, 0xff, sizeof tokens->special);
	}
	if (sparse) {
		read_linear(tokens, path);
		find_specials(tokens);
	}
	free(path);
	free(other);
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
	if (tokens->linear) {
		tokens->made =
		    nn_reserve(tokens->made, &tokens->made_size, T, sizeof *tokens->made);
		nn_linear(tokens->made, 1, seen->hidden, tokens->C,
		    nn_f32(tokens->linear), tokens->linear + tokens->C, T, tokens->C, 1);
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

static int
by_id(const void *a, const void *b)
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
		bool none = tokens->linear ? token.weight <= 0 : token.weight == 0;
		if (!isfinite(token.weight))
			die("%s: a term's weight is not finite",
			    model_dir(tokens->model));
		if (!none && !is_special(tokens, token.id))
			tokens->tokens[count++] = token;
	}
	if (count)
		qsort(tokens->tokens, count, sizeof *tokens->tokens, by_id);
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
	if (tokens->linear)
		nn_free(tokens->linear, (tokens->C + 1) * sizeof *tokens->linear);
	nn_free(tokens->made, tokens->made_size);
	free(tokens->weights);
	free(tokens->ids);
	free(tokens->tokens);
	free(tokens);
}
