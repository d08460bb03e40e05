#include "token/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "token/tokenizer_parts.h"

int
tokenizer_size(const struct tokenizer *tokenizer)
{
	int32_t own = vocabulary_size(tokenizer->vocabulary),
		extra = vocabulary_size(tokenizer->extra);

	return own > extra ? own : extra;
}

int32_t
tokenizer_find(const struct tokenizer *tokenizer, const char *text, size_t length)
{
	return tokenizer->unigram ? unigram_find(tokenizer->unigram, text, length)
				  : vocabulary_find(tokenizer->vocabulary, text, length);
}

int
tokenizer_id(const struct tokenizer *tokenizer, const char *token)
{
	int32_t id = tokenizer_find(tokenizer, token, strlen(token));

	return id >= 0 ? id : vocabulary_find(tokenizer->extra, token, strlen(token));
}

const char *
tokenizer_token(const struct tokenizer *tokenizer, int id)
{
	const char *text = vocabulary_text(tokenizer->vocabulary, id, NULL);

	return text ? text : vocabulary_text(tokenizer->extra, id, NULL);
}

void
tokenizer_template(const struct tokenizer *tokenizer, size_t *before, size_t *after)
{
	*before = tokenizer->before.count;
	*after = tokenizer->after.count;
}

bool
tokenizer_cuts_left(const struct tokenizer *tokenizer)
{
	return tokenizer->cut_left;
}

void
tokenizer_cut(struct tokenizer *tokenizer, bool left)
{
	tokenizer->cut_left = left;
}

void
tokenizer_close(struct tokenizer *tokenizer)
{
	if (tokenizer->wordpiece)
		wordpiece_free(tokenizer->wordpiece);
	if (tokenizer->bpe)
		bpe_free(tokenizer->bpe);
	if (tokenizer->unigram)
		unigram_free(tokenizer->unigram);
	if (tokenizer->normalizer)
		normalizer_free(tokenizer->normalizer);
	if (tokenizer->pretokenizer)
		pretokenizer_free(tokenizer->pretokenizer);
	decoder_free(tokenizer->decoder);
	added_free(tokenizer->raw);
	added_free(tokenizer->normal);
	vocabulary_free(tokenizer->vocabulary);
	vocabulary_free(tokenizer->extra);
	ids_free(&tokenizer->before);
	ids_free(&tokenizer->after);
	ids_free(&tokenizer->pair.before);
	ids_free(&tokenizer->pair.between);
	ids_free(&tokenizer->pair.after);
	ids_free(&tokenizer->special);
	free(tokenizer->path);
	free(tokenizer);
}

/* Decoding. ------------------------------------------------------------------------ */

int
tokenizer_by_number(const void *one, const void *two)
{
	int32_t a = *(const int32_t *)one, b = *(const int32_t *)two;

	return (a > b) - (a < b);
}

static bool
is_special(const struct tokenizer *tokenizer, int32_t id)
{
	const struct ids *special = &tokenizer->special;

	return special->count &&
	       bsearch(&id, special->id, special->count, sizeof id, tokenizer_by_number);
}

char *
tokenizer_decode(const struct tokenizer *tokenizer, const int32_t *ids, size_t count,
    bool specials, size_t *made)
{
	struct pieces tokens = { 0 };

	for (size_t i = 0; i < count; i++) {
		size_t length = 0;
		const char *token = vocabulary_text(tokenizer->extra, ids[i], &length);
		if (!token)
			token = vocabulary_text(tokenizer->vocabulary, ids[i], &length);
		if (token && (specials || !is_special(tokenizer, ids[i])))
			pieces_add(&tokens, token, length);
	}
	char *text = decoder_run(tokenizer->decoder, &tokens, made);
	pieces_free(&tokens);
	return text;
}

/* Encoding. ------------------------------------------------------------------------ */

/* lead: see normalizer.h. */
typedef void encode_part(const struct tokenizer *tokenizer, const char *text,
    size_t length, size_t lead, size_t most, struct ids *out);

/* Appends the ids of added tokens; calls `part` for the text between them. */
static void
split(const struct tokenizer *tokenizer, const struct added *added, const char *text,
    size_t length, size_t lead, encode_part *part, size_t most, struct ids *out)
{
	size_t from = 0, search = 0, start, stop;

	while (out->count <= most) {
		int32_t id =
		    added_find(added, text, length, from, search, &start, &stop, &search);
		if (id < 0)
			break;
		if (start > from)
			part(tokenizer, text + from, start - from,
			    lead > from ? lead - from : 0, most, out);
		/* empty if a neighbour took its white space */
		if (stop > start)
			ids_push(out, id);
		from = stop;
	}
	if (from < length && out->count <= most)
		part(tokenizer, text + from, length - from, lead > from ? lead - from : 0,
		    most, out);
}

char *
tokenizer_normalise(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t *made, size_t *lead)
{
	return tokenizer->normalizer
		   ? normalizer_apply(tokenizer->normalizer, text, length, made, lead)
		   : wordpiece_normal(tokenizer->wordpiece, text, length, made);
}

struct model_call {
	const struct tokenizer *tokenizer;
	struct ids *out;
	size_t most;
};

static bool
encode_pretoken(void *context, const char *text, size_t length)
{
	const struct model_call *model = context;

	if (model->tokenizer->unigram)
		unigram_encode(model->tokenizer->unigram, text, length, model->out);
	else if (model->tokenizer->bpe)
		bpe_encode(model->tokenizer->bpe, text, length, model->out);
	else
		wordpiece_word(model->tokenizer->wordpiece, text, length, model->out);
	return model->out->count <= model->most;
}

static void
encode_normal(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t lead, size_t most, struct ids *out)
{
	struct model_call model = { tokenizer, out, most };

	if (tokenizer->pretokenizer)
		pretokenizer_run(
		    tokenizer->pretokenizer, text, length, lead, encode_pretoken, &model);
	else
		wordpiece_encode(tokenizer->wordpiece, text, length, true, most, out);
}

static void
encode_piece(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t lead, size_t most, struct ids *out)
{
	size_t made;

	if (!tokenizer->pretokenizer && !added_any(tokenizer->normal)) {
		wordpiece_encode(tokenizer->wordpiece, text, length, false, most, out);
		return;
	}
	char *normal = tokenizer_normalise(tokenizer, text, length, &made, &lead);
	split(tokenizer, tokenizer->normal, normal ? normal : text, made, lead,
	    encode_normal, most, out);
	free(normal);
}

bool
tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t most, bool specials, struct ids *out)
{
	size_t before = specials ? tokenizer->before.count : 0;
	size_t after = specials ? tokenizer->after.count : 0;
	size_t limit = SIZE_MAX, lead = 0; /* limit: most ids in out */
	int32_t code;
	char *repaired = NULL;

	/* wordpiece_encode repairs invalid UTF-8 itself */
	if (tokenizer->pretokenizer && (repaired = utf8_repaired(text, length, &length)))
		text = repaired;
	ids_add(out, tokenizer->before.id, before);
	size_t first = out->count,
	       room = most > before + after ? most - before - after : 0;
	if (most && !tokenizer->cut_left)
		limit = first + room;
	if (tokenizer->lead && length)
		lead = utf8_decode(text, length, &code);
	split(tokenizer, tokenizer->raw, text, length, lead, encode_piece, limit, out);
	free(repaired);
	bool cut = most && out->count - first > room;
	if (cut && tokenizer->cut_left)
		memmove(
		    out->id + first, out->id + out->count - room, room * sizeof *out->id);
	if (cut)
		out->count = first + room;
	ids_add(out, tokenizer->after.id, after);
	return cut;
}
