#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "search/run.h"
#include "text/datafile.h"
#include "text/triples.h"

bool *
run_mark_hits(const struct run *run)
{
	bool *hit = mem_zero((size_t)strings_count(run->documents) + 1, sizeof *hit);

	for (int64_t i = 0; i < strings_count(run->queries); i++)
		for (int64_t j = 0; j < run->hits[i].count; j++)
			hit[run->hits[i].at[j].document] = true;
	return hit;
}

/* The document number of a record, or -1; number: that of the record, from 0. */
static int64_t
find_document(const struct run *run, const struct datafile *file,
    const struct tree *record, int64_t number)
{
	char digits[TRIPLES_ID_ROOM];
	struct tsv_column found;

	if (run->document_ids == ROW_PLACES)
		return strings_find(
		    run->documents, digits, number_put_whole(digits, number + 1));
	if (!triples_record_id(record, digits, &found))
		die("%s:%lld: there is no '_id' or 'id', by which a text is found",
		    datafile_name(file), (long long)datafile_line(file));
	return strings_find(run->documents, found.start, found.length);
}

/* Reports missing texts at the end of the file. */
static void
check_texts(const struct run *run, const char *name, const bool *hit, int64_t records)
{
	int64_t documents = strings_count(run->documents), missing = 0, first = 0;

	if (run->document_ids == ROW_PLACES && records != run->places)
		die("%s: it has %lld texts, and the corpus %lld rows without ids: they do not match",
		    name, (long long)records, (long long)run->places);
	for (int64_t i = documents - 1; i >= 0; i--)
		if (hit[i] && !row_texts_get(&run->document_texts, i)) {
			missing++;
			first = i;
		}
	if (missing)
		warn(
		    "%s: %lld documents that were found have no text '%s' there; first: '%s'",
		    name, (long long)missing, run->field,
		    strings_get(run->documents, first));
}

/* Gives each hit the first number of its id: the passages of a document have the text that the file has for the id. */
static void
join_passages(struct run *run)
{
	if (run->document_ids == ROW_PLACES)
		return;
	for (int64_t i = 0; i < strings_count(run->queries); i++)
		for (int64_t j = 0; j < run->hits[i].count; j++) {
			uint32_t *document = &run->hits[i].at[j].document;
			*document = (uint32_t)strings_find_from(
			    run->documents, run->documents, *document);
		}
}

void
run_read_texts(struct run *run, const char *path)
{
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);
	const struct tree *record;
	int64_t records = 0;

	join_passages(run);
	bool *hit = run_mark_hits(run);
	row_texts_free(&run->document_texts);
	while ((record = datafile_next(file))) {
		int64_t document = find_document(run, file, record, records++);
		const struct tree *text = tree_get(record, run->field);
		if (!text)
			text = tree_get(record, "text");
		if (document >= 0 && hit[document] && text && text->kind == TREE_STRING)
			row_texts_put(
			    &run->document_texts, document, text->string, text->length);
	}
	check_texts(run, datafile_name(file), hit, records);
	free(hit);
	datafile_warn_repaired(file);
	datafile_close(file);
}
