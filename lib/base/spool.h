/*
 * spool - bytes kept in a file without a name until all of them are there: it vanishes with the
 * program, however that ends.
 */
#ifndef BASE_SPOOL_H
#define BASE_SPOOL_H

#include <stddef.h>
#include <stdio.h>

/* Zeroed: nothing yet.  `folder` is where the file is made; NULL: $TMPDIR, else /tmp. */
struct spool {
	const char *folder;
	FILE *file;
	size_t bytes;
	void *map;
};

void spool_write(struct spool *spool, const void *bytes, size_t count);

/* For pread; all that was written can be read. */
int spool_descriptor(struct spool *spool);

/* All of it; nothing may be written any more. */
const void *spool_map(struct spool *spool);
void spool_free(struct spool *spool);

#endif
