/*
 * zip - a zip file in memory whose entries are stored as they are, used where they lie.
 *
 * Every rule of the format that reading depends on is enforced before anything is used: entries lie
 * before the list of them, in its order and without overlap, what stands before each says the same as
 * the list, names are unique.  What is compressed, encrypted or spread over several
 * files is refused.  Large files (zip64) are read.  Check sums are not looked at.
 */
#ifndef FOLDER_ZIP_H
#define FOLDER_ZIP_H

#include <stddef.h>

struct zip_entry {
	char *name;
	const char *data; /* in the file */
	size_t size;
};

struct zip {
	struct zip_entry *entries; /* by name */
	size_t count;
};

/* path: for messages. */
struct zip *zip_read(const char *path, const char *file, size_t size);

/* NULL when no entry has that name. */
const struct zip_entry *zip_find(const struct zip *zip, const char *name);
void zip_free(struct zip *zip);

#endif
