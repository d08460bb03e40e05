#include "encode/emit.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "encode/emit_terms.h"
#include "encode/token_vectors.h"
#include "model/pooling.h"
#include "nn/nn.h"

struct emit_item {
	char *name;
	bool routing, logits, tokens;
	bool own;		     /* says itself how it is pooled */
	bool mean;		     /* of the layers, instead of one after another */
	bool layer[SPEC_LAYERS + 1]; /* the layers that it takes */
	int layers;
	struct head pooling; /* only how to pool */
};

/* The column of one item for one column of ids. */
struct emit_output {
	int column;
	float *made;
	size_t room;
};

struct emit {
	struct model *model;
	char *embedding;
	char *sparse;		  /* name of the item "sparse"; NULL: not asked for */
	struct emit_terms *terms; /* the same */
	char *tokens; /* the name of the column of vectors; NULL: not asked for */
	struct token_vectors *vectors;
	struct emit_item *items;
	struct emit_output *outputs; /* [fields, count] */
	int count, fields;
	int field;			/* at work */
	const int64_t *lists, *offsets; /* as emit_at says */
	float *pooled, *host;		/* rows of one layer */
	size_t pooled_size, host_room;
};

/* Channels of an item for one token: hidden states, or experts. */
static size_t
channels(const struct emit *emit, const struct emit_item *item)
{
	const struct spec *spec = model_spec(emit->model);

	if (!item->routing)
		return (size_t)spec->width;
	return (
	    size_t)(spec->neuron_experts ? spec->neuron_experts : spec->mixture.count);
}

/* Values of one layer in an element. */
static size_t
width_of(const struct emit *emit, const struct emit_item *item)
{
	return channels(emit, item) * (size_t)(item->tokens ? 1 : item->pooling.pools);
}

/* Layers in an element. */
static size_t
slots_of(const struct emit_item *item)
{
	return item->mean ? 1 : (size_t)item->layers;
}

static int
slot_of(const struct emit_item *item, int layer)
{
	int slot = 0;

	for (int i = 0; i < layer && !item->mean; i++)
		slot += item->layer[i];
	return slot;
}

/* Seeing. -------------------------------------------------------------------------- */

/* Divides each of n rows [E] by its sum. */
static void
share(float *rows, size_t n, size_t E)
{
	for (; n > 0; n--, rows += E) {
		float sum = 0;
		for (size_t e = 0; e < E; e++)
			sum += rows[e];
		for (size_t e = 0; sum > 0 && e < E; e++)
			rows[e] /= sum;
	}
}

/* One layer of an item into its place. */
static void
take(struct emit *emit, const struct emit_item *item, struct emit_output *to,
    const struct model_seen *seen)
{
	const float *x = !item->routing ? seen->hidden
			 : seen->energy ? seen->energy
			 : item->logits ? seen->logits
					: seen->routing;
	size_t C = channels(emit, item), width = width_of(emit, item);
	size_t rows = item->tokens ? seen->sequences.T : seen->sequences.N,
	       slots = slots_of(item);

	if (!item->tokens) {
		emit->pooled = nn_reserve(
		    emit->pooled, &emit->pooled_size, rows * width, sizeof(float));
		for (int i = 0; i < item->pooling.pools; i++)
			nn_pool(emit->pooled + (size_t)i * C, width, x, &seen->sequences,
			    item->pooling.include_prompt ? NULL : seen->skip,
			    item->pooling.pool[i], C);
		x = emit->pooled;
	}
	emit->host = mem_grow(emit->host, &emit->host_room, rows * width, sizeof(float));
	nn_download(emit->host, x, rows * width * sizeof *x);
	if (item->routing && seen->energy)
		share(emit->host, rows * width / C, C);
	float *made = to->made + (size_t)slot_of(item, seen->layer) * width;
	float factor = item->mean ? 1 / (float)item->layers : 1;
	const float *from = emit->host;
	for (size_t n = 0; n < seen->sequences.N; n++) {
		int64_t list = emit->lists[n];
		size_t row = (size_t)(item->tokens ? emit->offsets[list] : list);
		size_t end = item->tokens ? (size_t)emit->offsets[list + 1] : row + 1;
		for (; row < end; row++)
			for (size_t c = 0; c < width; c++)
				made[row * slots * width + c] += factor * *from++;
	}
}

