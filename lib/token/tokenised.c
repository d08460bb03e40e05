#include "token/tokenised.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "token/ids.h"

enum { ALONE = 1 << 15 };

/* The result of one thread: texts first .. last-1. */
struct tokenised_part {
	struct ids ids;
	int64_t first, last, cut, repaired, first_cut, first_long;
};

/* Texts, or pairs of texts: then rules are set, and frame is NULL. */
struct tokenised_job {
	const struct frame *frame;
	const struct pair_rules *rules;
	const char *bytes[2];
	const int64_t *offsets[2]; /* [texts + 1] */
	int64_t *lengths;	   /* [texts], made */
	int32_t *second;	   /* [texts], made of pairs */
};

/* One text of pair i, or text i; returns its length. */
static size_t
side_text(const struct tokenised_job *job, int side, int64_t i, const char **text)
{
	*text = job->bytes[side] + job->offsets[side][i];
	return (size_t)(job->offsets[side][i + 1] - job->offsets[side][i]);
}

static void
encode_texts(struct tokenised_part *part, const struct tokenised_job *job)
{
	struct framed string = { 0 };
	const char *text;

	for (int64_t i = part->first; i < part->last; i++) {
		size_t length = side_text(job, 0, i, &text), before = part->ids.count;
		part->repaired += utf8_valid(text, length) < length;
		if (frame_encode(job->frame, text, length, &string, &part->ids) &&
		    part->cut++ == 0)
			part->first_cut = i;
		job->lengths[i] = (int64_t)(part->ids.count - before);
	}
	free(string.text);
}

/* The ids of one text of pair i, without special tokens. */
static struct pair_side
encode_side(const struct tokenised_job *job, int side, int64_t i, size_t limit,
    struct ids *ids, bool *repaired)
{
	const char *text;
	size_t length = side_text(job, side, i, &text);

	ids->count = 0;
	*repaired |= utf8_valid(text, length) < length;
	pair_text(job->rules->tokenizer, text, length, limit, ids);
	return (struct pair_side){ ids->id, ids->count };
}

/* Pair i, joined by the tokenizer's template.  first, second: room for its texts. */
static enum pair_outcome
join_pair(struct tokenised_part *part, const struct tokenised_job *job, int64_t i,
    struct ids *first, struct ids *second, bool *repaired)
{
	const struct pair_rules *rules = job->rules;
	struct pair_side a = encode_side(job, 0, i, 0, first, repaired);
	size_t limit = pair_second_limit(rules->tokenizer, rules->most, a.count);
	struct pair_side b = encode_side(job, 1, i, limit, second, repaired);

	return pair_join(rules->tokenizer, a, b, rules->most, rules->truncation,
	    &part->ids, &job->second[i]);
}

/* Pair i, put into the chat template. */
static enum pair_outcome
ask_pair(struct tokenised_part *part, const struct tokenised_job *job, int64_t i,
    bool *repaired)
{
	const struct pair_rules *rules = job->rules;
	const char *a, *b;
	size_t first = side_text(job, 0, i, &a), second = side_text(job, 1, i, &b);

	*repaired = utf8_valid(a, first) < first || utf8_valid(b, second) < second;
	return pair_template_encode(rules->template, a, first, b, second, rules->most,
	    rules->truncation, &part->ids);
}

static void
encode_pairs(struct tokenised_part *part, const struct tokenised_job *job)
{
	struct ids first = { 0 }, second = { 0 };

	for (int64_t i = part->first; i < part->last; i++) {
		bool repaired = false;
		size_t before = part->ids.count;
		job->second[i] = 0;
		enum pair_outcome outcome =
		    job->rules->template
			? ask_pair(part, job, i, &repaired)
			: join_pair(part, job, i, &first, &second, &repaired);
		part->repaired += repaired;
		part->cut += outcome == PAIR_CUT;
		if (outcome == PAIR_LONG && part->first_long < 0)
			part->first_long = i;
		job->lengths[i] = (int64_t)(part->ids.count - before);
	}
	ids_free(&first);
	ids_free(&second);
}

/* Where thread `index` of `count` begins: equal shares of bytes, not of texts. */
static int64_t
share(const int64_t *offsets, int64_t texts, int index, int count)
{
	int64_t bytes = offsets[texts] - offsets[0];
	int64_t wanted = offsets[0] + bytes / count * index, low = 0, high = texts;

	if (index == count)
		return texts;
	while (low < high) {
		int64_t middle = (low + high) / 2;
		if (offsets[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
gather(struct tokenised *made, struct tokenised_part *part, int parts)
{
	size_t total = 0;

	for (int p = 0; p < parts; p++)
		total += part[p].ids.count;
	made->ids = mem_grow(made->ids, &made->ids_room, total + 1, sizeof *made->ids);
	made->cut = made->repaired = 0;
	made->first_cut = made->first_long = -1;
	total = 0;
	for (int p = 0; p < parts; p++) {
		if (part[p].ids.count)
			memcpy(made->ids + total, part[p].ids.id,
			    part[p].ids.count * sizeof *made->ids);
		total += part[p].ids.count;
		if (part[p].cut && made->first_cut < 0)
			made->first_cut = part[p].first_cut;
		if (made->first_long < 0)
			made->first_long = part[p].first_long;
		made->cut += part[p].cut;
		made->repaired += part[p].repaired;
		ids_free(&part[p].ids);
	}
}

/* Runs a job whose lengths and second are not set. */
static void
run(struct tokenised *made, struct tokenised_job job, int64_t texts)
{
	const int64_t *offsets = job.offsets[job.rules ? 1 : 0];
	bool few = offsets[texts] - offsets[0] < ALONE; /* too few for threads */
	int parts = few ? 1 : omp_get_max_threads();
	struct tokenised_part *part = mem_zero((size_t)parts, sizeof *part);

	made->offsets = mem_grow(
	    made->offsets, &made->offsets_room, (size_t)texts + 1, sizeof *made->offsets);
	made->offsets[0] = 0;
	job.lengths = made->offsets + 1;
	job.second = made->second;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
	for (int p = 0; p < parts; p++) {
		part[p].first = share(offsets, texts, p, parts);
		part[p].last = share(offsets, texts, p + 1, parts);
		part[p].first_long = -1;
		if (job.rules)
			encode_pairs(&part[p], &job);
		else
			encode_texts(&part[p], &job);
	}
	for (int64_t i = 0; i < texts; i++)
		made->offsets[i + 1] += made->offsets[i];
	gather(made, part, parts);
	free(part);
}

/* bytes may be NULL if there are no texts */
static const char *
bytes_of(const char *bytes)
{
	return bytes ? bytes : "";
}

void
tokenise_texts(struct tokenised *made, const struct frame *frame, const char *bytes,
    const int64_t *offsets, int64_t texts)
{
	run(made,
	    (struct tokenised_job){
		.frame = frame, .bytes = { bytes_of(bytes) }, .offsets = { offsets } },
	    texts);
}

void
tokenise_pairs(struct tokenised *made, const struct pair_rules *rules, struct array first,
    struct array second, int64_t pairs)
{
	made->second = mem_grow(
	    made->second, &made->second_room, (size_t)pairs + 1, sizeof *made->second);
	run(made,
	    (struct tokenised_job){ .rules = rules,
		.bytes = { bytes_of(first.data), bytes_of(second.data) },
		.offsets = { first.offsets[0], second.offsets[0] } },
	    pairs);
}

void
tokenised_free(struct tokenised *made)
{
	free(made->second);
	free(made->attended);
	free(made->offsets);
	free(made->ids);
}
