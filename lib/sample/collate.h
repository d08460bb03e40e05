/*
 * collate - the texts of drawn examples as records of a stream; columns and attributes are
 * in tasksample(1).
 *
 * Dies on an example without the recipe's fields, with FILE:LINE; on the first one of a data
 * set already in collate_new.
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

/* Adds the columns to the stream.  in_order: for --all, where a batch has
 * one data set and lists of texts give their first.  Everything is borrowed. */
struct collate *collate_new(const struct recipe *recipe, struct pairs *const *sets,
    struct writer *out, bool in_order);

/* Write a slice of the batch as a record, with where it lies in the batch if there are several ranks. */
void collate_put(
    struct collate *collate, const struct draw *draw, const struct slice *slice);

/* The keys of an example, for sampler_apart; `context` is a struct collate.  The stream may
 * be NULL when nothing is to be written. */
sampler_keys collate_keys;
void collate_free(struct collate *collate);

#endif