static void
see(void *context, const struct model_seen *seen)
{
	struct emit *emit = context;

	if (emit->terms && seen->layer == model_spec(emit->model)->layers)
		emit_terms_see(emit->terms, seen, emit->lists);
	if (emit->vectors && seen->layer == model_spec(emit->model)->layers)
		token_vectors_take(emit->vectors, emit->field, emit->lists, seen);
	for (int i = 0; i < emit->count; i++) {
		const struct emit_item *item = &emit->items[i];
		if (item->layer[seen->layer])
			take(emit, item, &emit->outputs[emit->field * emit->count + i],
			    seen);
	}
}

/* Requests. ------------------------------------------------------------------------ */

static void
choose(struct emit_item *item, int layer)
{
	if (item->layer[layer])
		die_usage("--emit: layer %d is asked for twice", layer);
	item->layer[layer] = true;
	item->layers++;
}

static void
choose_layers(struct emit_item *item, const struct spec *spec, const char *text)
{
	bool all = !strcmp(text, "all");

	item->mean = !strcmp(text, "mean");
	if (!strcmp(text, "last"))
		choose(item, spec->layers);
	for (int i = 0; (all || item->mean) && i <= spec->layers; i++)
		choose(item, i);
	while (!item->layers || *text == '+') {
		char *end;
		text += *text == '+';
		long layer = strtol(text, &end, 10);
		if (end == text || (*end && *end != '+'))
			die_usage(
			    "--emit: 'layers=%s' is not supported; it is last, all, mean, or numbers joined by '+'",
			    text);
		if (layer < -(long)spec->layers - 1 || layer > spec->layers)
			die_usage(
			    "--emit: there is no layer %ld; they are 0 (the embeddings) to %d",
			    layer, spec->layers);
		choose(item, (int)(layer < 0 ? layer + spec->layers + 1 : layer));
		text = end;
	}
}

static void
choose_pooling(struct emit_item *item, const char *text)
{
	item->own = true;
	item->tokens = !strcmp(text, "tokens");
	if (!item->tokens && !pooling_set(&item->pooling, text))
		die_usage(
		    "--emit: 'pool=%s' is not supported; supported are cls, mean, max, mean_sqrt, weighted, last and tokens",
		    text);
}

/* Parses "hs" or "rw" with its options. */
static void
parse_item(struct emit_item *item, struct model *model, char *text)
{
	const struct spec *spec = model_spec(model);
	char *rest = NULL, *what = strtok_r(text, ":", &rest);

	item->routing = what && !strcmp(what, "rw");
	if (!what || (!item->routing && strcmp(what, "hs")))
		die_usage(
		    "--emit: '%s' is not supported; supported are emb, tokens, sparse, hs and rw",
		    what ? what : "");
	if (item->routing && !spec->mixture.count && !spec->neuron_experts)
		die("%s: has no token experts, hence no routing weights (--emit rw); 'upcycle --neuron-experts N' groups the neurons of a dense model",
		    model_dir(model));
	item->pooling = *model_head(model);
	if (item->routing)
		choose_pooling(item, "last");
	for (char *part; (part = strtok_r(NULL, ":", &rest));)
		if (!strncmp(part, "pool=", 5))
			choose_pooling(item, part + 5);
		else if (!item->routing && !item->layers && !strncmp(part, "layers=", 7))
			choose_layers(item, spec, part + 7);
		else if (item->routing && spec->mixture.count && !strcmp(part, "logits"))
			item->logits = true;
		else
			die_usage("--emit: '%s' does not belong to %s", part, what);
	if (item->routing)
		for (int i = 0; i < spec->layers; i++) {
			if (spec->layer[i].mixture || spec->neuron_experts)
				choose(item, i + 1);
		}
	else if (!item->layers)
		choose(item, spec->layers);
}

/* Parses "sparse" with its option; takes `name` over. */
static void
parse_sparse(struct emit *emit, enum dtype precision, char *name, const char *text)
{
	const char *option = text + strlen("sparse"), *top = ":top=";
	long long most = 0;
	char none[] = "", *end = none;

	if (emit->sparse)
		die_usage("--emit: sparse is asked for twice");
	if (!strncmp(option, top, strlen(top)))
		most = strtoll(option + strlen(top), &end, 10);
	if (*end || (*option && (most < 1 || most > 1 << 20)))
		die_usage(
		    "--emit: '%s' is not supported; sparse takes top=N, the number of terms",
		    option + 1);
	emit->sparse = name;
	emit->terms = emit_terms_new(emit->model, name, precision, most);
}

