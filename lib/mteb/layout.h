/*
 * layout - data sets as people keep them: folders of files, found and matched with the registry.
 *
 *	DATA/SET/...  or  DATA/TYPE/SET/...  (or DATA/cqadupstack/android/...)
 *		{train,test,...}.jsonl		all types but retrieval; one file a split
 *		corpus.jsonl queries.jsonl qrels/SPLIT.tsv	retrieval, as BEIR has it
 *
 * .jsonl may be .ndjson, .json, .tsv or .csv, each plain, .gz or .zst.  A folder is the set whose
 * name it has, case and punctuation aside, with or without the name's type and with its subset:
 * sts12, STS-12, banking77, amazon_counterfactual_en.  A folder that is no set of the registry is
 * one of its own name, of the type its parent folder is called by, or of retrieval when it has a
 * corpus.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "mteb/benchmark.h"

/* What a set is scored with; retrieval has queries, corpus and qrels, classification train and
 * test, the others test. */
enum layout_file {
	LAYOUT_TRAIN,
	LAYOUT_TEST,
	LAYOUT_QUERIES,
	LAYOUT_CORPUS,
	LAYOUT_QRELS,
	LAYOUT_FILES
};
extern const char *const layout_files[];

struct layout_set {
	const struct benchmark_task *task;
	char *folder, *files[LAYOUT_FILES]; /* NULL: not needed, or missing */
	char *fault;			    /* why it cannot be scored; NULL: it can */
};

struct layout {
	struct layout_set *sets; /* by name */
	size_t count, capacity;
};

/* Dies when the folder cannot be read, and when a set is there twice; warns of folders with
 * data whose type is not known. */
struct layout *layout_find(struct benchmark *benchmark, const char *dir);
void layout_free(struct layout *layout);

/*
 * The options of tok that take the texts of a file for a type of task ("corpus" for that of
 * retrieval): "-f sentence1=sent1 -f sentence2=sent2".  By the members of the first records; dies
 * when they are none that the type knows.  To be freed.
 */
char *layout_fields(const char *type, const char *path);

#endif
