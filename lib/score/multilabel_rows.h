/*
 * multilabel_rows - the rows of a stream with vectors and lists of labels, and mteb's samples of them.
 */
#ifndef SCORE_MULTILABEL_ROWS_H
#define SCORE_MULTILABEL_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/pcg64.h"
#include "base/strings.h"
#include "score/labels.h"
#include "score/row_subset.h"
#include "score/score.h"
#include "stream/text_column.h"

struct multilabel_rows {
	const char *path;
	struct labelled_stream stream; /* open until multilabel_read */
	bool text;		       /* labels are text, else numbers */
	struct row_subset subset;
	struct numbers label;	/* numbers in `names`, as the lists have them */
	struct numbers starts;	/* [n + 1]: row i has the labels from starts[i] */
	struct text_column ids; /* of the rows */
	int64_t n;
};

/* Opens the stream and its columns.  Dies if labels are not in lists. */
struct multilabel_rows multilabel_open(
    const char *path, const struct score_options *options);

/* Reads all rows and closes the stream; numbers new labels in `names`.  The vectors are those of `subset`
 * (row_subset_fetch).  Dies if there is no row. */
void multilabel_read(struct multilabel_rows *rows, struct strings *names, bool ids);

/*
 * Training rows of an experiment: shuffles all rows and takes a row if one of its labels has fewer than `most` rows so
 * far; `labels`: the number of names.  The generator goes on from experiment to experiment.  Returns the rows, to be
 * freed, in the order taken.
 */
struct numbers multilabel_undersample(
    const struct multilabel_rows *rows, int64_t labels, int most, struct pcg64 *pcg);

/* The rows to score: all, or if there are more than `most`, about so many by stratify_labels.  The caller frees them. */
struct numbers multilabel_sample(const struct multilabel_rows *rows,
    const struct strings *names, int64_t most, uint32_t seed);
void multilabel_free(struct multilabel_rows *rows);

#endif
