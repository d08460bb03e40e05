/*
 * table_rows - which row of a table of static embeddings a token has, and what it counts there: model2vec's tensors
 * "mapping" and "weights" of vocabularies in which tokens share rows.
 */
#ifndef MODEL_TABLE_ROWS_H
#define MODEL_TABLE_ROWS_H

#include <stdint.h>

#include "folder/safetensors.h"

struct table_rows {
	int count;     /* of tokens; 0: each has a row of its own, and counts 1 */
	int32_t *row;  /* [count]; NULL: its own */
	float *weight; /* [count]; NULL: 1 */
};

/* Read both of a table of so many rows.  Dies naming the tensor that has not a number for each token, a row that is not
 * there, or a weight that is not finite. */
void table_rows_read(struct table_rows *rows, const struct safetensors *file, int table);
void table_rows_free(struct table_rows *rows);

#endif
