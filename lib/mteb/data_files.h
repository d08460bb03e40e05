/*
 * data_files - the files of a part of a task in its folder, in the layouts in which people have them.
 *
 *	SPLIT.jsonl					one text, pair, list or set a row
 *	train.jsonl					and the training rows of classification and regression
 *	queries.jsonl corpus.jsonl qrels/SPLIT.tsv	retrieval, as BEIR has it
 *	and top_ranked.jsonl, or top_ranked/SPLIT.jsonl	the documents that each query is compared with
 *	and qrel_diff.jsonl, or qrel_diff/SPLIT.jsonl	the documents that a changed instruction makes irrelevant
 *
 * in the folder of the subset, or in the set's own if that has one subset, or is named by it.  A set of the Hugging Face
 * Hub has Parquet files in the same folders; converted, they are found as STEM-00000-of-00001.jsonl, in data/ if there
 * are no subsets, and of retrieval in corpus/, queries/, qrels/ (data/, default/) and top_ranked/, with SUBSET- before
 * the name if there are subsets.
 *
 * .jsonl may be .ndjson, .json, .tsv or .csv, each plain, .gz, .zst, .xz or .bz2.
 */
#ifndef MTEB_DATA_FILES_H
#define MTEB_DATA_FILES_H

#include <stdbool.h>

#include "mteb/benchmark.h"

/* Retrieval: queries, corpus and qrels; reranking: these and top_ranked, or test; instruction
 * reranking: and changed, if it is there; classification and regression: train
 * and test; other types: test. */
enum data_file {
	DATA_TRAIN,
	DATA_TEST,
	DATA_QUERIES,
	DATA_CORPUS,
	DATA_QRELS,
	DATA_TOP_RANKED,
	DATA_CHANGED,
	DATA_FILES
};
extern const char *const data_file_names[];

struct data_part {
	struct task_part part;
	char *files[DATA_FILES]; /* NULL: not needed, or missing */
	char *fault;		 /* why it cannot be scored, or NULL */
	bool absent; /* it is not there, but files that other splits share may be */
};

/* Fills in the files, or the fault.  `own`: the set's own folder is the subset's. */
void data_files_find(struct data_part *part, const struct registry *registry,
    const struct registry_task *task, const char *folder, bool own);
void data_files_free(struct data_part *part);

#endif
