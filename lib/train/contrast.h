/*
 * contrast - contrastive batches from a stream: one record is one batch.
 *
 *	query.ids, document.ids		i32, depth 1	row i's query and its positive
 *	negatives.ids			i32, depth 2 (or 1: one each)	hard negatives, optional
 *	query.key, document.key		i64, depth 0	hashes of the texts, optional
 *	negatives.key			i64, depth 1 (or 0)
 *	query.expert, document.expert	text		task expert of each row, optional
 *	relation.target			f32 [2 width]	targets of the relations (relation_loss.h)
 * Attributes: temperature, experts{query, document}, prompt_tokens{query, document, negatives},
 * task, dataset, epoch, step.  Property of the stream: batches (how many there are in all).
 * Texts are equal whose keys are, or whose token ids are.
 *
 * With several ranks (ranks.h) a batch is what their records have together: each reads a stream of its own, cut by
 * tasksample --rank, whose properties "rank" and "ranks" say so, and records that are not of one batch are refused.
 */
#ifndef TRAIN_CONTRAST_H
#define TRAIN_CONTRAST_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "train/gradient_cache.h"
#include "train/loss.h"

struct contrast_options {
	const char *expert; /* for both sides, where the stream names none; or NULL */
	double temperature; /* 0: the record's attribute, else CONTRAST_TEMPERATURE */
	bool
	    keep_duplicates; /* no keys: duplicates of a text are negatives like any other */
	bool freeze_documents; /* an adapter learns for the queries alone */
	const char *
	    documents; /* a stream of the documents' embeddings (precomputed.h); NULL: none */
	bool targets;	/* of relations must be there; objective.h decides */
	int64_t epochs; /* times that a file is read; standard input is read once */
};
#define CONTRAST_TEMPERATURE 0.03 /* MoTE, appendix D */

struct contrast_batch {
	int64_t rows, negatives, tokens;
	struct sequence
	    *sequences; /* [2 rows + negatives]: queries, documents, negatives */
	const struct loss_keys *keys; /* [LOSS_KEYS]; NULL: keep_duplicates */
	struct loss_parts parts;      /* of the ranks */
	const float *targets;	      /* [rows, 2 width]; NULL: not wanted */
	double temperature;
	const char *task, *dataset; /* "" where the record does not say */
	int64_t epoch, record;	    /* epoch from 0; record of its stream, from 1 */
};

struct contrast;

/* Dies when a column is missing or the tokens are not those of the model's tokenizer. */
struct contrast *contrast_open(
    const char *path, struct model *model, const struct contrast_options *options);
void contrast_close(struct contrast *contrast);

/* The next batch; false at the end, or where another rank has left.  Borrowed until the next call.  Dies naming the
 * record. */
bool contrast_next(struct contrast *contrast, struct contrast_batch *batch);

/* Read the next batch's record now, if its stream has it at hand: the one before is gone. */
void contrast_prepare(struct contrast *contrast);

/* Tell the other ranks that no batch of this one comes; false: they do not wait for one. */
bool contrast_leave(struct contrast *contrast);
bool contrast_left(const struct contrast *contrast); /* whether another has said so */

/* Batches in all epochs: of a file by counting, else as the property says; -1: not known. */
int64_t contrast_total(struct contrast *contrast);

/*
 * Where a run stands: batches taken, the hash of all their tokens (of all ranks: the same however many they are), the last one's attribute
 * "step" (-1: none).  contrast_resume goes there: past as many records, which must hash the same; or
 * at once, when the stream's first record says that it is the step that follows.
 */
struct contrast_position {
	int64_t taken, step;
	uint64_t hash;
};
struct contrast_position contrast_position(const struct contrast *contrast);
void contrast_resume(struct contrast *contrast, const struct contrast_position *position);
const char *contrast_name(const struct contrast *contrast);

#endif
