#include "papers/reze/targets.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "papers/reze/collect.h"
#include "papers/reze/debias.h"
#include "papers/reze/statistics_file.h"

struct relation_names
targets_names(const struct relation_names *given, const struct statistics *made)
{
	return (struct relation_names){
		.anchor = given->anchor ? given->anchor
			  : made	? made->anchor
					: "query",
		.positive = given->positive ? given->positive
			    : made	    ? made->positive
					    : "document",
		.source = given->source ? given->source : "dataset",
	};
}

static struct statistics *
read_statistics(const char *path)
{
	struct reader *reader = stream_open(path);
	struct statistics *statistics = statistics_read(reader, true);

	stream_close(reader);
	return statistics;
}

struct targets *
targets_open(struct reader *reader, const char *path, const struct relation_names *given,
    bool any_model)
{
	struct targets *targets = mem_zero(1, sizeof *targets);
	struct statistics *statistics = read_statistics(path);
	struct relation_names names = targets_names(given, statistics);
	const char *name = stream_name(reader);

	targets->statistics = statistics;
	if (!any_model)
		collect_check_model(name,
		    tree_string(stream_properties(reader), "model", NULL), path,
		    statistics->model);
	targets->relations = relations_open(reader, &names);
	const char *kind = vectors_kind(targets->relations->anchor);
	if (!any_model && strcmp(kind, statistics->kind) != 0)
		die("%s: its vectors are %s, those of %s are %s; encode both with the same --emit",
		    name, kind, path, statistics->kind);
	if (targets->relations->width != statistics->width)
		die("%s: its embeddings have width %d, those of %s %d", name,
		    targets->relations->width / 2, path, statistics->width / 2);
	targets->debias = debias_new(statistics);
	return targets;
}

void
targets_compute(struct targets *targets, const struct record *record)
{
	struct relations *relations = targets->relations;

	relations_load(relations, record);
	size_t count =
	    mem_multiply((size_t)relations->count, (size_t)relations->width, "targets");
	free(targets->sources);
	targets->sources = collect_sources(targets->statistics, relations, false);
	targets->exact =
	    mem_grow(targets->exact, &targets->room, count, sizeof *targets->exact);
	debias_relations(targets->debias, targets->exact, relations_all(relations),
	    targets->sources, relations->count);
}

void
targets_close(struct targets *targets)
{
	relations_close(targets->relations);
	debias_free(targets->debias);
	statistics_free(targets->statistics);
	free(targets->sources);
	free(targets->exact);
	free(targets);
}
