#include "search/rerank.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "encode/embed.h"
#include "encode/queue.h"
#include "search/run_pairs.h"

/* The pairs of a run under way through the model. */
struct pair_queue {
	const struct run *run;
	struct model *model;
	const struct rerank_options *options;
	struct run_pairs *pairs;
	/* A batch: */
	struct ids ids;
	struct sequence *sequences;
	int64_t *places, *order; /* [count] of the pair among all; 0, 1, ... */
	int64_t count, done;	 /* pairs in the batch, and before it */
	size_t sequences_room, places_room, order_room;
	struct batch batch;
	struct encode_queue *queue;
	float *scores; /* [pairs] in the order of the run */
	struct progress *progress;
};

/* Sends the pairs of the batch through the model. */
static void
score_batch(struct pair_queue *re)
{
	const int32_t *ids = re->ids.id;

	for (int64_t i = 0; i < re->count; ids += re->sequences[i++].length)
		re->sequences[i].ids = ids;
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
add_pair(struct pair_queue *re, int64_t query, int64_t hit)
{
	size_t count = (size_t)re->count + 1, start = re->ids.count;
	int32_t place;

	if (run_pairs_add(re->pairs, query, hit, &re->ids, &place) == PAIR_LONG)
		die_long(re, query, re->run->hits[query].at[hit].document);
	re->sequences =
	    mem_grow(re->sequences, &re->sequences_room, count, sizeof *re->sequences);
	re->places = mem_grow(re->places, &re->places_room, count, sizeof *re->places);
	re->order = mem_grow(re->order, &re->order_room, count, sizeof *re->order);
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

	for (int64_t i = 0; i < strings_count(re->run->queries); i++) {
		run_pairs_query(re->pairs, i);
		for (int64_t j = 0; j < re->run->hits[i].count; j++) {
			if (re->ids.count + re->options->most > budget && re->count)
				score_batch(re);
			add_pair(re, i, j);
		}
	}
	if (re->count)
		score_batch(re);
	encode_queue_commit(re->queue, 0);
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
	struct pair_queue re = {
		.run = run, .model = model, .options = options, .progress = progress
	};
	int labels = model_width(model);

	if (labels != 1)
		die("%s: gives %d labels; a run is reranked by one score; tok --pair and rerank give all",
		    model_dir(model), labels);
	int64_t pairs = run_cut(run, options->depth);
	re.scores = mem_new((size_t)pairs + 1, sizeof *re.scores);
	re.queue = encode_queue_new(
	    model, &(struct encode_queue_options){ .width = 1, .ahead = nn_device() });
	re.pairs = run_pairs_new(run, tokenizer, model_dir(model), options);
	progress_span(progress, 1, pairs);
	score_pairs(&re);
	set_scores(run, re.scores);
	encode_queue_free(re.queue);
	batch_free(&re.batch);
	ids_free(&re.ids);
	run_pairs_free(re.pairs);
	free(re.sequences);
	free(re.places);
	free(re.order);
	free(re.scores);
}
