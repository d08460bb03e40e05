/*
 * rotary - frequencies of rotary positions, as spec.rotary says: one table for a kind of layer, and with dynamic NTK a row
 * for each sequence of a batch that has a long one.
 */
#ifndef MODEL_ROTARY_H
#define MODEL_ROTARY_H

#include "model/batch.h"
#include "model/block.h"

struct model;

/* The tables of the model, inverse[D/2] in memory of the kernels. */
void rotary_open(struct model *model);
void rotary_close(struct model *model);

/* Rows of a batch's own for table `which`, [N,D/2] in the workspace; NULL: the model's table serves it. */
float *rotary_layout(const struct model *model, struct workspace *workspace, int which,
    const struct batch *batch);

/* Fills these rows, and says which frequencies the blocks read. */
struct block_rotary rotary_upload(
    const struct model *model, int which, float *own, const struct batch *batch);

#endif
