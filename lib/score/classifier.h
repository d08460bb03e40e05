/*
 * classifier - learnt from a stream of labelled embeddings, tells the label of others.
 *
 * Kept, it is a stream with a row a class, in scikit-learn's order: label (text, i64 or f64), weights f64 [width],
 * intercept f64; with the properties "model" and "emb" of the embeddings that it learnt from (mts(5)).  The
 * probabilities of the classes are the softmax of weights . x + intercept.
 */
#ifndef SCORE_CLASSIFIER_H
#define SCORE_CLASSIFIER_H

#include <stdbool.h>
#include <stdint.h>

#include "search/vectors.h"

enum classifier_method { CLASSIFIER_LOGISTIC, CLASSIFIER_NEIGHBOURS };

struct classifier_options {
	const char *field; /* NULL: the only embeddings */
	const char *label; /* column; NULL: "label" */
	enum classifier_method method;
	int neighbours;
};

struct classifier;

/* Learns from a stream ("-": standard input).  Dies, naming the stream, where it has no row, a row without label or
 * with a vector that is not finite, one label only, or fewer rows than neighbours. */
struct classifier *classifier_fit(
    const char *path, const struct classifier_options *options);

/* Only of logistic regression. */
void classifier_save(const struct classifier *classifier, const char *path);

/* Dies, naming it, on a stream that is none. */
struct classifier *classifier_load(const char *path);

/* Dies, naming both, unless vectors have its width and, as far as headers tell, are of its model and kind;
 * `any_model`: they may be of another. */
void classifier_agree(
    const struct classifier *classifier, const struct vectors *vectors, bool any_model);

/* The column of its labels, without a name. */
struct column classifier_column(const struct classifier *classifier);

/* Of x [n, width] the labels, as that column of n rows, borrowed until the next call, and their probabilities [n]. */
struct array classifier_predict(
    struct classifier *classifier, const float *x, int64_t n, double *probability);

void classifier_free(struct classifier *classifier);

#endif
