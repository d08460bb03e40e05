/*
 * data_folder - data sets as people keep them: folders of files, found and matched with the registry.
 *
 *	DATA/SET/...  or  DATA/TYPE/SET/...  (or DATA/cqadupstack/android/...)
 *		{train,test,...}.jsonl		all types but retrieval; one file a split
 *		corpus.jsonl queries.jsonl qrels/SPLIT.tsv	retrieval, as BEIR has it
 *		and top_ranked.jsonl, or top_ranked/SPLIT.jsonl	reranking, as mteb 2 has it
 *
 * .jsonl may be .ndjson, .json, .tsv or .csv, each plain, .gz, .zst, .xz or .bz2.  A folder is the set whose
 * name it has, case and punctuation aside, with or without the name's type and with its subset:
 * sts12, STS-12, banking77, amazon_counterfactual_en.  A folder that is no set of the registry is
 * one of its own name, of the type its parent folder is called by, or of retrieval when it has a
 * corpus.  A set that mteb scores in another way than what is there allows has a fault.
 */
#ifndef MTEB_DATA_FOLDER_H
#define MTEB_DATA_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "mteb/registry.h"

/* What a set is scored with; retrieval has queries, corpus and qrels, reranking these and top_ranked, or test,
 * classification train and test, the others test. */
enum data_file {
	DATA_TRAIN,
	DATA_TEST,
	DATA_QUERIES,
	DATA_CORPUS,
	DATA_QRELS,
	DATA_TOP_RANKED, /* the documents that each query is compared with */
	DATA_FILES
};
extern const char *const data_file_names[];

struct data_set {
	const struct registry_task *task;
	char *folder, *files[DATA_FILES]; /* NULL: not needed, or missing */
	char *fault;			  /* why it cannot be scored; NULL: it can */
};

struct data_folder {
	struct data_set *sets; /* by name */
	size_t count, capacity;
};

/* Whether a word means the set: its task (registry_means), or its folder's name in any case. */
bool data_set_means(const struct data_set *set, const char *word);

/* Dies when the folder cannot be read, and when a set is there twice; warns of folders with
 * data whose type is not known. */
struct data_folder *data_folder_read(struct registry *registry, const char *dir);
void data_folder_free(struct data_folder *folder);

#endif
