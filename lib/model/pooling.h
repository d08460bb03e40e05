/*
 * pooling - which poolings make an embedding of a text's hidden states: sentence-transformers' module Pooling (1_Pooling).
 */
#ifndef MODEL_POOLING_H
#define MODEL_POOLING_H

#include <stdbool.h>

#include "model/head.h"

/* Reads pools, pool and include_prompt from FOLDER/config.json; dies, naming the key, of a pooling that is not known. */
void pooling_read(struct head *head, const char *folder);

/* Writes DIR/1_Pooling/config.json: booleans, whose order is fixed; poolings in another order as a list of modes.  width: of a
 * hidden state. */
void pooling_write(const struct head *head, const char *dir, int width);

/* Sets the poolings: "cls", "mean", "max", "mean_sqrt", "weighted", "last", or several joined by '+'; other_pool, if they are not
 * those before.  False: unknown. */
bool pooling_set(struct head *head, const char *text);

#endif
