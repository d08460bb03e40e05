/*
 * data_folder - finds data sets in a folder and matches them with the registry.
 *
 *	DATA/SET/...  or  DATA/TYPE/SET/...  (or DATA/cqadupstack/android/...)
 *		{train,test,...}.jsonl		all types but retrieval; one file per split
 *		corpus.jsonl queries.jsonl qrels/SPLIT.tsv	retrieval, in BEIR's layout
 *		and top_ranked.jsonl, or top_ranked/SPLIT.jsonl	reranking, in mteb 2's layout
 *
 * .jsonl may be .ndjson, .json, .tsv or .csv, each plain, .gz, .zst, .xz or .bz2.  A folder matches the set of its
 * name, ignoring case and punctuation, with or without the type and the subset: sts12, STS-12, banking77,
 * amazon_counterfactual_en.  A folder that matches no set is a new set; its type is the name of its parent folder, or
 * Retrieval if it has a corpus.  A set whose files do not allow the way in which mteb scores it has a fault.
 */
#ifndef MTEB_DATA_FOLDER_H
#define MTEB_DATA_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "mteb/registry.h"

/* The files of a set.  Retrieval: queries, corpus and qrels; reranking: these and top_ranked, or test; classification:
 * train and test; other types: test. */
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
	char *fault;			  /* why it cannot be scored, or NULL */
};

struct data_folder {
	struct data_set *sets; /* by name */
	size_t count, capacity;
};

/* Whether a word names the set: its task (registry_means), or its folder, in any case. */
bool data_set_means(const struct data_set *set, const char *word);

/* Dies if the folder cannot be read or has a set twice; warns of folders with data of unknown type. */
struct data_folder *data_folder_read(struct registry *registry, const char *dir);
void data_folder_free(struct data_folder *folder);

#endif
