/*
 * guide - embeddings of a batch's texts by another model, which say what a false negative is (Solatorio 2024, GISTEmbed).
 *
 *	query.emb, document.emb		f32, f16 or bf16 [width], a row each
 *	negatives.emb			lists of them, needed if there are negatives
 * or, of texts alone under one name,
 *	text.emb			likewise
 * encode -m GUIDE makes them; mts paste puts them beside the ids.
 */
#ifndef TRAIN_GUIDE_H
#define TRAIN_GUIDE_H

#include <stdint.h>

#include "stream/stream.h"
#include "stream/values.h"

struct guide {
	int columns[3]; /* of queries, documents, negatives; -1: there are no negatives */
	int width;
	/* of the last record */
	float *vectors; /* [queries + documents + negatives, width] */
	size_t room;
	struct floats floats;
};

/* Finds the columns; dies if one is missing or their widths differ.  alone: the name of texts that are no pairs; NULL: queries and
 * documents.  negatives: the column negatives.ids; -1: none. */
void guide_open(
    struct guide *guide, const struct reader *reader, const char *alone, int negatives);

/* Fills `vectors`; dies, naming the record, if there is not one of each text or a component is not finite. */
void guide_take(struct guide *guide, const struct reader *reader,
    const struct record *record, const int64_t counts[3]);
void guide_free(struct guide *guide);

#endif
