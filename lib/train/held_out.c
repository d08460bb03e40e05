#include "train/held_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/strings.h"
#include "encode/text_batch.h"
#include "model/balance.h"
#include "nn/nn.h"
#include "ranks/ranks.h"
#include "score/measure/ranking.h"
#include "search/search.h"
#include "search/similarity.h"
#include "stream/stream.h"
#include "token/tokenizer.h"
#include "train/batch_columns.h"

enum { CUT = 10 };

/* Distinct texts and their vectors. */
struct distinct {
	struct strings *texts; /* by the hash of their tokens */
	uint64_t *keys;	       /* those hashes */
	float *vectors;	       /* [texts, width] */
	size_t keys_room, vectors_room;
	double longest;
};

/* Query and relevant document, by number. */
struct relevance {
	int64_t query, document;
};

struct held_out {
	struct contrast *pairs;
	struct model *model;
	const char *corpus;  /* NULL: no search */
	bool base_documents; /* documents keep the base model's embeddings */
	struct text_batch texts;
	struct distinct queries, documents;
	struct relevance *judgements;
	size_t judgement_count, judgement_room;
	float *host; /* [vectors of a batch, width] */
	size_t host_room;
};

/* The column of the documents' ids: "document.ids", or else the only one. */
static int
find_ids(const struct reader *reader)
{
	int named = stream_find(reader, "document.ids");
	int found = named >= 0 ? named : batch_only_ids(reader);

	if (found == -2)
		die("%s: has several columns of token ids; the documents are in \"document.ids\"",
		    stream_name(reader));
	if (found < 0 || stream_column(reader, found)->dtype != DTYPE_I32 ||
	    stream_column(reader, found)->depth != 1)
		die("%s: has no column of documents' token ids (document.ids, i32, depth 1); tok -f document=COLUMN makes it",
		    stream_name(reader));
	return found;
}

/* Dies of a wrong corpus before the first step. */
static void
check_corpus(const struct held_out *h)
{
	struct reader *reader = stream_open(h->corpus);

	find_ids(reader);
	tokenizer_check(reader, model_dir(h->model));
	stream_close(reader);
}

struct held_out *
held_out_open(const struct objective *objective)
{
	const struct objective_options *o = &objective->options;
	struct contrast_options options = o->contrast;
	struct held_out *h = mem_zero(1, sizeof *h);

	options.whole = true;
	options.targets = false;
	options.guide = options.guide_held_out;
	options.epochs = 1;
	h->model = objective->model;
	h->pairs = contrast_open(o->dev, h->model, &options);
	if (!contrast_total(h->pairs))
		die("%s: there are no pairs in it", contrast_name(h->pairs));
	h->corpus = o->dev_corpus;
	if (h->corpus && contrast_alone(h->pairs))
		die("%s: has texts alone; --dev-corpus needs queries and their documents",
		    contrast_name(h->pairs));
	if (h->corpus)
		check_corpus(h);
	h->base_documents = o->contrast.freeze_documents;
	h->texts = (struct text_batch){ .model = h->model, .expert = o->contrast.expert };
	return h;
}

void
held_out_close(struct held_out *h)
{
	contrast_close(h->pairs);
	text_batch_free(&h->texts);
	free(h->judgements);
	free(h->host);
	free(h);
}

/* Distinct texts. ------------------------------------------------------------------ */

static void
end(struct distinct *distinct)
{
	strings_free(distinct->texts);
	free(distinct->keys);
	free(distinct->vectors);
	*distinct = (struct distinct){ 0 };
}

