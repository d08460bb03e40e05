#include "encode/token_vectors.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/late_interaction.h"
#include "model/bge_m3.h"
#include "model/token_head.h"
#include "nn/nn.h"
#include "token/tokenizer.h"
#include "token/tokenizer_settings.h"
#include "token/tokenizer_source.h"

struct vector_column {
	char *name; /* X */
	int out, depth;
	bool skips;
	const struct sequence *texts; /* [count], of the record at work */
	int64_t count;
	int64_t *offsets; /* [count + 1], the first vector of each text */
	float *made;
	size_t offsets_room, room;
};

struct token_vectors {
	struct model *model;
	struct late_interaction
	    *late; /* NULL: of BGE-M3's kind, with a head of its own */
	struct bge_m3_linear linear;
	struct head own;
	bool *skipped; /* [ids], of the skip list */
	int ids;
	struct vector_column *columns;
	int count;
	struct token_head head;
	float *host;
	size_t width, host_room;
};

/* The id of the token for what is not in the vocabulary; -1: there is none. */
static int
unknown_id(const struct model *model, const struct tokenizer *tokenizer)
{
	char *home = tokenizer_source_home(model_dir(model));
	struct tokenizer_settings *settings = tokenizer_settings_read(home);
	const char *token = tokenizer_settings_token(settings, "unk_token");
	int id = token ? tokenizer_id(tokenizer, token) : -1;

	tokenizer_settings_free(settings);
	free(home);
	return id;
}

/* The first token of a text; -1: it has none. */
static int
first_id(const struct tokenizer *tokenizer, const char *text)
{
	struct ids made = { 0 };

	tokenizer_encode(tokenizer, text, strlen(text), 1, false, &made);
	int id = made.count ? made.id[0] : -1;
	ids_free(&made);
	return id;
}

/* The ids of the skip list. */
static void
find_skipped(struct token_vectors *v)
{
	const struct late_interaction *late = v->late;
	struct tokenizer *tokenizer = tokenizer_open(model_dir(v->model));
	int unknown = late->unknown ? unknown_id(v->model, tokenizer) : -1;

	v->ids = tokenizer_size(tokenizer);
	v->skipped = mem_zero((size_t)v->ids + 1, sizeof *v->skipped);
	for (size_t i = 0; i < late->count; i++) {
		int id = late->texts ? first_id(tokenizer, late->words[i])
				     : tokenizer_id(tokenizer, late->words[i]);
		id = id < 0 ? unknown : id;
		if (id >= 0)
			v->skipped[id] = true;
	}
	tokenizer_close(tokenizer);
}

/* BGE-M3's vectors: a linear layer, normalised, of every token but the first. */
static void
read_bge_m3(struct token_vectors *v)
{
	struct head_module *dense = &v->own.modules[v->own.count++];

	v->linear = bge_m3_read(
	    model_dir(v->model), bge_m3_vectors, (size_t)model_spec(v->model)->width, 0);
	v->width = v->linear.out;
	*dense = (struct head_module){ .kind = HEAD_DENSE,
		.in = (int)v->linear.in,
		.out = (int)v->linear.out,
		.bias = true,
		.weight = nn_f32(v->linear.weight),
		.bias_values = v->linear.bias };
	head_normalize(&v->own, true);
}

struct token_vectors *
token_vectors_new(struct model *model)
{
	struct token_vectors *v = mem_zero(1, sizeof *v);

	v->model = model;
	if (!model_head(model)->tokens && model_spec(model)->layers &&
	    bge_m3_is(model_dir(model))) {
		read_bge_m3(v);
		return v;
	}
	if (!model_head(model)->tokens)
		die("%s: has no vectors of tokens (late interaction); --emit hs:pool=tokens makes their hidden states",
		    model_dir(model));
	v->late = late_interaction_read(model_dir(model));
	v->width = (size_t)model_width(model);
	find_skipped(v);
	return v;
}

