/*
 * score - the task types of MTEB: each reads streams and fills in a report.
 *
 * Options that mean nothing to a type are not looked at; what is missing, or does not fit
 * together, dies.  Vectors are "FIELD.emb".
 */
#ifndef SCORE_SCORE_H
#define SCORE_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "score/measure/ranking.h"
#include "score/per_query.h"
#include "score/report.h"
#include "search/similarity.h"

struct score_options {
	const char *files[2];	    /* streams; "-", standard input, may be one of them */
	const char *fields[2];	    /* NULL: the usual ones, or the only embeddings */
	enum similarity similarity; /* SIMILARITY_OF_MODEL: as streams say */
	enum protocol protocol;
	bool any_model;	   /* two streams need not be of one model */
	const char *label; /* column; NULL: "label" or "labels" */
	uint32_t seed;
	int experiments;
	int samples; /* of an experiment; 0: the type's own, 8 a label or 16384 */
	int batch;   /* of k-means; 0: the type's own, 500 or 512 */

	/* filled in unless NULL: a line a query (retrieval), row (reranking, classification's test
	 * stream), text (summarization), pair (sts, pairclassification) or set (clustering) */
	struct per_query *per_query;

	/* retrieval, reranking; 1000 at most, for no more documents a query are looked at */
	struct cuts cuts;

	/* retrieval */
	const char *qrels;	/* path; NULL: nothing is judged, all is searched for */
	const char *from_run;	/* path of a run to judge instead of two streams */
	const char *candidates; /* path: what each query is compared with; NULL: all */
	const char *run;	/* where to write what was found, or NULL */
	int64_t top;		/* documents a query there */
	bool ignore_identical;	/* drop the document that is called as the query */
	size_t memory;		/* that queries, hits and documents may take; 0: any */
	bool exponential;	/* gain 2^grade - 1 instead of grade */
	bool complete;		/* judged queries without hits count as 0 */

	/* classification, clustering */
	double
	    legacy_sum; /* weight of fields[1] beside fields[0] (legacy_sum.h); 0: one field alone */

	/* classification */
	const char *train; /* path of the training stream */
	bool reference;	   /* stop the regression where scikit-learn does */

	/* clustering */
	const char *set;  /* column; NULL: "set" */
	bool by_choice;	  /* draw as scikit-learn 1.9, not as 1.3 to 1.8 */
	double documents; /* fast: rows to draw from; below 1: that share; 0: all */
};

/*
 * Semantic textual similarity: how well the similarity of two texts follows people's judgement.
 * Main score: Spearman's correlation of the cosine.
 *
 * Reads what text_pairs(.h) reads, the numbers from "score".  Both protocols are alike here.
 *
 *	pearson, spearman			of the model's own similarity
 *	{cosine,manhattan,euclidean}_{pearson,spearman}
 */
void score_sts(struct report *report, const struct score_options *options);

/*
 * Whether a threshold on the similarity of two texts tells pairs that belong together (label 1)
 * from others (0).  Main score: max_ap.
 *
 * Reads what text_pairs(.h) reads, the numbers from "label" or "labels".  For the model's own
 * similarity, cosine, Manhattan and Euclidean distance and dot product:
 *
 *	ap		average precision; equal similarities enter together
 *	accuracy, f1	at the best threshold, halfway between two neighbours; never below the last
 *	precision, recall	at the threshold of the best F1
 *
 * and max_ap, ... over the five.  v1 cuts between equal similarities too, in the order of
 * the rows; v2 (since 2.20) does not.
 */
void score_pairclassification(struct report *report, const struct score_options *options);

