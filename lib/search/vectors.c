#include "search/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

static const char of_terms[] = "weights of terms";

/* The column of terms if they are wanted; -1: vectors are. */
static int
find_terms(const struct reader *reader, const char *field, int wanted)
{
	if (!(wanted & VECTORS_TERMS) || values_find_embedding(reader, field, 0) >= 0)
		return -1;
	return term_lists_find(reader, field);
}

struct vectors *
vectors_open(struct reader *reader, const char *field, int wanted)
{
	struct vectors *vectors = mem_zero(1, sizeof *vectors);

	vectors->reader = reader;
	vectors->wanted = wanted;
	int terms = find_terms(reader, field, wanted);
	if (terms >= 0) {
		vectors->column = terms;
		vectors->terms = term_lists_open(reader, terms);
		vectors->width = vectors->terms->vocabulary;
		return vectors;
	}
	bool tokens = wanted & VECTORS_TOKENS;
	vectors->lists = tokens || (wanted & VECTORS_LISTS &&
				       values_find_embedding(reader, field, 1) >= 0);
	vectors->column = tokens ? values_tokens(reader, field)
				 : values_embedding(reader, field, vectors->lists);
	vectors->coded = coded_open(reader, vectors->column);
	vectors->width = vectors->coded ? vectors->coded->width
					: values_width(reader, vectors->column);
	return vectors;
}

static const char *
name(const struct vectors *vectors)
{
	return stream_column(vectors->reader, vectors->column)->name;
}

const char *
vectors_model(const struct vectors *vectors)
{
	return tree_string(stream_properties(vectors->reader), "model", NULL);
}

const char *
vectors_kind(const struct vectors *vectors)
{
	const char *kind =
	    vectors->terms ? of_terms : values_kind(vectors->reader, vectors->column);
	const char *ending = strrchr(name(vectors), '.');
	bool states = ending && (!strcmp(ending, ".hs") || !strcmp(ending, ".rw"));

	return kind ? kind : states ? ending + 1 : "embeddings";
}

void
vectors_agree_model(const struct vectors *vectors, const char *model, const char *stream)
{
	const char *own = vectors_model(vectors);

	if (own && model && strcmp(own, model) != 0)
		die("%s: its vectors are of model %s, those of %s of model %s: they cannot be compared; encode both with one model and one --dim, or say --any-model if the two were trained together",
		    stream_name(vectors->reader), own, stream, model);
}

void
vectors_agree_with(
    const struct vectors *vectors, const struct vectors_origin *origin, bool any_model)
{
	const char *stream = stream_name(vectors->reader), *kind = vectors_kind(vectors);

	bool alike = !vectors->terms == !!strcmp(origin->kind, of_terms);

	if (!any_model)
		vectors_agree_model(vectors, origin->model, origin->stream);
	if ((!any_model || !alike) && strcmp(kind, origin->kind) != 0)
		die("%s: its vectors are %s, those of %s are %s; make both alike, or say --any-model if they are to be compared",
		    stream, kind, origin->stream, origin->kind);
	if (vectors->width != origin->width && vectors->terms)
		die("%s: its model has %d terms, that of %s %d; encode both with one model and one --dim",
		    stream, vectors->width, origin->stream, origin->width);
	if (vectors->width != origin->width)
		die("%s: its vectors have width %d, those of %s %d; encode both with one model and one --dim",
		    stream, vectors->width, origin->stream, origin->width);
}

void
vectors_agree(const struct vectors *vectors, const struct vectors *other, bool any_model)
{
	const char *stream = stream_name(vectors->reader);

	if (vectors->width != other->width && vectors->reader == other->reader)
		die("%s: %s has width %d and %s has %d; encode both with one model and one --dim",
		    stream, name(vectors), vectors->width, name(other), other->width);
	vectors_agree_with(other,
	    &(struct vectors_origin){
		stream, vectors_model(vectors), vectors_kind(vectors), vectors->width },
	    any_model);
}

