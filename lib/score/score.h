/*
 * score - the task types of MTEB: each function reads streams of embeddings and fills in a report.
 *
 * A type ignores options that do not apply to it, and dies if a column is missing or columns do not
 * match.  Vectors are columns FIELD.emb, f32 [width].
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

/* Scores of groups of queries (instructions.h). */
enum instruction_score {
	INSTRUCTION_NONE,
	INSTRUCTION_ROBUSTNESS,
	INSTRUCTION_PAIRS,
	INSTRUCTION_LEVELS,
	INSTRUCTION_SUBQUERIES /* subqueries.h */
};

struct score_options {
	const char *files[2];	    /* streams; one of them may be "-", standard input */
	const char *fields[2];	    /* NULL: the usual ones, or the only embeddings */
	enum similarity similarity; /* SIMILARITY_OF_MODEL: the stream's */
	enum protocol protocol;
	bool any_model; /* accept two streams of different models */
	const char *
	    label; /* column; NULL: "label" or "labels"; regression: "value" or "label" */
	uint32_t seed;
	int experiments;
	int samples; /* per label (classifications, default 8) or per experiment (clustering-fast 16384, regression 2048); 0: default */
	int batch;   /* of k-means; 0: default, 500 or 512 (clustering-fast) */

	/* filled in unless NULL: one line per query (retrieval), row (reranking, the test stream of classifications
	 * and regression), text (summarization), pair (sts, pairclassification) or set (clustering) */
	struct per_query *per_query;

	/* retrieval, reranking; at most 1000, the depth of the rankings, but of a given run any */
	struct cuts cuts;

	/* retrieval */
	const char *qrels;    /* path; NULL: search for all queries, score none */
	const char *from_run; /* path of a run to score, instead of two streams */
	const char
	    *candidates;       /* path: the documents to rank for each query; NULL: all */
	const char *run;       /* path: write the rankings there, or NULL */
	int64_t top;	       /* documents per query in `run` */
	bool ignore_identical; /* drop the document whose id is the query's */
	size_t memory;	       /* bytes for queries, hits and documents; 0: no limit */
	bool exponential;      /* gain 2^grade - 1 instead of grade */
	bool complete;	       /* judged queries without hits count as 0 */
	bool trec;	       /* trec_eval's measures (trec.h) instead of MTEB's */
	int64_t level;	       /* with `trec`: the least relevant grade; 0: 1 */
	bool judged_only;      /* drop hits without a judgement */
	const char *
	    changed; /* path: documents whose relevance an instruction changes; NULL: no p-MRR */
	enum instruction_score groups; /* a further score */

	/* classification, clustering */
	double
	    legacy_sum; /* weight of fields[1] beside fields[0] (legacy_sum.h); 0: only fields[0] */

	const char *train; /* classifications, regression: path of the training stream */

	/* multilabelclassification */
	int64_t test_rows;   /* 0: all */
	struct cuts earlier; /* training rows of the subsets that mteb scores before */

	/* classification */
	bool reference; /* stop the regression where scikit-learn does */

	/* clustering */
	const char *set; /* column; NULL: "set" */
	bool
	    by_choice; /* clustering, regression: as scikit-learn 1.9, not as 1.3 to 1.8 */
	double
	    documents; /* clustering-fast: texts to sample from; below 1: share of all; 0: all */
};

/*
 * Semantic textual similarity: the correlation of similarities with gold scores of text pairs.
 * Main score: Spearman's correlation of the cosine.
 *
 * Reads text pairs (text_pairs.h), the gold scores from "score".  Both protocols give the same scores.
 *
 *	pearson, spearman			of the model's own similarity
 *	{cosine,manhattan,euclidean}_{pearson,spearman}
 */
void score_sts(struct report *report, const struct score_options *options);

/*
 * Binary classification of text pairs (label 1: they match) by a threshold on their similarity.
 * Main score: max_ap.
 *
 * Reads text pairs (text_pairs.h), the labels from "label" or "labels".  For each of the model's
 * similarity, cosine, Manhattan and Euclidean distance and dot product:
 *
 *	ap		scikit-learn's average precision; pairs of equal similarity enter together
 *	accuracy, f1	at the best threshold, halfway between two adjacent similarities; never below the lowest
 *	precision, recall	at the threshold of the best F1
 *
 * and max_ap, ..., the maximum over the five.  v1 puts thresholds also between equal similarities, in row
 * order, as mteb before 2.20; v2 does not.
 */
void score_pairclassification(struct report *report, const struct score_options *options);

/*
 * Bitext mining: the translation of each sentence1 is its nearest among all sentence2, by exact search.
 * Main score: f1.
 *
 * Reads two vectors a row, or two lists of them (text_pairs_open); the right sentence2 is that of the same row, or
 * its number, from 0, in a column "gold".  The first sentence2 wins a tie.
 *
 *	precision, recall, f1	weighted by the sentences of each right sentence2, as scikit-learn's (confusion.h)
 *	accuracy
 *
 * Memory: the vectors of both sides.
 */
void score_bitextmining(struct report *report, const struct score_options *options);

/*
 * Ranking of a query's positive and negative texts by similarity.  Main score: map (v1), map_at_1000 (v2).
 *
 * Reads "query.emb" (one vector per row, or a list: several queries), "positive.emb" and
 * "negative.emb" (lists).  Rows without a positive or without a negative text are left out.
 *
 * v1: a text's score is its maximum similarity over the row's queries.  map: mean average precision, equal
 * scores together; mrr: mean of 1 / rank of the first positive in the top 10, equal scores in row order,
 * positives first; nAUC_map_*, nAUC_mrr_* (abstention.h).
 * v2: the measures of ranking.h over the row's texts; of equal scores negatives rank first, because of
 * the ids that mteb generates.  Each query of a row counts; max_over_subqueries_* use the maximum
 * similarity over the row's queries, and max_over_subqueries_map_at_1000 is then the main score.
 */
