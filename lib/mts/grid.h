/*
 * grid - a table for people: columns as wide as their widest cell, two blanks between.
 */
#ifndef MTS_GRID_H
#define MTS_GRID_H

#include "base/buffer.h"

struct text_grid;

/* A letter a column: l text, to the left; r numbers, to the right. */
struct text_grid *grid_new(const char *columns);

/* Adds the next cell, row by row, and takes the text over.  Invalid UTF-8 and harmful characters become "?". */
void grid_add(struct text_grid *grid, char *cell);

/* All rows, each a line; also frees. */
void grid_print(struct text_grid *grid);

#endif
