#include "search/rerank.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "encode/embed.h"
#include "encode/queue.h"
#include "search/texts_by_id.h"

/* Texts by number as ids without special tokens; those that no pair has are empty. */
struct side_tokens {
	struct ids *texts;
	int64_t count;
	size_t longest;
};

/* The pairs of a run under way through the model. */
struct pair_queue {
	const struct run *run;
	struct model *model;
	const struct tokenizer *tokenizer;
	const struct rerank_options *options;
	struct side_tokens queries, documents;
	/* A batch: */
	struct ids ids;
	size_t *starts; /* [count] of the pairs in `ids` */
	struct sequence *sequences;
	int64_t *places, *order; /* [count] of the pair among all; 0, 1, ... */
	int64_t count, done;	 /* pairs in the batch, and before it */
	size_t starts_room, sequences_room, places_room, order_room;
	struct batch batch;
	struct encode_queue *queue;
	float *scores; /* [pairs] in the order of the run */
	struct progress *progress;
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

/* Reads and tokenises the texts of both sides. */
static void
read_texts(struct pair_queue *re)
{
	const struct run *run = re->run;
	const struct rerank_options *options = re->options;
	struct row_texts queries = { 0 }, documents = { 0 };
	int64_t asked = strings_count(run->queries),
		known = strings_count(run->documents);
	bool *hit = run_mark_hits(run),
	     *wanted = mem_new((size_t)asked + 1, sizeof *wanted);

	for (int64_t i = 0; i < asked; i++)
		wanted[i] = run->hits[i].count > 0;
	texts_by_id(&queries, options->queries, NULL, run->queries, wanted, "queries");
	texts_by_id(&documents, options->documents, options->field, run->documents, hit,
	    "documents");
	re->queries = tokenise(re->tokenizer, &queries, asked, 0);
	re->documents = tokenise(re->tokenizer, &documents, known,
	    pair_second_limit(re->tokenizer, options->most, re->queries.longest));
	row_texts_free(&queries);
	row_texts_free(&documents);
	free(hit);
	free(wanted);
}

/* Sends the pairs of the batch through the model. */
static void
score_batch(struct pair_queue *re)
{
	for (int64_t i = 0; i < re->count; i++)
		re->sequences[i].ids = re->ids.id + re->starts[i];
	batch_pack(&re->batch, re->order, re->count, re->sequences);
	char *why = model_refuses(re->model, &re->batch, 0);
	if (why)
		die("%s: pair %s", model_dir(re->model), why);
	encode_queue_add(re->queue, 0, &re->batch, &re->scores, re->places, re->order);
	progress_add(re->progress, re->count);
	re->done += re->count;
	re->count = 0;
	re->ids.count = 0;
}

_Noreturn static void
die_long(const struct pair_queue *re, int64_t query, int64_t document)
{
	bool refuse = re->options->truncation == PAIR_REFUSE;

	die("%s: query '%.60s' and document '%.60s': %s longer than %zu tokens; %s",
	    re->options->queries, strings_get(re->run->queries, query),
	    strings_get(re->run->documents, document),
	    refuse ? "the pair is" : "the query alone is", re->options->most,
	    refuse ? "leave out --no-truncate, or give more with --max-length"
		   : "--truncation longest_first cuts it");
}

static void
add_pair(struct pair_queue *re, int64_t query, int64_t document)
{
	const struct ids *first = &re->queries.texts[query];
	const struct ids *second = &re->documents.texts[document];
	size_t count = (size_t)re->count + 1, start = re->ids.count;
	int32_t place;

	if (pair_join(re->tokenizer, (struct pair_side){ first->id, first->count },
		(struct pair_side){ second->id, second->count }, re->options->most,
		re->options->truncation, &re->ids, &place) == PAIR_LONG)
		die_long(re, query, document);
	re->starts = mem_grow(re->starts, &re->starts_room, count, sizeof *re->starts);
	re->sequences =
	    mem_grow(re->sequences, &re->sequences_room, count, sizeof *re->sequences);
	re->places = mem_grow(re->places, &re->places_room, count, sizeof *re->places);
	re->order = mem_grow(re->order, &re->order_room, count, sizeof *re->order);
	re->starts[re->count] = start;
	re->sequences[re->count] =
	    (struct sequence){ .length = (int32_t)(re->ids.count - start),
		    .second = place,
		    .expert = -1,
		    .adapter = -1 };
	re->places[re->count] = re->done + re->count;
	re->order[re->count] = re->count;
	re->count++;
}

static void
score_pairs(struct pair_queue *re)
{
	size_t budget = (size_t)embed_group_tokens(re->options->tokens, false);

	for (int64_t i = 0; i < strings_count(re->run->queries); i++)
		for (int64_t j = 0; j < re->run->hits[i].count; j++) {
			if (re->ids.count + re->options->most > budget && re->count)
				score_batch(re);
			add_pair(re, i, re->run->hits[i].at[j].document);
		}
	if (re->count)
		score_batch(re);
	encode_queue_commit(re->queue, 0);
}

/* Drops the documents after the first `depth`; returns the number of pairs. */
static int64_t
shorten(struct run *run, int64_t depth)
{
	int64_t pairs = 0;

	for (int64_t i = 0; i < strings_count(run->queries); i++) {
		if (run->hits[i].count > depth)
			run->hits[i].count = depth;
		pairs += run->hits[i].count;
	}
	return pairs;
}

static void
set_scores(struct run *run, const float *scores)
{
	struct findings findings = { 0 };

	for (int64_t i = 0; i < strings_count(run->queries); i++)
		for (int64_t j = 0; j < run->hits[i].count; j++)
			run_put(&findings, i, run->hits[i].at[j].document, *scores++);
	free(run->hits);
	free(run->memory);
	run_commit(run, &findings, 0, NULL);
	run->origin = (struct run_origin){ 0 };
}

void
rerank_run(struct run *run, struct model *model, const struct tokenizer *tokenizer,
    const struct rerank_options *options, struct progress *progress)
{
	struct pair_queue re = { .run = run,
		.model = model,
		.tokenizer = tokenizer,
		.options = options,
		.progress = progress };
	int labels = model_width(model);

	if (labels != 1)
		die("%s: gives %d labels; a run is reranked by one score; tok --pair and rerank give all",
		    model_dir(model), labels);
	int64_t pairs = shorten(run, options->depth);
	re.scores = mem_new((size_t)pairs + 1, sizeof *re.scores);
	re.queue = encode_queue_new(
	    model, &(struct encode_queue_options){ .width = 1, .ahead = nn_device() });
	read_texts(&re);
	progress_span(progress, 1, pairs);
	score_pairs(&re);
	set_scores(run, re.scores);
	encode_queue_free(re.queue);
	batch_free(&re.batch);
	ids_free(&re.ids);
	free_side(&re.queries);
	free_side(&re.documents);
	free(re.starts);
	free(re.sequences);
	free(re.places);
	free(re.order);
	free(re.scores);
}
