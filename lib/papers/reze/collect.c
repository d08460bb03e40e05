#include "papers/reze/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "papers/reze/statistics_file.h"

enum { LONGEST_NAME = 200 };

void
collect_check_model(
    const char *stream, const char *model, const char *other, const char *other_model)
{
	if (model && other_model && strcmp(model, other_model) != 0)
		die("%s: it is of model %s, but %s of model %s; make both with one model, or say --any-model",
		    stream, model, other, other_model);
}

/* Dies if the name cannot be in a table or attribute. */
static void
check_name(const struct relations *relations, const char *name, size_t length)
{
	if (strcspn(name, "\t\r\n") != length || length > LONGEST_NAME)
		die("%s: the name of the source '%.100s' has a tab, an end of line or a NUL in it, or more than %d bytes; rename it",
		    stream_name(relations->reader), name, LONGEST_NAME);
}

int *
collect_sources(struct statistics *statistics, struct relations *relations, bool fresh)
{
	int *sources = mem_new((size_t)relations->count, sizeof *sources);
	int64_t known = strings_count(statistics->sources);

	for (int64_t i = 0; i < relations->count; i++) {
		size_t length;
		const char *name = relations_source(relations, i, &length);
		sources[i] = fresh ? statistics_source(statistics, name, length)
				   : (int)strings_find(statistics->sources, name, length);
		if (sources[i] < 0)
			die("%s: record %lld: row %lld is of the source '%.*s', which the statistics do not know; fit them on all sources",
			    stream_name(relations->reader),
			    (long long)stream_records(relations->reader),
			    (long long)i + 1, (int)length, name);
		if (sources[i] == known)
			check_name(
			    relations, strings_get(statistics->sources, known++), length);
	}
	return sources;
}

/* New statistics for these relations. */
static struct statistics *
begin(const struct relations *relations, const struct relation_names *names)
{
	struct statistics *statistics = statistics_new(relations->width);
	const char *model =
	    tree_string(stream_properties(relations->reader), "model", NULL);

	statistics->anchor = mem_string(names->anchor);
	statistics->positive = mem_string(names->positive);
	statistics->model = model ? mem_string(model) : NULL;
	statistics->kind = mem_string(vectors_kind(relations->anchor));
	return statistics;
}

/* Dies unless both are of relations of the same kind.  If `other`, the first, names no model, it takes that of `one`. */
static void
check_alike(const struct statistics *one, const char *name, struct statistics *other,
    const char *other_name, bool any_model)
{
	if (!any_model)
		collect_check_model(name, one->model,
		    other->model_stream ? other->model_stream : other_name, other->model);
	if (one->model && !other->model) {
		other->model = mem_string(one->model);
		other->model_stream = mem_string(name);
	}
	if (!any_model && strcmp(one->kind, other->kind) != 0)
		die("%s: its vectors are %s, those of %s are %s; encode both with the same --emit",
		    name, one->kind, other_name, other->kind);
	if (one->width != other->width)
		die("%s: its embeddings have width %d, those of %s %d", name,
		    one->width / 2, other_name, other->width / 2);
	if (strcmp(one->anchor, other->anchor) != 0 ||
	    strcmp(one->positive, other->positive) != 0)
		die("%s: its relations are of %s and %s, those of %s of %s and %s", name,
		    one->anchor, one->positive, other_name, other->anchor,
		    other->positive);
}

/* Reads the pairs of several streams, one after the other. */
struct pair_streams {
	const char *const *paths;
	int left; /* of the paths */
	const struct relation_names *names;
	bool any_model;
	struct reader *first;
	struct statistics *statistics;
	struct relations *relations; /* of the current stream; NULL: none */
	struct progress *progress;
	struct record record;
	int *sources; /* of the record's rows */
	int64_t row;
};

static void
open_pairs(struct pair_streams *pairs)
{
	struct reader *reader = stream_open(*pairs->paths++);

	pairs->left--;
	pairs->relations = relations_open(reader, pairs->names);
	struct statistics *own = begin(pairs->relations, pairs->names);
	if (pairs->first) {
		check_alike(own, stream_name(reader), pairs->statistics,
		    stream_name(pairs->first), pairs->any_model);
		statistics_free(own);
	} else {
		pairs->first = reader;
		pairs->statistics = own;
	}
	pairs->progress = stream_progress(reader);
}

static void
close_pairs(struct pair_streams *pairs)
{
	struct reader *reader = pairs->relations->reader;

	progress_free(pairs->progress);
	relations_close(pairs->relations);
	if (reader != pairs->first)
		stream_close(reader);
	pairs->relations = NULL;
}

/* Reads the next record that has rows, of this stream or the next; false at the end. */
static bool
next_record(struct pair_streams *pairs)
{
	free(pairs->sources);
	pairs->sources = NULL;
	while (pairs->relations || pairs->left) {
		if (!pairs->relations)
			open_pairs(pairs);
		while (stream_next(pairs->relations->reader, &pairs->record)) {
			if (pairs->record.rows == 0)
				continue;
			relations_load(pairs->relations, &pairs->record);
			pairs->sources =
			    collect_sources(pairs->statistics, pairs->relations, true);
			pairs->row = 0;
			return true;
		}
		close_pairs(pairs);
	}
	return false;
}

/* A covariance_source. */
static int64_t
take_relations(void *context, float *to)
{
	struct pair_streams *pairs = context;
	int64_t count = 0;

	for (; count < COVARIANCE_BLOCK; count++, to += pairs->statistics->width) {
		if ((!pairs->sources || pairs->row == pairs->record.rows) &&
		    !next_record(pairs))
			break;
		relations_row(pairs->relations, pairs->row, to);
		statistics_count(pairs->statistics, to, pairs->sources[pairs->row++]);
	}
	return count;
}

struct statistics *
collect_pairs(const char *const *paths, int count, const struct relation_names *names,
    bool any_model, struct reader **first)
{
	struct pair_streams pairs = {
		.paths = paths, .left = count, .names = names, .any_model = any_model
	};

	open_pairs(&pairs);
	covariance_collect(pairs.statistics->sums, take_relations, &pairs);
	*first = pairs.first;
	if (pairs.statistics->sums->count == 0)
		die("%s: there is no pair in it", stream_name(*first));
	return pairs.statistics;
}

struct statistics *
collect_statistics(const char *const *paths, int count,
    const struct shrinkage_options *options, bool any_model,
    struct shrinkage_settings *settings, struct reader **first)
{
	struct statistics *all = NULL;
	char *made = NULL; /* name of the statistics that gave the settings */

	for (int i = 0; i < count; i++) {
		struct reader *reader = stream_open(paths[i]);
		struct statistics *own = statistics_read(reader, false);
		int differs = own->eigen && made ? shrinkage_options_differ(
						       options, &own->settings, settings)
						 : -1;
		if (differs >= 0)
			die("%s: it was made with another --%s than %s; say which one is meant",
			    stream_name(reader),
			    shrinkage_option_name((enum shrinkage_option)differs), made);
		if (own->eigen) {
			*settings = own->settings;
			free(made);
			made = mem_string(stream_name(reader));
		}
		if (!all) {
			*first = reader;
			all = own;
			continue;
		}
		check_alike(
		    own, stream_name(reader), all, stream_name(*first), any_model);
		statistics_merge(all, own);
		statistics_free(own);
		stream_close(reader);
	}
	*settings = shrinkage_options_complete(options, made ? settings : NULL);
	free(made);
	return all;
}
