/*
 * cast - writes columns of vectors as another kind of numbers: floats of 32 or 16 bits, codes of 8 bits, single bits (coded.h).
 *
 *	struct cast *cast = cast_new(in, out, CAST_I8, NULL);	after the last stream_add
 *	cast_column(cast, emb);
 *	while (...) {
 *		struct record *made = stream_make(out, &record);
 *		made->columns[emb].data = ...;			as if it were not cast
 *		cast_put(cast, made);
 *	}
 *	cast_finish(cast);
 *	stream_finish(out);
 *
 * The ranges of CAST_I8 are those of the vectors in the file `ranges`, or its own if they are codes of 8 bits already.  Without
 * a file they are those of the first records that have CAST_SAMPLE vectors together, which memory holds until then.
 */
#ifndef STREAM_CAST_H
#define STREAM_CAST_H

#include "stream/stream.h"

enum cast_kind { CAST_F32, CAST_F16, CAST_I8, CAST_BIT };
#define CAST_KINDS "f32|f16|i8|bit"
enum { CAST_SAMPLE = 10000 };

struct cast;

/* in: the stream that columns are passed from.  ranges: a stream, borrowed, or NULL. */
struct cast *cast_new(
    const struct reader *in, struct writer *out, enum cast_kind kind, const char *ranges);

/* Keeps the first `numbers` of each vector (Matryoshka); 0: all, as at first.  Call before cast_column. */
void cast_keep(struct cast *cast, int numbers);

/* Whether `index` is written, as vectors that can be cast; `usual`: and called emb, X.emb or X.tokens. */
bool cast_fits(const struct cast *cast, int index, bool usual);

/* Casts a column of made records that fits.  Dies if its vectors are shorter than those to keep. */
void cast_column(struct cast *cast, int index);

/* stream_put of the record.  Dies on NaN and infinity, and numbers too large for f16. */
void cast_put(struct cast *cast, struct record *made);

/* Writes the records held, and frees. */
void cast_finish(struct cast *cast);

#endif
