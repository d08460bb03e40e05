/*
 * zip - finds the entries of a zip file in memory, without copying.
 *
 * Supports zip64.  Refuses compressed, encrypted and multi-part files.  The reader checks the format before anything
 * is used: entries lie before the central directory, in its order and without overlap; local headers agree with it;
 * names are unique.  Checksums are not verified.
 */
#ifndef FOLDER_ZIP_H
#define FOLDER_ZIP_H

#include <stddef.h>

struct zip_entry {
	char *name;
	const char *data; /* borrowed from the file */
	size_t size;
};

struct zip {
	struct zip_entry *entries; /* [count], sorted by name */
	size_t count;
};

/* path: for messages. */
struct zip *zip_read(const char *path, const char *file, size_t size);

/* Returns NULL if no entry has that name. */
const struct zip_entry *zip_find(const struct zip *zip, const char *name);
void zip_free(struct zip *zip);

#endif
