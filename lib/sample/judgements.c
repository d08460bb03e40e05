#include "sample/judgements.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/datafile.h"
#include "text/qrels.h"
#include "text/triples.h"

static char *
need_file(const char *folder, const char *stem)
{
	char *path = datafile_find(folder, stem);

	if (!path)
		die("%s: there is no %s.jsonl (.tsv, .csv; .gz, .zst, .xz, .bz2)", folder,
		    stem);
	return path;
}

/* The path of qrels/SPLIT; without `split` of qrels, or else of qrels/train. */
static char *
find_qrels(const char *folder, const char *split)
{
	char *stem = mem_format("qrels/%s", split ? split : "train"), *path = NULL;

	if (!split)
		path = datafile_find(folder, "qrels");
	if (!path)
		path = datafile_find(folder, stem);
	if (!path)
		die("%s: there is no %s%s.tsv%s", folder, split ? "" : "qrels.tsv nor ",
		    stem, split ? "" : "; name another by 'split'");
	free(stem);
	return path;
}

static struct examples *
open_side(const char *folder, const char *stem, const struct examples_options *options)
{
	char *path = need_file(folder, stem);
	struct examples_options here = *options;
	here.folder = NULL;
	struct examples *set = examples_open((const char *const *)&path, 1, &here, NULL);

	free(path);
	return set;
}

/* The row of each id, [ids]; -1: none.  The caller frees it. */
static int64_t *
find_rows(struct examples *set, const struct strings *ids)
{
	int64_t count = strings_count(ids);
	int64_t *rows = mem_new((size_t)count, sizeof *rows);

	for (int64_t i = 0; i < count; i++)
		rows[i] = -1;
	for (int64_t row = 0; row < examples_count(set); row++) {
		const struct tree *record = examples_get(set, row);
		const struct tree *value = tree_get(record, "_id");
		char room[TRIPLES_ID_ROOM];
		struct tsv_column id;
		value = value ? value : tree_get(record, "id");
		if (!value)
			tree_die(record, "there is no '_id'");
		if (!triples_id(value, room, &id))
			tree_die(record, "the id is neither text nor a whole number");
		int64_t number = strings_find(ids, id.start, id.length);
		if (number < 0)
			continue;
		if (rows[number] >= 0)
			tree_die(record, "the id '%.*s' is there twice",
			    id.length < 60 ? (int)id.length : 60, id.start);
		rows[number] = row;
	}
	return rows;
}

static int
by_order(const void *a, const void *b)
{
	const struct judgement *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

/* Warns of judgements whose query or document is unknown; dies if there are no others. */
static void
tell_unknown(const struct recipe_source *source, const struct qrels *qrels,
    const struct judgement *first, int64_t unknown, int64_t known, const char *path)
{
	const char *query = strings_get(qrels->queries, first->query),
		   *document = strings_get(qrels->documents, first->document);

	if (!known)
		die("%s: none of its %lld positive judgements has its query and its document in %s; the first is of '%.60s' and '%.60s'",
		    path, (long long)unknown, source->beir, query, document);
	warn(
	    "data set %s: %lld of %lld positive judgements are left out: their query or document is not there; the first is of '%.60s' and '%.60s'",
	    source->name, (long long)unknown, (long long)(known + unknown), query,
	    document);
}

/* Takes the positive judgements of known ids. */
static void
take(struct judgements *judgements, const struct recipe_source *source,
    struct qrels *qrels, const char *path)
{
	int64_t *rows[SIDES] = { find_rows(judgements->sets[SIDE_QUERY], qrels->queries),
		find_rows(judgements->sets[SIDE_DOCUMENT], qrels->documents) };
	int64_t unknown = 0, first = 0;

	qsort(
	    qrels->judgements, (size_t)qrels->count, sizeof *qrels->judgements, by_order);
	judgements->items = mem_new((size_t)qrels->count, sizeof *judgements->items);
	for (int64_t i = 0; i < qrels->count; i++) {
		const struct judgement *from = qrels->judgements + i;
		struct judged to = { { rows[SIDE_QUERY][from->query],
					 rows[SIDE_DOCUMENT][from->document] },
			from->grade };
		if (from->grade <= 0)
			continue;
		if (to.row[SIDE_QUERY] >= 0 && to.row[SIDE_DOCUMENT] >= 0) {
			judgements->items[judgements->count++] = to;
			continue;
		}
		first = unknown++ ? first : i;
	}
	if (unknown)
		tell_unknown(source, qrels, qrels->judgements + first, unknown,
		    judgements->count, path);
	else if (!judgements->count)
		die("%s: none of its judgements is positive", path);
	for (int side = 0; side < SIDES; side++)
		free(rows[side]);
}

struct judgements
judgements_read(
    const struct recipe_source *source, const struct examples_options *options)
{
	struct judgements judgements = { 0 };
	char *path = options->folder && source->beir[0] != '/'
			 ? mem_format("%s/%s", options->folder, source->beir)
			 : mem_string(source->beir);
	char *file = find_qrels(path, source->split);
	struct qrels *qrels = qrels_read(file);

	judgements.sets[SIDE_QUERY] = open_side(path, "queries", options);
	judgements.sets[SIDE_DOCUMENT] = open_side(path, "corpus", options);
	take(&judgements, source, qrels, file);
	qrels_free(qrels);
	free(file);
	free(path);
	return judgements;
}
