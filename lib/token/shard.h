/*
 * shard - selects the K-th of N shards of text files by byte offsets, without reading the bytes before it.
 *
 * The concatenated files are divided into N ranges of equal size; a record belongs to the shard of its first byte.  So
 * each record is in one shard, and the shards in order are the files.  Header lines belong to no shard.  In CSV, whose
 * values may contain line ends, the bytes before the shard are read to count quotes.
 */
#ifndef TOKEN_SHARD_H
#define TOKEN_SHARD_H

#include <stdint.h>

#include "text/datafile.h"

struct shard {
	int64_t number, count; /* from 1; count 0: everything */
};

/* Parses "3/64"; usage error for `option` on anything else. */
struct shard shard_parse(const char *option, const char *text);

/* The range of one file that belongs to a shard. */
struct shard_piece {
	const char *path;
	int64_t size, low, high; /* file size; bytes low..high-1 belong to the shard */

	/* set by piece_open: */
	char *name; /* for messages; line numbers count from the start of the range */
	int descriptor;
	enum datafile_format format;
	char end;	  /* line end */
	int64_t from, to; /* bytes of its records; equal: none */
};

/* Returns a piece for each file [count], to be freed; the paths are borrowed.  Dies on standard input and on anything
 * that is not a regular file. */
struct shard_piece *shard_pieces(struct shard shard, char *const *paths, int count);

/* Opens the file at its start; then call datafile_seek(file, piece->from, piece->to, 1) and
 * datafile_rename(file, piece->name).  Dies if the file is compressed. */
struct datafile *piece_open(
    struct shard_piece *piece, struct shard shard, enum datafile_format format);

/* Call after datafile_close. */
void piece_close(struct shard_piece *piece);

#endif
