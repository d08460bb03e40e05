/*
 * contrast - contrastive batches from a stream: one record is one batch.
 *
 *	query.ids, document.ids		i32, depth 1	row i's query and its positive
 *	negatives.ids			i32, depth 2 (or 1: one each)	hard negatives, optional
 *	query.key, document.key		i64, depth 0	hashes of the texts, optional
 *	negatives.key			i64, depth 1 (or 0)
 *	query.expert, document.expert	text		task expert of each row, optional
 *	document.score, negatives.score	numbers		scores of the pairs (batch_scores.h)
 *	query.emb and so on		vectors of a guide (guide.h)
 *	relation.target			f32 [2 width]	targets of the relations (relation_loss.h)
 * Texts alone (`alone`), where the stream has no pairs:
 *	text.ids, text.emb		i32, depth 1; vectors; under any one name
 * For a cross-encoder (`pairs`) a text is a pair of texts, of tok --pair, and there are no queries:
 *	pair.ids, pair.second		i32, depth 1	a pair; or document.ids, document.second: row i's query and its positive
 *	negatives.ids, negatives.second	i32, depth 2	row i's query and each of its hard negatives, optional
 * Attributes: temperature, experts{query, document}, prompt_tokens{query, document, negatives},
 * task, dataset, epoch, step.  Property of the stream: batches (their number).
 * Two texts are equal if their keys or their token ids are equal.
 *
 * With several ranks (ranks.h) each rank reads its own stream, made by `tasksample --rank` with the properties "rank" and "ranks";
 * a batch is one record of each.  Dies if the records are not of one batch.
 */
#ifndef TRAIN_CONTRAST_H
#define TRAIN_CONTRAST_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "text/tree.h"
#include "train/gradient_cache.h"
#include "train/loss.h"

struct contrast_options {
	const char *expert; /* of both sides, if the stream names none; or NULL */
	double temperature; /* 0: the record's attribute, else `usual_temperature` */
	double usual_temperature;
	bool scores; /* read the scores of pairs (batch_scores.h) */
	bool pairs;  /* the texts are pairs, without queries */
	bool alone;  /* a stream's only texts may stand alone, in the queries' place */
	bool keep_duplicates;  /* no keys: a duplicate of a text is a negative */
	bool freeze_documents; /* only queries pass through the adapter */
	const char *documents; /* file of their embeddings (precomputed.h); or NULL */
	bool targets;	       /* read the targets of relations */
	bool guide;	       /* read the embeddings of guide.h */
	bool guide_held_out;   /* and those of held-out pairs */
	bool whole;	       /* every rank reads all of a file by itself */
	int64_t epochs;	       /* readings of a file; of standard input 1 */
};

struct contrast_batch {
	int64_t rows, negatives, tokens;
	int64_t
	    count; /* of sequences: 2 rows + negatives; of pairs and texts alone rows + negatives */
	size_t all;		      /* the same over all ranks */
	struct sequence *sequences;   /* [count] queries, documents, negatives */
	const struct loss_keys *keys; /* [LOSS_KEYS]; NULL: keep_duplicates */
	struct loss_parts parts;      /* of the ranks */
	const float *targets;	      /* [rows, 2 width]; NULL without `targets` */
	const double *scores;	      /* [rows + negatives]; NULL without `scores` */
	const int64_t *negative_rows; /* [negatives] rows of the negatives */
	const float *guide; /* [count, guide_width], host memory; NULL without `guide` */
	size_t guide_width;
	double temperature;
	const char *stream;	    /* its name */
	const char *task, *dataset; /* "" if the record has none */
	int64_t epoch, record;	    /* epoch from 0; record number from 1 */
};

struct contrast;

/* Dies if a column is missing or the stream is of another tokenizer. */
struct contrast *contrast_open(
    const char *path, struct model *model, const struct contrast_options *options);
void contrast_close(struct contrast *contrast);

/* The next batch, borrowed until the next call; false at the end, or when another rank has left.  Dies naming the record. */
bool contrast_next(struct contrast *contrast, struct contrast_batch *batch);

/* Name of texts that stand alone; NULL: there are pairs. */
const char *contrast_alone(const struct contrast *contrast);

/* Back to the first batch of a file; the position starts anew, too. */
void contrast_rewind(struct contrast *contrast);

/* Reads the next record now, if that does not wait for the stream.  Invalidates the batch. */
void contrast_prepare(struct contrast *contrast);

/* leave tells the other ranks that this one has no more batches; false: they are not waiting.  left: has another rank left? */
bool contrast_leave(struct contrast *contrast);
bool contrast_left(const struct contrast *contrast);

/* The number of batches in all epochs: counted in a file, the property of standard input; -1: not known. */
int64_t contrast_total(struct contrast *contrast);

/*
 * The position of a run: the number of batches taken, the hash of all that is trained on in them (the same for any number of
 * ranks), the last one's attribute "step" (-1: none), the hash of the precomputed embeddings (0: none).  contrast_resume goes there:
 * past that many records, whose hash must be equal; or at once, if the stream's first record has the next step.
 */
struct contrast_position {
	int64_t taken, step;
	uint64_t hash, documents;
};
struct contrast_position contrast_position(const struct contrast *contrast);
void contrast_resume(struct contrast *contrast, const struct contrast_position *position);
const char *contrast_name(const struct contrast *contrast);
struct tree *contrast_about(const struct contrast *contrast); /* stream_about */

#endif
