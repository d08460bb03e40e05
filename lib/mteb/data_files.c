#include "mteb/data_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/datafile.h"

const char *const data_file_names[] = { "train", "test", "queries", "corpus", "qrels",
	"top_ranked", "changed" };

/* The folder of a set and the part that is looked for in it. */
struct place {
	const char *folder, *subset, *split;
	bool own; /* the folder itself is the subset's */
};

/* FOLDER/DIR/STEM.*, or the same converted from a single Parquet file; NULL: absent. */
static char *
find_in(const struct place *place, const char *dir, const char *stem)
{
	char *path = mem_format("%s%s%s", place->folder, *dir ? "/" : "", dir);
	char *shard = mem_format("%s-00000-of-00001", stem);
	char *found = datafile_find(path, stem);

	if (!found)
		found = datafile_find(path, shard);
	free(shard);
	free(path);
	return found;
}

/* A file with one row per text, pair, list or set. */
static char *
find_rows(const struct place *place, const char *split)
{
	char *found = find_in(place, place->subset, split);

	if (!found && place->own)
		found = find_in(place, "", split);
	if (!found && place->own)
		found = find_in(place, "data", split);
	return found;
}

/* KIND/STEM in the folder, or SUBSET-KIND/STEM. */
static char *
find_kind(const struct place *place, const char *kind, const char *stem)
{
	char *dir = mem_format("%s-%s", place->subset, kind);
	char *found = find_in(place, dir, stem);

	free(dir);
	return found || !place->own ? found : find_in(place, kind, stem);
}

/* A file of a retrieval set that is called `kind`, or lies in a folder of that name, by its own name, its split's or
 * "train", which the Hub gives files without splits. */
static char *
find_table(const struct place *place, const char *kind)
{
	const char *const stems[] = { place->split, kind, "train" };
	char *found = find_rows(place, kind);

	for (int i = 0; i < 3 && !found; i++)
		found = find_kind(place, kind, stems[i]);
	if (!found) {
		char *below = mem_format("%s/%s", place->subset, kind);
		found = find_in(place, below, place->split);
		free(below);
	}
	return found;
}

/* The documents of p-MRR, which the Hub has as qrel_diff, or for each language as qrel_diff-SUBSET. */
static char *
find_changed(const struct place *place)
{
	bool crossed = !strncmp(place->subset, "eng-", 4); /* queries are English */
	char *dir = mem_format("qrel_diff-%s", place->subset + (crossed ? 4 : 0));
	char *found = find_table(place, "qrel_diff");

	if (!found)
		found = find_in(place, dir, "qrel_diff");
	free(dir);
	return found;
}

static char *
find_qrels(const struct place *place)
{
	char *found = find_table(place, "qrels");

	if (!found)
		found = find_in(place, place->subset, place->split);
	if (!found && place->own)
		found = find_in(place, "data", place->split);
	if (!found && place->own)
		found = find_in(place, "default", place->split);
	return found;
}

/* Takes the file, or says that it is missing. */
static void
need(struct data_part *part, const char *folder, enum data_file which, char *found,
    const char *stem)
{
	bool default_one = !strcmp(part->part.subset, "default");

	part->files[which] = found;
	if (!found && !part->fault)
		part->fault = mem_format(
		    "%s%s%s: there is no %s.jsonl (.tsv, .csv; .gz, .zst, .xz, .bz2)",
		    folder, default_one ? "" : ", subset ",
		    default_one ? "" : part->part.subset, stem);
}

/* Whether the rows of a file are sets of texts, as on the Hub. */
static bool
has_sets(const char *path)
{
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);
	const struct tree *record = datafile_next(file);
	const struct tree *texts = record ? tree_get(record, "sentences") : NULL;
	bool sets = texts && texts->kind == TREE_LIST;

	datafile_close(file);
	return sets;
}