/*
 * Whether a query is more alike to its positive texts than to its negative ones.  Main score: map
 * (v1), map_at_1000 (v2).
 *
 * Reads "query.emb" (a vector a row, or a list of several queries), "positive.emb" and
 * "negative.emb" (lists).  Rows without a positive or without a negative text are left out.
 *
 * v1: a text's score is its greatest similarity to any of the queries; map is the mean average
 * precision, equal scores together, mrr the mean 1 / rank of the first positive among the
 * first 10, equal scores in the order of the row, positives first; nAUC_map_*, nAUC_mrr_*.
 * v2: the measures of ranking(.h), the candidates of a row being its corpus; equal scores rank
 * negatives first, as the ids that mteb makes for them have it.  Of several queries in a row each
 * counts for itself, and max_over_subqueries_* are of the greatest similarity to any; then
 * the main score is max_over_subqueries_map_at_1000.
 */
void score_reranking(struct report *report, const struct score_options *options);

/*
 * Whether machine-made summaries that are more alike to human ones were judged better.  Main
 * score: cosine_spearman.
 *
 * Reads "human_summaries.emb" and "machine_summaries.emb" (lists of vectors) and "relevance" (a
 * list of numbers, one a machine summary).  A machine summary's score is its greatest similarity
 * to a human one; scores and relevance are correlated text by text, and the mean taken:
 *
 *	pearson, spearman	of the model's own similarity
 *	{cosine,dot}_{pearson,spearman}
 *
 * v1: of (correlation + its two-sided p) / 2, which is what mteb's SummEval reports to this day
 * (a known fault, kept to be comparable); v2: of the correlation, as SummEvalSummarization.v2.
 * Texts of which all relevances, all cosines or all dot products are equal are left out.
 */
void score_summarization(struct report *report, const struct score_options *options);

/*
 * Find the documents of a corpus that answer a query.  Main score: nDCG@10.
 *
 * Reads two streams, queries and corpus, each with vectors and "_id" or "id", or a run (run.h)
 * that some search has made; qrels from a file.  The best 1000 documents a query (all of a
 * run's); trec_eval's order (score in float32, descending, then id descending as bytes); the
 * measures of ranking(.h).  The corpus is streamed: memory holds the queries, their hits and the
 * documents' ids.
 */
void score_retrieval(struct report *report, const struct score_options *options);

/*
 * How well a linear classifier on the embeddings tells the labels.  Main score: accuracy.
 *
 * Reads two streams, train and test, each with vectors and a label (text or number).
 * MTEB's protocol: ten experiments; each draws the reference's sample of the training rows (8 a
 * label; numpy's shuffle from seed 42, the permutations composing), fits a logistic
 * regression and predicts the whole test stream; the scores are means over experiments.
 * Memory: where the training stream is a file, it is read twice, for the labels and for the
 * rows that are trained on, and only those are kept; else all of it is.  The test stream passes by,
 * leaving 4 bytes a row and experiment.
 */
void score_classification(struct report *report, const struct score_options *options);

/*
 * Whether mini-batch k-means finds the labels again.  Main score: V-measure, the mean over sets of
 * texts.
 *
 * Reads either one text a row (a vector, "label"; the whole stream is one set, or rows with an
 * equal "set" column are), or MTEB's rows, each of which is a set (lists of vectors, "labels"
 * lists).  As many clusters as the set has labels, batches of 500, seed 42 for each set.
 */
void score_clustering(struct report *report, const struct score_options *options);

/*
 * MTEB's quick clustering: how well mini-batch k-means finds the labels in samples of a sample.
 * Main score: V-measure, the mean over levels and experiments.
 *
 * Reads one text a row: a vector and "label" or "labels", text or number, or a list of them, the
 * levels of a hierarchy; or MTEB's older rows, each a set (lists of vectors, "labels" lists), whose texts are
 * taken one after the other.  `documents` texts are drawn by Python's Random(seed).sample; then for
 * each level and experiment, the generator going on, `samples` of them by choices (with
 * replacement), and clustered into as many clusters as the level has labels.
 *
 * A row whose list of labels is too short for some level: as in the reference, left out of the level where labels are
 * numbers (and so are rows with the number -1), with the label "-1" where they are text.
 *
 * Memory: a file is read twice, so that only the vectors of the rows that were drawn are
 * kept; from a pipe all are.
 */
void score_clustering_fast(struct report *report, const struct score_options *options);

#endif