/* Adds a text and its vector, unless it is there; returns its number. */
static int64_t
add(struct distinct *distinct, const struct sequence *text, const float *vector,
    size_t width)
{
	uint64_t key = rng_hash(0, text->ids, (size_t)text->length * sizeof *text->ids);
	bool fresh;
	int64_t number =
	    strings_add(distinct->texts, (const char *)&key, sizeof key, &fresh);
	size_t count = (size_t)number + 1;

	if (!fresh)
		return number;
	distinct->keys =
	    mem_grow(distinct->keys, &distinct->keys_room, count, sizeof key);
	distinct->keys[number] = key;
	distinct->vectors = mem_grow(
	    distinct->vectors, &distinct->vectors_room, count, width * sizeof *vector);
	memcpy(
	    distinct->vectors + (size_t)number * width, vector, width * sizeof *vector);
	distinct->longest =
	    fmax(distinct->longest, sqrt(similarity_dot(vector, vector, (int)width)));
	return number;
}

/* Breaks ties without favour for the pairs' own documents. */
static int
by_key(const void *context, uint32_t a, uint32_t b)
{
	const struct distinct *documents = context;

	return documents->keys[a] < documents->keys[b] ? 1 : -1;
}

/* The loss. ------------------------------------------------------------------------ */

/* The sequences as encode has them: nothing is kept for a backward pass, no dropout. */
static void
only_look(struct sequence *sequences, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		sequences[i].frozen = true;
		sequences[i].draw = 0;
	}
}

static const float *
download(struct held_out *h, const float *vectors, int64_t count, size_t width)
{
	h->host =
	    mem_grow(h->host, &h->host_room, (size_t)count, width * sizeof *h->host);
	nn_download(h->host, vectors, (size_t)count * width * sizeof *h->host);
	return h->host;
}

static void
take_pairs(struct held_out *h, const struct contrast_batch *batch, const float *vectors)
{
	size_t width = (size_t)model_width(h->model), rows = (size_t)batch->rows;
	const float *at = download(h, vectors, 2 * batch->rows, width);

	h->judgements = mem_grow(h->judgements, &h->judgement_room,
	    h->judgement_count + rows, sizeof *h->judgements);
	for (size_t i = 0; i < rows; i++)
		h->judgements[h->judgement_count++] = (struct relevance){
			add(&h->queries, &batch->sequences[i], at + i * width, width),
			add(&h->documents, &batch->sequences[rows + i],
			    at + (rows + i) * width, width),
		};
}

static void
measure_batches(struct held_out *h, struct objective *objective,
    struct gradient_cache *cache, held_out_loss *loss, struct dev_report *report)
{
	struct contrast_batch batch;
	int64_t rows = 0;

	contrast_rewind(h->pairs);
	while (contrast_next(h->pairs, &batch)) {
		int64_t count = batch.count;
		double correct;
		only_look(batch.sequences, count);
		float *vectors = gradient_cache_embed(cache, batch.sequences, count);
		report->loss +=
		    (double)batch.rows * loss(objective, &batch, vectors, &correct);
		report->accuracy += correct;
		rows += batch.rows;
		if (h->corpus)
			take_pairs(h, &batch, vectors);
	}
	if (!rows)
		die("%s: there are no pairs in it", contrast_name(h->pairs));
	report->loss /= (double)rows;
	report->accuracy /= (double)rows;
}

/* Search. -------------------------------------------------------------------------- */

/* Adds the corpus to the documents, record by record. */
static void
read_corpus(struct held_out *h, struct gradient_cache *cache, bool dot)
{
	struct reader *reader = stream_open(h->corpus);
	int ids = find_ids(reader);
	size_t width = (size_t)model_width(h->model);
	char *side = mem_string(stream_column(reader, ids)->name);
	struct record record;

	side[strlen(side) - strlen(".ids")] = 0;
	struct token_column column = text_batch_column(reader, ids, side, side, false);
	h->texts.in = reader;
	while (stream_next(reader, &record)) {
		h->texts.count = 0;
		text_batch_add(&h->texts, &column, &record);
		for (int64_t i = 0; i < h->texts.count; i++) {
			h->texts.sequences[i].side = 1;
			h->texts.sequences[i].adapter = h->base_documents ? -1 : 0;
		}
		only_look(h->texts.sequences, h->texts.count);
		float *vectors =
		    gradient_cache_embed(cache, h->texts.sequences, h->texts.count);
		if (!dot)
			nn_normalize(
			    vectors, NULL, vectors, (size_t)h->texts.count, width);
		const float *at = download(h, vectors, h->texts.count, width);
		for (int64_t i = 0; i < h->texts.count; i++)
			add(&h->documents, &h->texts.sequences[i], at + (size_t)i * width,
			    width);
	}
	stream_close(reader);
	free(side);
}