/* Whether an item is this one, perhaps with options. */
static bool
is_item(const char *item, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(item, name, length) && (!item[length] || item[length] == ':');
}

static void
check_name(const struct emit *emit, const char *name)
{
	bool twice = (emit->embedding && !strcmp(emit->embedding, name)) ||
		     (emit->sparse && !strcmp(emit->sparse, name)) ||
		     (emit->tokens && !strcmp(emit->tokens, name));

	for (int i = 0; i < emit->count; i++)
		twice |= !strcmp(emit->items[i].name, name);
	if (twice)
		die_usage(
		    "--emit: two columns would be called '%s'; name one: NAME=...", name);
}

/* Takes "emb" or "tokens"; returns false for another item. */
static bool
take_plain(struct emit *emit, const char *what, char *name)
{
	bool embedding = !strcmp(what, "emb");
	char **to = embedding ? &emit->embedding : &emit->tokens;

	if (!embedding && strcmp(what, "tokens"))
		return false;
	if (*to)
		die_usage("--emit: %s is asked for twice", what);
	*to = name;
	if (embedding && model_head(emit->model)->tokens)
		die("%s: embeds tokens (late interaction), not texts; use --emit tokens",
		    model_dir(emit->model));
	if (!embedding)
		emit->vectors = token_vectors_new(emit->model);
	return true;
}

/* Dies if --pooling would change nothing. */
static void
check_pooling(const struct emit *emit, const char *request)
{
	bool pools = emit->embedding;

	for (int i = 0; i < emit->count; i++)
		pools |= !emit->items[i].own;
	if (model_head(emit->model)->other_pool && !pools)
		die_usage(
		    "--pooling does not apply to --emit %s; it is for emb, and for hs without pool=",
		    request);
}

struct emit *
emit_new(struct model *model, const char *request, enum dtype precision)
{
	struct emit *emit = mem_zero(1, sizeof *emit);
	char *text = mem_string(request ? request : "emb"), *rest = NULL;

	emit->model = model;
	for (char *one = strtok_r(text, ",", &rest); one;
	     one = strtok_r(NULL, ",", &rest)) {
		size_t named = strcspn(one, "=:");
		bool own = one[named] == '=';
		char *what = own ? one + named + 1 : one;
		char *name = mem_format("%.*s", (int)named, one);
		check_name(emit, name);
		if (take_plain(emit, what, name))
			continue;
		if (is_item(what, "sparse")) {
			parse_sparse(emit, precision, name, what);
			continue;
		}
		emit->items =
		    mem_resize(emit->items, (size_t)emit->count + 1, sizeof *emit->items);
		emit->items[emit->count] = (struct emit_item){ .name = name };
		parse_item(&emit->items[emit->count], model, what);
		emit->count++;
	}
	if (!emit->embedding && !emit->tokens && !emit->count && !emit->sparse)
		die_usage(
		    "--emit: nothing is asked for; supported are emb, tokens, sparse, hs and rw");
	if (emit->embedding && model_head(model)->splade.is)
		die("%s: is a sparse encoder, which has no embeddings: --emit sparse",
		    model_dir(model));
	check_pooling(emit, request);
	if (emit->count || emit->sparse || emit->vectors)
		model_watch(model, see, emit);
	free(text);
	return emit;
}

/* The item that a request calls `name`; NULL: there is none.  *length: of its text. */
static const char *
item_called(const char *request, const char *name, size_t *length)
{
	for (const char *one = request; one && *one; one += *one == ',') {
		size_t end = strcspn(one, ","), named = strcspn(one, "=:,");
		size_t from = one[named] == '=' ? named + 1 : 0;
		if (named == strlen(name) && !strncmp(one, name, named)) {
			*length = end - from;
			return one + from;
		}
		one += end;
	}
	return NULL;
}

/* How the column `name` is made, to be freed; NULL: it is not asked for, or is the plain item of that name.  pool: of embeddings
 * and hidden states whose item does not say how they are pooled; NULL: as the folder. */
