/*
 * spool - collects bytes in an unnamed temporary file, which the system removes when the program ends.
 */
#ifndef BASE_SPOOL_H
#define BASE_SPOOL_H

#include <stddef.h>
#include <stdio.h>

/* Zeroed: empty.  folder: where the file is made; NULL: $TMPDIR, else /tmp. */
struct spool {
	const char *folder;
	FILE *file;
	size_t bytes;
	void *map;
};

void spool_write(struct spool *spool, const void *bytes, size_t count);

/* A descriptor for pread of all bytes written so far. */
int spool_descriptor(struct spool *spool);

/* Maps the file; no spool_write after that.  Valid until spool_free. */
const void *spool_map(struct spool *spool);
void spool_free(struct spool *spool);

#endif
