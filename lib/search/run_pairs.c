#include "search/run_pairs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "search/texts_by_id.h"

/* Token ids of texts, by the text's number, without special tokens.  Texts of no pair are empty. */
struct side_tokens {
	struct ids *texts;
	int64_t count;
	size_t longest;
};

/* A pair of the query at work, by its template. */
struct asked_pair {
	struct ids ids;
	enum pair_outcome outcome;
};

struct run_pairs {
	const struct run *run;
	const struct tokenizer *tokenizer;
	const struct rerank_options *options;
	struct pair_template *template; /* NULL: none */
	/* without a template: */
	struct side_tokens queries, documents;
	/* with one: */
	struct row_texts asked, known;
	struct asked_pair *pairs;
	size_t room;
};

/* limit: ids of a text that can matter; 0: all. */
static struct side_tokens
tokenise(const struct tokenizer *tokenizer, const struct row_texts *texts, int64_t count,
    size_t limit)
{
	struct side_tokens side = {
		.texts = mem_zero((size_t)count + 1, sizeof *side.texts), .count = count
	};
	size_t longest = 0;

#pragma omp parallel for schedule(dynamic, 16) reduction(max : longest)
	for (int64_t i = 0; i < count; i++) {
		const struct row_text *text = row_texts_get(texts, i);
		if (text)
			pair_text(
			    tokenizer, text->bytes, text->length, limit, &side.texts[i]);
		if (side.texts[i].count > longest)
			longest = side.texts[i].count;
	}
	side.longest = longest;
	return side;
}

static void
free_side(struct side_tokens *side)
{
	for (int64_t i = 0; i < side->count; i++)
		ids_free(&side->texts[i]);
	free(side->texts);
}

static void
read_texts(struct run_pairs *pairs)
{
	const struct run *run = pairs->run;
	const struct rerank_options *options = pairs->options;
	int64_t asked = strings_count(run->queries);
	bool *hit = run_mark_hits(run),
	     *wanted = mem_new((size_t)asked + 1, sizeof *wanted);

	for (int64_t i = 0; i < asked; i++)
		wanted[i] = run->hits[i].count > 0;
	texts_by_id(
	    &pairs->asked, options->queries, NULL, run->queries, wanted, "queries");
	texts_by_id(&pairs->known, options->documents, options->field, run->documents,
	    hit, "documents");
	free(hit);
	free(wanted);
}

struct run_pairs *
run_pairs_new(const struct run *run, const struct tokenizer *tokenizer, const char *dir,
    const struct rerank_options *options)
{
	struct run_pairs *pairs = mem_zero(1, sizeof *pairs);

	*pairs = (struct run_pairs){ .run = run,
		.tokenizer = tokenizer,
		.options = options,
		.template = pair_template_open(dir, tokenizer, &options->asking) };
	if (pairs->template)
		pair_template_demand(pairs->template, options->most);
	else
		pair_demand(tokenizer, options->most);
	read_texts(pairs);
	if (pairs->template)
		return pairs;
	pairs->queries =
	    tokenise(tokenizer, &pairs->asked, strings_count(run->queries), 0);
	pairs->documents =
	    tokenise(tokenizer, &pairs->known, strings_count(run->documents),
		pair_second_limit(tokenizer, options->most, pairs->queries.longest));
	row_texts_free(&pairs->asked);
	row_texts_free(&pairs->known);
	return pairs;
}

void
run_pairs_free(struct run_pairs *pairs)
{
	for (size_t i = 0; i < pairs->room; i++)
		ids_free(&pairs->pairs[i].ids);
	free(pairs->pairs);
	if (pairs->template) {
		row_texts_free(&pairs->asked);
		row_texts_free(&pairs->known);
	} else {
		free_side(&pairs->queries);
		free_side(&pairs->documents);
	}
	pair_template_free(pairs->template);
	free(pairs);
}

void
run_pairs_query(struct run_pairs *pairs, int64_t query)
{
	const struct hits *hits = &pairs->run->hits[query];
	const struct row_text *first = row_texts_get(&pairs->asked, query);
	size_t before = pairs->room;

	if (!pairs->template || !hits->count)
		return;
	pairs->pairs = mem_grow(
	    pairs->pairs, &pairs->room, (size_t)hits->count, sizeof *pairs->pairs);
	for (size_t i = before; i < pairs->room; i++)
		pairs->pairs[i] = (struct asked_pair){ 0 };
#pragma omp parallel for schedule(dynamic, 4)
	for (int64_t i = 0; i < hits->count; i++) {
		const struct row_text *second =
		    row_texts_get(&pairs->known, hits->at[i].document);
		struct asked_pair *pair = &pairs->pairs[i];
		pair->ids.count = 0;
		pair->outcome = pair_template_encode(pairs->template, first->bytes,
		    first->length, second->bytes, second->length, pairs->options->most,
		    pairs->options->truncation, &pair->ids);
	}
}

enum pair_outcome
run_pairs_add(
    struct run_pairs *pairs, int64_t query, int64_t hit, struct ids *out, int32_t *second)
{
	if (pairs->template) {
		const struct asked_pair *pair = &pairs->pairs[hit];
		for (size_t i = 0; i < pair->ids.count; i++)
			ids_push(out, pair->ids.id[i]);
		*second = 0;
		return pair->outcome;
	}
	int64_t document = pairs->run->hits[query].at[hit].document;
	const struct ids *a = &pairs->queries.texts[query];
	const struct ids *b = &pairs->documents.texts[document];
	return pair_join(pairs->tokenizer, (struct pair_side){ a->id, a->count },
	    (struct pair_side){ b->id, b->count }, pairs->options->most,
	    pairs->options->truncation, out, second);
}
