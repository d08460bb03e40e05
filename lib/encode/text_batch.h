/*
 * text_batch - the texts of a column "X.ids" of a record as sequences for a model, each with its task expert, its adapter
 * and the length of its prompt.
 *
 * The expert of a text is what its row has in the text column "X.expert", or else the record's attribute experts{X}, or
 * else a default; in a checkpoint with LoRAs for tasks (model/task_loras.h) the adapter is chosen so, -1 where no task is
 * given.  The adapter of a text is what its row, or the row's list, has in the text column "X.gate", or "gate", -1 where
 * that is empty; without such a column 0.  The prompt is as long as the attribute prompt_tokens{X} says.
 *
 * Of pairs of texts the column "X.second" has the place where the second begins.  Of queries of a late-interaction model
 * "X.attended" has the number of tokens that attention sees.
 *
 * All functions die naming stream, record and what is wrong.
 */
#ifndef ENCODE_TEXT_BATCH_H
#define ENCODE_TEXT_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "model/batch.h"
#include "model/model.h"
#include "stream/stream.h"

struct token_column {
	const char *name; /* X; borrowed */
	const char *
	    expert_name; /* X of the expert's column and attribute: negatives have the documents'; borrowed */
	int ids, expert, adapter, second,
	    attended; /* columns of the stream; -1: there is none */
};

struct text_batch {
	const struct model *model;
	const struct reader *in;
	const char *expert; /* default; NULL: none */
	bool empty;	    /* texts without tokens are allowed */
	const char *advice; /* ends the message of a text without tokens; NULL: nothing */
	int64_t count;
	struct sequence *sequences; /* [count]; ids borrowed from the record */
	size_t room;
};

/* The task expert, or adapter, of the option --expert (model_expert); dies where the model has none for that task. */
int text_batch_option(const struct model *model, const char *task);

/* The column of ids of index `ids`, called "X.ids", with the X.expert beside it, and with `adapters` the one of adapters.
 * name and expert_name are those that are given. */
struct token_column text_batch_column(const struct reader *in, int ids, const char *name,
    const char *expert_name, bool adapters);

/* Adds the texts of a column of the record; returns the first of them, sequences[count before]. */
struct sequence *text_batch_add(struct text_batch *batch,
    const struct token_column *column, const struct record *record);
void text_batch_free(struct text_batch *batch);

#endif
