/*
 * collate - writes the texts of drawn examples as records of a stream; tasksample(1) has the columns and attributes.
 *
 * Dies with FILE:LINE on an example without the recipe's fields; collate_new reads the first of each data set.
 */
#ifndef SAMPLE_COLLATE_H
#define SAMPLE_COLLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/pairs.h"
#include "sample/recipe.h"
#include "sample/sampler.h"
#include "stream/stream.h"

struct collate;

/* Adds the columns to the stream.  in_order: for --all, a batch has one data set, and lists give their first text.  Arguments
 * are borrowed. */
struct collate *collate_new(const struct recipe *recipe, struct pairs *const *sets,
    struct writer *out, bool in_order);

/* Writes a slice of the batch as a record; with several ranks, with its position in the batch. */
void collate_put(
    struct collate *collate, const struct draw *draw, const struct rank_slice *slice);

/* The keys of an example, for sampler_no_duplicates; `context` is a struct collate, whose stream may be NULL. */
sampler_keys collate_keys;
void collate_free(struct collate *collate);

#endif