void
token_vectors_free(struct token_vectors *v)
{
	for (int i = 0; i < v->count; i++) {
		free(v->columns[i].name);
		free(v->columns[i].offsets);
		free(v->columns[i].made);
	}
	bge_m3_free(&v->linear);
	late_interaction_free(v->late);
	token_head_free(&v->head);
	free(v->columns);
	free(v->skipped);
	free(v->host);
	free(v);
}

void
token_vectors_add(struct token_vectors *v, struct writer *out, const char *field,
    const char *name, const struct column *ids)
{
	char *whole = mem_format("%s.%s", field, name);
	struct column column = { .name = whole,
		.dtype = DTYPE_F32,
		.depth = ids->depth,
		.rank = 1,
		.shape = { (int64_t)v->width } };

	v->columns = mem_resize(v->columns, (size_t)v->count + 1, sizeof *v->columns);
	v->columns[v->count++] = (struct vector_column){ .name = mem_string(field),
		.depth = ids->depth,
		.out = stream_add(out, &column) };
	free(whole);
}

/* Whether token t of a text has a vector. */
static bool
is_kept(const struct token_vectors *v, const struct vector_column *column,
    const struct sequence *text, int32_t t)
{
	int32_t id = text->ids[t];

	if (!v->late)
		return t > 0;
	return !column->skips || id < 0 || id >= v->ids || !v->skipped[id];
}

/* Whether the texts' vectors of the skip list are left out. */
static bool
skips(const struct token_vectors *v, const struct vector_column *column,
    const struct tree *attributes)
{
	const char *name = tree_string(tree_get(attributes, "experts"), column->name, "");
	enum late_role role = late_role_of(name);

	if (role == LATE_ROLES)
		die("'%s' holds neither queries nor documents; put 'tok -m %s --task query' or '--task document' before",
		    column->name, model_dir(v->model));
	return v->late->side[role].skips;
}

void
token_vectors_begin(struct token_vectors *v, int field, const struct tree *attributes,
    const struct sequence *texts, int64_t count)
{
	struct vector_column *column = &v->columns[field];
	int64_t kept = 0;

	column->texts = texts;
	column->count = count;
	column->skips = v->late && count > 0 && skips(v, column, attributes);
	column->offsets = mem_grow(column->offsets, &column->offsets_room,
	    (size_t)count + 1, sizeof *column->offsets);
	column->offsets[0] = 0;
	for (int64_t i = 0; i < count; i++) {
		for (int32_t t = 0; t < texts[i].length; t++)
			kept += is_kept(v, column, &texts[i], t);
		column->offsets[i + 1] = kept;
	}
	column->made = mem_grow(column->made, &column->room,
	    mem_multiply((size_t)kept, v->width, "vectors of tokens"),
	    sizeof *column->made);
}

void
token_vectors_take(struct token_vectors *v, int field, const int64_t *lists,
    const struct model_seen *seen)
{
	struct vector_column *column = &v->columns[field];
	size_t T = seen->sequences.T, width = v->width;
	const float *rows = token_head_forward(
	    &v->head, v->late ? model_head(v->model) : &v->own, seen->hidden, T, seen->C);

	v->host = mem_grow(v->host, &v->host_room, T * width, sizeof *v->host);
	nn_download(v->host, rows, T * width * sizeof *v->host);
	const float *from = v->host;
	for (size_t n = 0; n < seen->sequences.N; n++) {
		const struct sequence *text = &column->texts[lists[n]];
		float *to = column->made + (size_t)column->offsets[lists[n]] * width;
		for (int32_t t = 0; t < text->length; t++, from += width) {
			if (!is_kept(v, column, text, t))
				continue;
			memcpy(to, from, width * sizeof *to);
			to += width;
		}
	}
}

void
token_vectors_end(
    struct token_vectors *v, int field, struct record *made, const struct array *ids)
{
	const struct vector_column *from = &v->columns[field];
	struct array *to = &made->columns[from->out];

	to->data = from->made;
	to->offsets[0] = from->depth == 2 ? ids->offsets[0] : from->offsets;
	to->offsets[1] = from->depth == 2 ? from->offsets : NULL;
}
