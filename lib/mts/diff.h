/*
 * diff - whether two streams hold the same, within a tolerance.
 */
#ifndef MTS_DIFF_H
#define MTS_DIFF_H

#include "stream/stream.h"

/*
 * Compare the columns of two streams by name, row by row, and print on standard output what
 * differs: for each column the first place with both values, and the largest error.  Numbers
 * x and y agree when |x - y| <= absolute + relative |y|, NaN with NaN, whatever their dtypes;
 * text and lists agree when they are equal in length and content.  Properties, history, attributes and
 * the borders of records are not looked at.  True when nothing differs.
 */
bool diff_streams(
    struct reader *one, struct reader *two, double absolute, double relative);

#endif
