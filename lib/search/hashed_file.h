/*
 * hashed_file - writes a file of an index from an offset on, with a checksum of the bytes written.
 *
 * The checksum is XXH3 of 64 bits, which finds damage and is no protection against forgery.
 */
#ifndef SEARCH_HASHED_FILE_H
#define SEARCH_HASHED_FILE_H

#include <stddef.h>
#include <stdint.h>

enum { HASH_ROOM = 17 }; /* 16 hexadecimal digits and a NUL */

void hash_bytes(char hash[HASH_ROOM], const void *bytes, size_t count);

struct hashed_file;

/* Makes the file, or cuts it to `size` bytes and writes behind them.  Dies if it is shorter. */
struct hashed_file *hashed_file_open(const char *path, uint64_t size);
void hashed_file_write(struct hashed_file *file, const void *bytes, size_t count);

/* Syncs, closes and frees.  Writes the checksum. */
void hashed_file_end(struct hashed_file *file, char hash[HASH_ROOM]);

#endif
