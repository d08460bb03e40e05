/*
 * data_folder - finds data sets in a folder and matches them with the registry.
 *
 *	DATA/SET/...  or  DATA/TYPE/SET/...  (or DATA/cqadupstack/android/...), with the files of data_files.h
 *
 * A folder matches the set of its name, ignoring case and punctuation, with or without the type and a subset: sts12,
 * STS-12, banking77, amazon_counterfactual_en.  If there is none, a folder of the Hugging Face Hub's cache
 * (datasets--mteb--scifact, its newest snapshot), or any folder if a benchmark is chosen, matches the set whose rows have
 * that name on the Hub.  The benchmark's sets are tried first.  A folder that matches no set is a new set; its type is the
 * name of its parent folder, or Retrieval if it has a corpus.  A set that mteb scores in a way that its files do not allow
 * has a fault.
 */
#ifndef MTEB_DATA_FOLDER_H
#define MTEB_DATA_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "mteb/benchmark.h"
#include "mteb/data_files.h"
#include "mteb/registry.h"

struct data_set {
	const struct registry_task *task;
	char *folder;
	/* the parts that have files; if none has, the first part, with its fault */
	struct data_part *parts;
	size_t count;
	size_t absent; /* parts of mteb's that are not there */
};

struct data_folder {
	struct data_set *sets; /* by name */
	size_t count, capacity;
};

/* Whether a word names the set's part: its task (benchmark_means), or the set's folder, in any case. */
bool data_set_means(const struct registry *registry, const struct data_set *set,
    const struct data_part *part, const char *word);

/* `benchmark` (NULL: none) decides which of several sets a folder is.  Dies if the folder cannot be read or has a set
 * twice; warns of folders with data of unknown type. */
struct data_folder *data_folder_read(
    struct registry *registry, const struct tree *benchmark, const char *dir);
void data_folder_free(struct data_folder *folder);

#endif