void
vectors_load(struct vectors *vectors, const struct record *record)
{
	const struct column *column = stream_column(vectors->reader, vectors->column);
	int width = vectors->width;
	struct floats *room = &vectors->unit_room;

	if (vectors->terms) {
		term_lists_load(vectors->terms, record);
		return;
	}
	vectors->array = &record->columns[vectors->column];
	vectors->count = column_elements(column, vectors->array, record->rows);
	vectors->raw = coded_floats(
	    vectors->coded, column, vectors->array, vectors->count, &vectors->room);
	for (int64_t i = 0; i < vectors->count && !(vectors->wanted & VECTORS_NAN); i++)
		values_refuse_nan(vectors->reader, vectors->column, vectors->array, i,
		    vectors->raw + i * width, width);
	if (!(vectors->wanted & VECTORS_UNITS))
		return;
	room->data = mem_grow(room->data, &room->capacity, (size_t)vectors->count,
	    (size_t)width * sizeof *room->data);
	vectors->units = room->data;
	for (int64_t i = 0; i < vectors->count; i++)
		vectors->zero += similarity_unit(room->data + i * width,
				     vectors->raw + i * width, width) == 0;
}

struct vector_range
vectors_row(const struct vectors *vectors, int64_t row)
{
	const int64_t *offsets = vectors->array->offsets[0];

	return vectors->lists ? (struct vector_range){ offsets[row],
		offsets[row + 1] - offsets[row] }
			      : (struct vector_range){ row, 1 };
}

const int64_t *
vectors_lists(const struct vectors *vectors)
{
	return vectors->lists ? vectors->array->offsets[0] : NULL;
}

enum similarity
vectors_said_similarity(const struct reader *reader, const char *property,
    enum similarity usual, enum similarity wanted)
{
	const char *own = tree_string(stream_properties(reader), property, NULL);
	enum similarity kind = usual;

	if (wanted != SIMILARITY_OF_MODEL)
		return wanted;
	if (own && !similarity_parse(own, &kind))
		die("%s: its model compares by '%s', which is not supported; say --similarity",
		    stream_name(reader), own);
	return kind;
}

enum similarity
vectors_any_similarity(const struct reader *reader, enum similarity wanted)
{
	return vectors_said_similarity(reader, "similarity", SIMILARITY_COSINE, wanted);
}

enum similarity
vectors_own_similarity(const struct reader *reader, enum similarity wanted)
{
	enum similarity kind = vectors_any_similarity(reader, wanted);

	if (similarity_of_lists(kind))
		die("%s: is to be compared by %s, which retrieval (near, mteb-score retrieval) knows alone",
		    stream_name(reader), similarity_name(kind));
	return kind;
}

float
vectors_similarity(enum similarity kind, const struct vectors *one, int64_t i,
    const struct vectors *other, int64_t j)
{
	bool unit = kind == SIMILARITY_COSINE;
	const float *a = unit ? one->units : one->raw,
		    *b = unit ? other->units : other->raw;
	float score =
	    similarity_of(kind, a + i * one->width, b + j * other->width, one->width);

	if (!isfinite(score))
		die("%s: record %lld: the %s of vector %lld of %s and vector %lld of %s exceeds float32; scale the vectors, or normalise them",
		    stream_name(one->reader), (long long)stream_records(one->reader),
		    kind == SIMILARITY_DOT ? "dot product" : similarity_name(kind),
		    (long long)i + 1, name(one), (long long)j + 1, name(other));
	return score;
}

void
vectors_warn_zero(const struct vectors *vectors, const char *consequence)
{
	if (vectors->zero)
		warn("%s: %lld vectors of %s are zero: %s", stream_name(vectors->reader),
		    (long long)vectors->zero, name(vectors), consequence);
}

void
vectors_close(struct vectors *vectors)
{
	if (vectors->terms)
		term_lists_close(vectors->terms);
	coded_free(vectors->coded);
	free(vectors->room.data);
	free(vectors->unit_room.data);
	free(vectors);
}
