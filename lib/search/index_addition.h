/*
 * index_addition - appends the rows of streams to the files of an index.
 */
#ifndef SEARCH_INDEX_ADDITION_H
#define SEARCH_INDEX_ADDITION_H

#include <stdint.h>

#include "base/file.h"
#include "search/codes.h"
#include "search/hashed_file.h"
#include "search/index_changes.h"
#include "search/rows.h"
#include "search/vector_index.h"

/* An index that rows are being added to. */
struct index_addition {
	struct vector_index *index; /* before it; of a new one without rows and `about` */
	const char *folder; /* where the files are: temporary if the index is new */
	struct rows *rows;
	struct hashed_file *files[INDEX_FILES];
	struct hashed_file *raw; /* vectors in the order of rows, unless those are kept */
	struct file_view raw_view;
	uint32_t *order; /* [count], vectors sorted by cell; NULL: not sorted */
	struct index_changes *changes;
	int64_t count;	       /* of rows added */
	double longest, worst; /* greatest error of a code, if vectors are not kept */
	uint64_t ends[INDEX_FILES]; /* of INDEX_IDS and INDEX_TEXTS */
	struct code_ranges *ranges; /* of a new index */
	struct tree *hashes, *kept;
};

/* The path of a file, to be freed. */
char *index_addition_path(const struct index_addition *adding, const char *file);

/* Maps a file that is written; the caller closes the view.  Returns its bytes. */
const void *index_addition_view(
    const struct index_addition *adding, const char *file, struct file_view *view);

/* Adds the rows that count, and describes them as a part in `about`, the future index.json; if there are none, `about` stays as
 * it is.  Dies if the index has no rows then. */
void index_addition_put(struct index_addition *adding, struct tree *about);

#endif