void score_reranking(struct report *report, const struct score_options *options);

/*
 * Summaries: the correlation of a machine summary's similarity to human summaries with its relevance, judged by
 * people.  Main score: cosine_spearman.
 *
 * Reads "human_summaries.emb" and "machine_summaries.emb" (lists of vectors) and "relevance" (a list of
 * numbers, one per machine summary).  A machine summary's score is its maximum similarity over the human
 * ones.  The scores are means over texts of the correlation within a text:
 *
 *	pearson, spearman	of the model's own similarity
 *	{cosine,dot}_{pearson,spearman}
 *
 * v1: the mean of (correlation + its two-sided p) / 2, a known fault of mteb's SummEval, kept to be
 * comparable; v2: of the correlation, as SummEvalSummarization.v2.
 * Leaves out texts with constant relevances, cosines or dot products, as mteb does.
 */
void score_summarization(struct report *report, const struct score_options *options);

/*
 * Retrieval: exact search for the documents of each query, scored against qrels.  Main score: nDCG@10.
 *
 * Reads two streams, queries and corpus, each with vectors and "_id" or "id"; or a run (run.h).  Scores the
 * best 1000 documents per query (a run: all of them) in the order of trec_eval and pytrec_eval: score in
 * float32 descending, then id descending as bytes; by the measures of ranking.h.  The corpus is streamed:
 * memory holds the queries, their hits and the documents' ids.
 *
 * With `changed` also p-MRR (instructions.h), which is then the main score, and all measures of the original and of the
 * changed queries, in objects "og" and "changed".  With `groups` also a score of groups of queries (instructions.h).
 * INSTRUCTION_SUBQUERIES merges subqueries into queries (subqueries.h) and adds all their measures as max_over_subqueries_*; the main
 * score is max_over_subqueries_map_at_1000.
 */
void score_retrieval(struct report *report, const struct score_options *options);

/*
 * Classification: logistic regression on the embeddings.  Main score: accuracy.
 *
 * Reads two streams, train and test, each with vectors and a label (text or number).
 * As mteb: ten experiments.  Each draws 8 training rows per label (numpy's shuffle from seed 42, of the permutation of the
 * experiment before), fits a logistic regression and predicts the test stream.  Scores are means over experiments.
 * Memory: the vectors of the sampled training rows (of all rows if the stream is a pipe), and 4 bytes
 * per test row and experiment.
 */
void score_classification(struct report *report, const struct score_options *options);

/*
 * Multilabel classification: the labels of a row are those of most of its five nearest training rows (knn.h).
 * Main score: accuracy.
 *
 * Reads two streams, train and test, each with vectors and "label" or "labels", a list of text or numbers.  As mteb: ten
 * experiments draw training rows until each label has 8, by numpy's Generator (multilabel_rows.h), whose state
 * passes from one experiment to the next, and from one subset of a task to the next (`earlier`).  If there are more than
 * 3000 test rows, a sample of about 3000 is scored, with the labels in proportion (stratify.h).  Labels that no scored test row has are ignored.
 *
 *	accuracy	share of rows whose labels are all right
 *	lrap		label ranking average precision of the predictions, 0 or 1
 *	f1		macro average;  hamming: right labels / labels of either
 *
 * Memory: the vectors of the sampled rows (of all rows if a stream is a pipe), and 8 bytes per label of a row.
 */
void score_multilabelclassification(
    struct report *report, const struct score_options *options);

/*
 * Regression: least squares with an intercept (linear_regression.h).  Main score: kendalltau.
 *
 * Reads two streams, train and test, each with vectors and a number, "value" or "label".  As mteb: ten experiments, each
 * with 2048 training rows, drawn by ten bins of their numbers from seed + experiment (stratify.h); if there are no more
 * rows, all of them, and the experiments are equal.  scikit-learn 1.9 drops singular values below 1e-6 of the greatest,
 * 1.7 and 1.8 below max(rows, width) * 2^-23.
 *
 *	mae, mse, rmse, r2, kendalltau	means over the experiments
 *
 * Memory: the vectors of the sampled training rows (of all rows if the stream is a pipe), twice those of an experiment in
 * double for each thread, and 8 bytes per test row and experiment.
 */
void score_regression(struct report *report, const struct score_options *options);

/*
 * Clustering: mini-batch k-means compared with labels.  Main score: V-measure, mean over sets of texts.
 *
 * Reads one text per row (a vector, "label"; rows with equal "set" are a set, without that column the
 * whole stream), or mteb's rows, each a set (a list of vectors and a list "labels").  As mteb: as many
 * clusters as the set has labels, batches of 500, seed 42 for each set.
 */
void score_clustering(struct report *report, const struct score_options *options);

/*
 * mteb's AbsTaskClusteringFast: mini-batch k-means on bootstrap samples of a sample of the texts.
 * Main score: V-measure, mean over levels and experiments.
 *
 * Reads one text per row: a vector and "label" or "labels", text or number, or a list of them, the
 * levels of a hierarchy; or mteb's older rows, each a set (a list of vectors and a list "labels"), whose texts
 * are concatenated.  Draws `documents` texts by Python's Random(seed).sample; then, from the same generator,
 * for each level and experiment `samples` of them by choices (with replacement), which are clustered into
 * as many clusters as the level has labels.
 *
 * A row without a label at some level: as in mteb, numeric labels leave the row out of the level (so does
 * the label -1); text labels give it the label "-1".
 *
 * Memory: the vectors of the drawn texts; of all texts if the stream is a pipe.
 */
void score_clustering_fast(struct report *report, const struct score_options *options);

#endif
