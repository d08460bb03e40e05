/*
 * table_rows - the row and the weight of each token in a table of static embeddings: model2vec's tensors "mapping" and
 * "weights", of vocabularies in which tokens share rows.
 */
#ifndef MODEL_TABLE_ROWS_H
#define MODEL_TABLE_ROWS_H

#include <stdint.h>

#include "folder/safetensors.h"

struct table_rows {
	int count;     /* tokens; 0: each token has its own row, and weight 1 */
	int32_t *row;  /* [count]; NULL: its own */
	float *weight; /* [count]; NULL: 1 */
};

/* Read both tensors for a table of `table` rows.  Dies naming the tensor if a token has no number, no such row, or a weight that
 * is not finite. */
void table_rows_read(struct table_rows *rows, const struct safetensors *file, int table);
void table_rows_free(struct table_rows *rows);

#endif
