/*
 * grid - a table for people: columns as wide as their widest cell, two blanks between.
 */
#ifndef MTS_GRID_H
#define MTS_GRID_H

#include "base/buffer.h"

struct text_grid;

/* A letter a column: l text, to the left; r numbers, to the right. */
struct text_grid *grid_new(const char *columns);

/* The next cell, row by row; takes the text over.  What in it is no plain text becomes "?". */
void grid_add(struct text_grid *grid, char *cell);

/* All rows, each a line; also frees. */
void grid_print(struct text_grid *grid);

#endif