static char *
made_as(const char *request, const char *name, const char *pool)
{
	size_t length;
	const char *item = item_called(request, name, &length);
	bool plain = item && length == strlen(name) && !strncmp(item, name, length);
	char *text = item ? mem_format("%.*s", (int)length, item) : NULL;
	bool pooled = item && pool && !strstr(text, ":pool=") &&
		      (is_item(text, "hs") || !strcmp(text, "emb"));
	char *made = pooled	      ? mem_format("%s:pool=%s", text, pool)
		     : item && !plain ? mem_string(text)
				      : NULL;

	free(text);
	return made;
}

void
emit_tell(struct writer *out, const char *request, const char *pool)
{
	static const char *const names[] = { "emb", "tokens", "hs", "rw", "sparse" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *made = made_as(request ? request : "emb", names[i], pool);
		stream_property(out, names[i], made);
		free(made);
	}
}

const char *
emit_embedding(const struct emit *emit)
{
	return emit->embedding;
}

/* Records. ------------------------------------------------------------------------- */

void
emit_add(
    struct emit *emit, struct writer *out, const char *field, const struct column *ids)
{
	if (emit->terms)
		emit_terms_add(emit->terms, out, field, ids);
	emit->outputs = mem_resize(emit->outputs,
	    (size_t)(emit->fields + 1) * (size_t)emit->count + 1, sizeof *emit->outputs);
	for (int i = 0; i < emit->count; i++) {
		const struct emit_item *item = &emit->items[i];
		int64_t width = (int64_t)width_of(emit, item);
		int64_t slots = (int64_t)slots_of(item);
		bool flat = slots == 1 || item->routing;
		struct column column = { .dtype = DTYPE_F32,
			.depth = item->tokens ? ids->depth : ids->depth - 1,
			.rank = flat ? 1 : 2,
			.shape = { flat ? slots * width : slots, width } };
		char *name = mem_format("%s.%s", field, item->name);
		column.name = name;
		emit->outputs[emit->fields * emit->count + i] =
		    (struct emit_output){ .column = stream_add(out, &column) };
		free(name);
	}
	if (emit->vectors)
		token_vectors_add(emit->vectors, out, field, emit->tokens, ids);
	emit->fields++;
}

void
emit_begin(struct emit *emit, int field, const struct tree *attributes,
    const struct sequence *texts, int64_t lists, int64_t tokens)
{
	emit->field = field;
	if (emit->terms)
		emit_terms_begin(emit->terms, field, lists);
	for (int i = 0; i < emit->count; i++) {
		const struct emit_item *item = &emit->items[i];
		struct emit_output *to = &emit->outputs[field * emit->count + i];
		size_t element = width_of(emit, item) * slots_of(item);
		size_t size = mem_multiply(
		    (size_t)(item->tokens ? tokens : lists), element, "hidden states");
		to->made = mem_grow(to->made, &to->room, size, sizeof *to->made);
		if (size > 0)
			memset(to->made, 0, size * sizeof *to->made);
	}
	if (emit->vectors)
		token_vectors_begin(emit->vectors, field, attributes, texts, lists);
}

void
emit_at(struct emit *emit, const int64_t *lists, const int64_t *offsets)
{
	emit->lists = lists;
	emit->offsets = offsets;
}

void
emit_end(struct emit *emit, int field, struct record *made, const struct column *column,
    const struct array *ids)
{
	if (emit->terms)
		emit_terms_end(emit->terms, field, made, ids, column->depth);
	if (emit->vectors)
		token_vectors_end(emit->vectors, field, made, ids);
	for (int i = 0; i < emit->count; i++) {
		const struct emit_output *from = &emit->outputs[field * emit->count + i];
		struct array *to = &made->columns[from->column];
		for (int d = 0; d < STREAM_DEPTH; d++)
			to->offsets[d] = ids->offsets[d];
		to->data = from->made;
	}
}

void
emit_free(struct emit *emit)
{
	for (int i = 0; i < emit->count; i++)
		free(emit->items[i].name);
	for (int i = 0; i < emit->count * emit->fields; i++)
		free(emit->outputs[i].made);
	nn_free(emit->pooled, emit->pooled_size);
	free(emit->host);
	free(emit->items);
	free(emit->outputs);
	free(emit->embedding);
	if (emit->terms)
		emit_terms_free(emit->terms);
	free(emit->sparse);
	free(emit->tokens);
	if (emit->vectors)
		token_vectors_free(emit->vectors);
	free(emit);
}
