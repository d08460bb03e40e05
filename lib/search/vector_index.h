/*
 * vector_index - a folder of vectors, ids and texts that a search maps into memory, made of streams by mts index.
 *
 *	index.json	rows, width, similarity, model, history, sizes and checksums (vector_index.c)
 *	columns.f32	start, step, centre and spread of the columns, f32 [4, width] (codes.h)
 *	cells.f32	centroids [cells, width] (cells.h); none without cells, as the next two
 *	places.u32	u32 [rows], the row of each vector: those of a part of index.json are sorted by cell
 *	cells.u64	u64 [parts, cells], where each cell ends in the part
 *	links.u32	u32 [rows, degree], rows of the same part, counted from its first (graph.h); none without a graph
 *	vectors.f32	f32 [rows, width]; for cosine the unit vectors; all NaN if the vector was not finite; none if only codes
 *			are kept
 *	codes.u8	u8 [rows, codes_stride]
 *	bits.u64	u64 [rows, codes_words]
 *	errors.f32	f32 [rows], of the codes
 *	The next are in the order of the streams:
 *	ids.u64, ids	the end of each id in ids; none if rows have no ids
 *	texts.u64, texts	the same of texts
 *	kept.1.mts, ...	columns for conditions (index_columns.h)
 *	removed.u32	u32 [removed rows], their numbers; none if all rows count
 *
 * Numbers are little-endian.  Rows are added behind the others in each file; index.json, which is replaced at once, says how
 * many rows count.  So an index that is being added to, or whose writer was killed, is valid.  A removed row keeps its place
 * in each file, and no search finds it.  Of the rows that are not removed no two have the same id, unless they are passages of
 * one document, which its best passage ranks.
 */
#ifndef SEARCH_VECTOR_INDEX_H
#define SEARCH_VECTOR_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file.h"
#include "search/graph.h"
#include "search/rows.h"
#include "search/similarity.h"
#include "text/tree.h"

enum vector_index_file {
	INDEX_VECTORS,
	INDEX_CODES,
	INDEX_BITS,
	INDEX_ERRORS,
	INDEX_PLACES,
	INDEX_CELL_ENDS,
	INDEX_LINKS,
	INDEX_ID_ENDS,
	INDEX_IDS,
	INDEX_TEXT_ENDS,
	INDEX_TEXTS,
	INDEX_FILES
};
#define INDEX_ABOUT "index.json"
#define INDEX_COLUMNS "columns.f32"
#define INDEX_CENTROIDS "cells.f32"
#define INDEX_REMOVED "removed.u32"
extern const char *const vector_index_names[INDEX_FILES];

/* Values of "format", and of "ids" by enum row_ids, in index.json. */
#define INDEX_FORMAT "motes index"
enum { INDEX_CHANGED = 3 }; /* the version with removed rows, or passages */
extern const char *const vector_index_ids[];

struct vector_index {
	char *name;		    /* the folder, for messages */
	struct tree *about;	    /* index.json */
	int64_t rows;		    /* with the removed ones */
	int width, cells;	    /* cells 0: none */
	int degree;		    /* links of a row; 0: there is no graph */
	enum similarity similarity; /* cosine or dot */
	enum row_ids ids;
	bool passages; /* rows with the same id are passages of one document */
	bool texts,
	    codes_only; /* codes_only: the index has no floats; vectors are decoded from codes */
	double longest;		  /* maximum length of a vector */
	const char *field, *kind; /* FIELD of FIELD.emb; vectors_kind */
	uint64_t sizes[INDEX_FILES];
	struct file_view views[INDEX_FILES], columns_view, centroids_view;
	int64_t parts, *part_starts; /* [parts + 1] */
	/* borrowed from the views: */
	const float *vectors, *errors;
	const uint8_t *codes;
	const uint64_t *bits;
	const uint32_t *places; /* NULL: vectors are in the order of rows */
	const uint64_t *cell_ends;
	const uint32_t *links;
	const float *centroids;
	struct code_columns columns;
	bool *removed; /* [rows]; NULL: none is */
	/* rows that a search may find: not removed, and conditions hold */
	bool *pass;	 /* [rows], in the order of the vectors; NULL: all pass */
	int64_t passing; /* rows */
};

/* Whether the path is a folder with an index.json. */
bool vector_index_is(const char *path);

/* Maps an index.  Checks index.json by its checksum, and that each file has the size that belongs to it.  Dies naming
 * what is wrong. */
struct vector_index *vector_index_open(const char *path);

/* Reads all files of an index and compares their checksums; dies naming the first file that is damaged. */
void vector_index_check(const char *path);

struct vectors_origin vector_index_origin(const struct vector_index *index);

/* A vector, borrowed, or decoded into room [width]. */
const float *vector_index_vector(
    const struct vector_index *index, int64_t place, float *room);

/* The place of the vector of each row [rows], to be freed; NULL: vectors are in the order of rows. */
uint32_t *vector_index_places(const struct vector_index *index);

/* The row of a vector; vectors first .. end of a cell in a part.  Die if the file is damaged. */
uint32_t vector_index_row(const struct vector_index *index, int64_t place);
struct cell_span {
	int64_t first, end;
};
struct cell_span vector_index_cell(
    const struct vector_index *index, int64_t part, uint32_t cell);

/* The id or text of a row, borrowed, not NUL-terminated.  Dies if the file is damaged. */
const char *vector_index_id(
    const struct vector_index *index, int64_t row, size_t *length);
const char *vector_index_text(
    const struct vector_index *index, int64_t row, size_t *length);

/* Lets a search find those rows of pass [rows] alone that are not removed.  Takes `pass`, which is in the order of rows. */
void vector_index_let_pass(struct vector_index *index, bool *pass);

/* The order of equal scores: by id, or by row if there are none.  Its context is the index. */
int vector_index_order(const void *index, uint32_t a, uint32_t b);
void vector_index_close(struct vector_index *index);

/* Whether the index has this file. */
bool vector_index_has(const struct vector_index *index, enum vector_index_file file);

/* The text of `about` without its checksum, to be freed. */
char *vector_index_seal(const struct tree *about);

/* Writing. --------------------------------------------------------------------------- */

struct vector_index_options {
	const char *const *streams;
	int count;
	const char *field; /* as that of a search */
	enum similarity similarity;
	const char *const *kept; /* columns to keep for conditions; not of an appendix */
	int kept_count;
	int cells, degree;	   /* 0: none; not of an appendix, as the next */
	bool codes_only, passages; /* of a new one */
};

/* Makes a new folder of the rows of the streams, whole or not at all.  Dies if `folder` exists and is not empty. */
void vector_index_make(const char *folder, const struct vector_index_options *options);

/* Which rows of an index a change removes. */
enum index_change {
	INDEX_APPEND,  /* none: rows whose ids the index has are left out */
	INDEX_REPLACE, /* those whose ids the streams have */
	INDEX_SYNC     /* these and all whose ids the streams lack */
};

/* Removes the rows whose ids the lines of the file `ids` are (NULL: no such file); then adds the streams' rows, as `change`
 * says.  With INDEX_REPLACE and INDEX_SYNC a row that has the same text and vector in the index stays, unless the index keeps
 * columns.  New rows have codes of the columns' first ranges.  The similarity is that of the index.  Without streams it only
 * removes. */
void vector_index_change(const char *folder, const struct vector_index_options *options,
    enum index_change change, const char *ids);

#endif
