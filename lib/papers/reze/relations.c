#include "papers/reze/relations.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

struct relations *
relations_open(struct reader *reader, const struct relation_names *names)
{
	struct relations *relations = mem_zero(1, sizeof *relations);

	if (strcmp(names->anchor, names->positive) == 0)
		die_usage(
		    "anchor and positive are the same column, '%s.emb'", names->anchor);
	relations->reader = reader;
	relations->anchor = vectors_open(reader, names->anchor, 0);
	relations->positive = vectors_open(reader, names->positive, 0);
	vectors_agree(relations->anchor, relations->positive, false);
	relations->width = 2 * relations->anchor->width;
	relations->source = names->source;
	relations->source_column = stream_find(reader, names->source);
	if (relations->source_column >= 0)
		values_single(reader, relations->source_column, 0);
	return relations;
}

void
relations_load(struct relations *relations, const struct record *record)
{
	vectors_load(relations->anchor, record);
	vectors_load(relations->positive, record);
	relations->record = record;
	relations->count = record->rows;
}

void
relations_row(const struct relations *relations, int64_t row, float *to)
{
	size_t half = (size_t)relations->anchor->width, first = half * (size_t)row;

	memcpy(to, relations->anchor->raw + first, half * sizeof *to);
	memcpy(to + half, relations->positive->raw + first, half * sizeof *to);
}

const float *
relations_all(struct relations *relations)
{
	size_t width = (size_t)relations->width;

	relations->room = mem_grow(relations->room, &relations->capacity,
	    (size_t)relations->count, width * sizeof *relations->room);
	for (int64_t i = 0; i < relations->count; i++)
		relations_row(relations, i, relations->room + width * (size_t)i);
	return relations->room;
}

const char *
relations_source(struct relations *relations, int64_t row, size_t *length)
{
	const struct reader *reader = relations->reader;
	const struct record *record = relations->record;
	int column = relations->source_column;
	const char *name;

	if (column >= 0) {
		name = values_text(stream_column(reader, column),
		    &record->columns[column], row, relations->text, length);
	} else {
		name = tree_string(record->attributes, relations->source, "");
		*length = strlen(name);
	}
	if (*length == 0)
		die("%s: record %lld: row %lld has no source in the column or attribute '%s' (tasksample writes 'dataset')",
		    stream_name(reader), (long long)stream_records(reader),
		    (long long)row + 1, relations->source);
	return name;
}

void
relations_close(struct relations *relations)
{
	vectors_close(relations->anchor);
	vectors_close(relations->positive);
	free(relations->room);
	free(relations);
}