static int
by_query(const void *a, const void *b)
{
	const struct relevance *x = a, *y = b;

	return x->query != y->query
		   ? (x->query > y->query) - (x->query < y->query)
		   : (x->document > y->document) - (x->document < y->document);
}

/* Sorts the judgements and drops those that are there twice. */
static void
sort_judgements(struct held_out *h)
{
	size_t kept = 0;

	qsort(h->judgements, h->judgement_count, sizeof *h->judgements, by_query);
	for (size_t i = 0; i < h->judgement_count; i++)
		if (!kept || by_query(&h->judgements[kept - 1], &h->judgements[i]))
			h->judgements[kept++] = h->judgements[i];
	h->judgement_count = kept;
}

/* Adds the measures of a query, whose judgements are at[count]. */
static void
measure_query(struct dev_report *report, const struct hits *hits,
    const struct relevance *at, size_t count)
{
	int64_t found[CUT], *judged = mem_new(count, sizeof *judged);
	double values[RANKING_MEASURES];

	for (size_t i = 0; i < count; i++)
		judged[i] = 1;
	for (int64_t k = 0; k < hits->count; k++) {
		const struct relevance wanted = { at->query, hits->at[k].document };
		found[k] = bsearch(&wanted, at, count, sizeof *at, by_query)
			       ? 1
			       : RANKING_UNJUDGED;
	}
	struct graded_list list =
	    ranking_list(found, hits->count, judged, (int64_t)count, 1, false);
	ranking_measure(values, &list, CUT);
	report->ndcg += values[RANKING_NDCG];
	ranking_measure(values, &list, 1);
	report->recall += values[RANKING_RECALL];
	free(judged);
}

static void
search_pairs(struct held_out *h, struct dev_report *report)
{
	enum { BLOCK = 4096 };
	int64_t queries = strings_count(h->queries.texts);
	int64_t documents = strings_count(h->documents.texts);
	int width = model_width(h->model);
	struct hits *hits = mem_new((size_t)queries, sizeof *hits);
	struct search *search = search_new(
	    h->queries.vectors, queries, width, CUT, -INFINITY, by_key, &h->documents);

	for (int64_t first = 0; first < documents; first += BLOCK)
		search_add(search, h->documents.vectors + first * width,
		    documents - first < BLOCK ? documents - first : BLOCK,
		    h->documents.longest);
	struct hit *memory = search_finish(search, hits);
	sort_judgements(h);
	for (size_t first = 0, last; first < h->judgement_count; first = last) {
		int64_t query = h->judgements[first].query;
		last = first;
		while (last < h->judgement_count && h->judgements[last].query == query)
			last++;
		measure_query(report, &hits[query], h->judgements + first, last - first);
	}
	report->ndcg /= (double)queries;
	report->recall /= (double)queries;
	free(memory);
	free(hits);
}

void
held_out_measure(struct held_out *h, struct objective *objective,
    struct gradient_cache *cache, held_out_loss *loss, struct dev_report *report)
{
	struct dev_report *all = mem_new((size_t)ranks_count(), sizeof *all);

	*report = (struct dev_report){ 0 };
	model_balance(h->model, NULL);
	h->judgement_count = 0;
	h->queries.texts = strings_new();
	h->documents.texts = strings_new();
	measure_batches(h, objective, cache, loss, report);
	if (h->corpus && isfinite(report->loss)) {
		read_corpus(h, cache, objective->options.dot);
		search_pairs(h, report);
	}
	end(&h->queries);
	end(&h->documents);
	model_balance(h->model, objective->balance);
	report->best = h->corpus ? report->ndcg : -report->loss;
	ranks_gather(all, report, sizeof *report);
	*report = all[0];
	free(all);
}
