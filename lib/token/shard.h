/*
 * shard - the K-th of N parts of text files, found by its offsets: what is before it is not read.
 *
 * The bytes of the files, one after another, are cut into N parts of equal size, and a record is of
 * the part that its first byte lies in: each is of one, and the parts one after another are the
 * files.  A line of names is of none.  Of CSV, whose values may hold line ends, what is before the
 * part is read, too, but only for its quotes.
 */
#ifndef TOKEN_SHARD_H
#define TOKEN_SHARD_H

#include <stdint.h>

#include "text/datafile.h"

struct shard {
	int64_t number, count; /* from 1; count 0: no part but everything */
};

/* "3/64"; dies with usage, naming `option`, on anything else. */
struct shard shard_parse(const char *option, const char *text);

/* What one of the files has of a part. */
struct shard_piece {
	const char *path;
	int64_t size, low, high; /* of the file; which of its bytes are of the part */

	/* of one that is open: */
	char *name; /* for messages whose lines count from the first of the piece */
	int descriptor;
	enum datafile_format format;
	char end;	  /* of its lines */
	int64_t from, to; /* its records are here; equal: there are none */
};

/* Of each file a piece, to be freed; the paths are borrowed.  Dies on standard input, and on what is
 * no regular file. */
struct shard_piece *shard_pieces(struct shard shard, char *const *paths, int count);

/* The file from its beginning, for datafile_seek(file, piece->from, piece->to, 1) and
 * datafile_rename(file, piece->name).  Dies where it is packed. */
struct datafile *piece_open(
    struct shard_piece *piece, struct shard shard, enum datafile_format format);

/* After datafile_close. */
void piece_close(struct shard_piece *piece);

#endif