/* Why these files do not allow mteb's way of scoring; NULL: they do. */
static char *
unsupported(const struct registry *registry, const struct registry_task *task,
    const struct data_part *part)
{
	size_t length = strlen(task->name);

	if (part->files[DATA_TOP_RANKED] && !registry->v2)
		return mem_string(
		    "a corpus and top_ranked are scored only by protocol v2; say PROTOCOL=v2, or give rows of query, positive and negative");
	if (task->folds)
		return mem_format(
		    "mteb scores it by cross-validation in %lld folds, which motes has not; call other rows by another name",
		    (long long)task->folds);
	if (task->fast == REGISTRY_FAST_ROWS && has_sets(part->files[DATA_TEST]))
		return mem_format(
		    "%s: mteb samples or splits these sets first; write the result, one text per row, with 'sentences' and 'labels'",
		    part->files[DATA_TEST]);
	if (task->fast == REGISTRY_NO_FAST && !strcmp(task->type, "Clustering") &&
	    length > 3 && !strcmp(task->name + length - 3, ".v2"))
		return mem_format(
		    "mteb scores sets of this name by clustering-fast; say how in tasks.yaml: %s: { type: Clustering, fast: sets }",
		    task->name);
	return NULL;
}

static bool
is_ranked(const struct registry_task *task)
{
	return !strcmp(task->type, "Reranking") ||
	       !strcmp(task->type, "InstructionReranking");
}

static bool
is_retrieval(const struct registry_task *task)
{
	return !strcmp(task->type, "Retrieval") ||
	       !strcmp(task->type, "InstructionRetrieval") ||
	       !strcmp(task->type, "InstructionReranking");
}

/* Whether the folder has nothing of the part, or, of a retrieval set, only the queries and documents of other splits. */
static bool
is_absent(const struct data_part *part, bool retrieval)
{
	if (!retrieval)
		return !part->files[DATA_TEST];
	return !part->files[DATA_QRELS] &&
	       !part->files[DATA_QUERIES] == !part->files[DATA_CORPUS];
}

/* Fills in the files of the part, whose subset has that name in the folder. */
static void
find_files(struct data_part *part, const struct registry *registry,
    const struct registry_task *task, const char *folder, const char *subset, bool own)
{
	const struct place place = { folder, subset, part->part.split, own };
	char *corpus =
	    is_retrieval(task) || is_ranked(task) ? find_table(&place, "corpus") : NULL;

	if (is_retrieval(task) || corpus) {
		char *qrels = mem_format("qrels/%s", place.split);
		need(
		    part, folder, DATA_QUERIES, find_table(&place, "queries"), "queries");
		need(part, folder, DATA_CORPUS, corpus, "corpus");
		need(part, folder, DATA_QRELS, find_qrels(&place), qrels);
		free(qrels);
		if (is_ranked(task))
			need(part, folder, DATA_TOP_RANKED,
			    find_table(&place, "top_ranked"), "top_ranked");
		if (!strcmp(task->type, "InstructionReranking"))
			part->files[DATA_CHANGED] = find_changed(&place);
	} else {
		need(
		    part, folder, DATA_TEST, find_rows(&place, place.split), place.split);
		if (!strcmp(task->type, "Classification") ||
		    !strcmp(task->type, "MultilabelClassification") ||
		    !strcmp(task->type, "Regression"))
			need(part, folder, DATA_TRAIN, find_rows(&place, task->train),
			    task->train);
	}
	part->absent = is_absent(part, is_retrieval(task) || corpus);
	if (!part->fault)
		part->fault = unsupported(registry, task, part);
}

void
data_files_find(struct data_part *part, const struct registry *registry,
    const struct registry_task *task, const char *folder, bool own)
{
	char *subset = task_part_subset(&part->part);

	find_files(part, registry, task, folder, subset, own);
	if (part->absent && strcmp(subset, part->part.subset) != 0) {
		data_files_free(part);
		*part = (struct data_part){ .part = part->part };
		find_files(part, registry, task, folder, part->part.subset, own);
		if (!part->absent) {
			free(part->fault);
			part->fault = mem_format(
			    "%s: make cannot read blanks and signs in paths; rename the folder of the subset to %s",
			    folder, subset);
		}
	}
	free(subset);
}

void
data_files_free(struct data_part *part)
{
	for (int f = 0; f < DATA_FILES; f++)
		free(part->files[f]);
	free(part->fault);
}
