/*
 * classifier - logistic regression or k nearest neighbours, fitted to a stream of labelled embeddings.
 *
 * A saved classifier is a stream with one row per class, in scikit-learn's order: label (text, i64 or f64),
 * weights f64 [width], intercept f64; and the properties "model" and "emb" of the training embeddings (mts(5)).
 * The class probabilities are softmax(weights . x + intercept).
 */
#ifndef SCORE_CLASSIFIER_H
#define SCORE_CLASSIFIER_H

#include <stdbool.h>
#include <stdint.h>

#include "search/vectors.h"

enum classifier_method { CLASSIFIER_LOGISTIC, CLASSIFIER_NEIGHBOURS };

struct classifier_options {
	const char *field; /* FIELD.emb; NULL: the only embeddings */
	const char *label; /* column; NULL: "label" */
	enum classifier_method method;
	int neighbours;
};

struct classifier;

/* Fits to a stream ("-": standard input).  Dies if the stream has no row, a row without a label, a vector with NaN or
 * infinity, only one label, or fewer rows than neighbours. */
struct classifier *classifier_fit(
    const char *path, const struct classifier_options *options);

/* Logistic regression only. */
void classifier_save(const struct classifier *classifier, const char *path);

/* Dies if the stream is not a saved classifier. */
struct classifier *classifier_load(const char *path);

/* Dies unless the vectors have the classifier's width and, as far as headers say, are of the same model and kind.
 * `any_model`: checks the width only. */
void classifier_agree(
    const struct classifier *classifier, const struct vectors *vectors, bool any_model);

/* The type of the label column; its name is NULL. */
struct column classifier_column(const struct classifier *classifier);

/* Returns the predicted labels of x [n, width] as n rows of classifier_column, borrowed until the next call;
 * writes the labels' probability [n]. */
struct array classifier_predict(
    struct classifier *classifier, const float *x, int64_t n, double *probability);

void classifier_free(struct classifier *classifier);

#endif
