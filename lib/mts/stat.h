/*
 * stat - what a whole stream holds: a line of figures for each column.
 */
#ifndef MTS_STAT_H
#define MTS_STAT_H

#include "stream/stream.h"

/*
 * Read the stream to its end and print, on standard output: records and rows; a table with a
 * line a column - kind; values (numbers, or strings of text); smallest, largest and mean of
 * what is finite; mean Euclidean length of vectors; how many NaN and infinite; length of the
 * lists (text: bytes) smallest, mean, largest; how many are empty.
 */
void stat_print(struct reader *reader);

#endif
