/*
 * text_batch - the texts of a column "X.ids" of a record as sequences for a model, each with its task expert, its adapter
 * and the length of its prompt.
 *
 * The expert of a text is named by its row in the text column "X.expert", else by the record's attribute experts{X}, else by
 * a default.  In a checkpoint with LoRAs for tasks (model/task_loras.h) these name the adapter, -1 if no task is given.
 * Otherwise the text column "X.gate", or "gate", names the adapter of each row or of each text: -1 if the name is empty, 0
 * without such a column.  The attribute prompt_tokens{X} is the length of the prompt.
 *
 * Column "X.second": where the second text of each pair begins.  Column "X.attended", of queries of a late-interaction model: the
 * number of tokens that attention sees.
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
 * Borrows name and expert_name. */
struct token_column text_batch_column(const struct reader *in, int ids, const char *name,
    const char *expert_name, bool adapters);

/* Adds the texts of a column of the record; returns the first of them, sequences[count before]. */
struct sequence *text_batch_add(struct text_batch *batch,
    const struct token_column *column, const struct record *record);
void text_batch_free(struct text_batch *batch);

#endif
