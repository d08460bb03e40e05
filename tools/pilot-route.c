/*
 * pilot-route - choose an adapter for each query
 *
 * reads	X.emb		f32 [width]	the base model's embedding (by pilots)
 *		_id or id	text or i64	the query's id (--oracle)
 * writes	gate		text		the chosen adapter
 *		score.GATE	f32, f64	the score of each adapter
 *		X.gate, X.score.GATE		instead, with --field X
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/rng.h"
#include "nn/nn.h"
#include "papers/routing/gate_columns.h"
#include "papers/routing/gate_scores.h"
#include "papers/routing/routed_vectors.h"
#include "score/per_query.h"

enum { OPT_ORACLE = CLI_LONG, OPT_BEST, OPT_RANDOM };

enum mode { BY_PILOTS, BY_ORACLE, BY_BEST, BY_RANDOM };

struct settings {
	enum mode mode;
	int rule, similarity; /* enum rule, enum similarity; -1, 0: not given */
	const char *metric, *output;
	struct cli_list fields;
	uint64_t seed;
	int level, threads;
	bool any_model;
};

static const struct cli_option options[] = {
	{ 0, "rule", "mean|max|weighted",
	    "score of a gate over its pilots; weighted: mean by number of queries (default: mean; of queries of data sets: max)",
	    CLI_WORD(rule, RULE_MEAN) },
	{ 0, "similarity", "cosine|dot", "of query and pilot (default: dot)",
	    CLI_WORD(similarity, SIMILARITY_COSINE) },
	{ OPT_ORACLE, "oracle", NULL, "the gate with the best score for each query",
	    CLI_CUSTOM },
	{ OPT_BEST, "best", NULL, "the gate with the best mean for all queries",
	    CLI_CUSTOM },
	{ OPT_RANDOM, "random", NULL, "a random gate", CLI_CUSTOM },
	{ 0, "metric", "NAME", "oracle and best: metric (default: ndcg_at_10)",
	    CLI_TEXT(metric) },
	{ 's', "seed", "N", "random: seed (default: 42)",
	    CLI_INTEGER(seed, 0, INT64_MAX) },
	{ 'f', "field", "NAME",
	    "route the embeddings NAME.emb, and write NAME.gate; repeatable (default: the only ones; gate)",
	    CLI_LIST(fields) },
	{ 0, "any-model", NULL, "accept queries and pilots of two models",
	    CLI_FLAG(any_model) },
	CLI_LEVEL(level), CLI_OUTPUT(output), CLI_THREADS(threads), { 0 }
};

static const struct cli cli = { "pilot-route", "choose an adapter for each query",
	"[OPTION]... PILOTS [FILE]\n"
	"       pilot-route --oracle|--best [OPTION]... [GATE=]SCORES... < FILE",
	options,
	"  tok -m MODEL queries.jsonl | encode -m MODEL --keep |\n"
	"      pilot-route pilots.mts | encode -m MODEL --gates gates/ > q.mts\n"
	"  pilot-route --oracle scores/*.tsv < q.mts | mts to tsv\n",
	nn_about, NULL, ".mts" };

/* The state of a run. */
struct route {
	const struct settings *settings;
	struct reader *in;
	struct pilot_library *library;	/* by pilots, at random */
	struct routing *routing;	/* by pilots */
	struct gate_scores *scores;	/* oracle, best */
	double *means;			/* best */
	struct rng rng;			/* random */
	struct routed_vectors **routed; /* by pilots; ends with NULL */
	struct gate_columns *columns;	/* else */
	int64_t rows;			/* so far */
};

static void
choose_mode(struct settings *settings, enum mode mode)
{
	if (settings->mode != BY_PILOTS && settings->mode != mode)
		die_usage("--oracle, --best and --random exclude each other");
	settings->mode = mode;
}

/* Dies if a field is given twice. */
static void
check_fields(const struct cli_list *fields)
{
	for (int i = 0; i < fields->count; i++)
		for (int j = 0; j < i; j++)
			if (!strcmp(fields->items[i], fields->items[j]))
				die_usage("--field %s is given twice", fields->items[i]);
}

static void
parse(struct settings *settings, int argc, char **argv)
{
	int option;

	while ((option = cli_next(&cli, argc, argv, settings)) != -1)
		choose_mode(settings, option == OPT_ORACLE ? BY_ORACLE
				      : option == OPT_BEST ? BY_BEST
							   : BY_RANDOM);
	check_fields(&settings->fields);
}

static void
check(const struct settings *settings, int operands)
{
	switch (settings->mode) {
	case BY_PILOTS:
		cli_only(&cli, "routing by pilots",
		    "rule similarity field any-model level output threads");
		break;
	case BY_ORACLE: cli_only(&cli, "--oracle", "oracle metric level output"); break;
	case BY_BEST: cli_only(&cli, "--best", "best metric level output"); break;
	case BY_RANDOM: cli_only(&cli, "--random", "random seed level output"); break;
	}
	bool scores = settings->mode == BY_ORACLE || settings->mode == BY_BEST;
	if (!operands)
		die_usage(
		    scores
			? "there are no files of scores; name one for each gate"
			: "PILOTS is missing: the library that 'pilot-build fit' wrote");
	if (!scores && operands > 2)
		die_usage("pilot-route takes a library and one stream, not %d streams",
		    operands - 1);
}

/* Opens the library; rule and similarity are its own unless given. */
static void
open_library(struct route *route, char **operands)
{
	const struct settings *settings = route->settings;

	route->library = pilot_library_read(operands[0]);
	struct router_options how = router_usual(route->library);
	bool classifies = router_classifies(route->library->router);
	if (classifies && (settings->rule >= 0 || settings->similarity))
		die_usage("%s does not apply to %s, which has classifiers, not pilots",
		    settings->rule >= 0 ? "--rule" : "--similarity", operands[0]);
	if (settings->rule >= 0)
		how.rule = (enum rule)settings->rule;
	if (settings->similarity)
		how.similarity = (enum similarity)settings->similarity;
	if (settings->mode == BY_PILOTS)
		route->routing = router_new(route->library, &how);
}

/* Opens the given fields, or the only one. */
static void
open_vectors(struct route *route, const char *library)
{
	static const char *const only[] = { NULL };
	const struct settings *settings = route->settings;
	const char *const *fields =
	    settings->fields.count ? settings->fields.items : only;
	size_t count = 0;

	do {
		route->routed =
		    mem_resize(route->routed, count + 2, sizeof *route->routed);
		route->routed[count] =
		    routed_vectors_open(route->in, fields[count], route->library, library,
			settings->similarity ? (enum similarity)settings->similarity
					     : SIMILARITY_DOT,
			settings->any_model);
		route->routed[++count] = NULL;
	} while (fields != only && fields[count]);
}

static struct route
open_route(const struct settings *settings, char **operands, int count)
{
	struct route route = { .settings = settings, .rng = rng_seed(settings->seed, 0) };
	bool scores = settings->mode == BY_ORACLE || settings->mode == BY_BEST;
	const char *path = !scores && count > 1 ? operands[1] : "-";

	if (scores)
		route.scores = gate_scores_open(operands, count, settings->metric);
	else
		open_library(&route, operands);
	if (settings->mode == BY_BEST) {
		route.means = mem_new((size_t)count, sizeof *route.means);
		gate_scores_means(route.scores, route.means);
	}
	route.in = stream_open(path);
	if (settings->mode == BY_PILOTS)
		open_vectors(&route, operands[0]);
	return route;
}

/* Fills scores[gates] of a query, or the means over all queries; returns the best gate. */
static int
look_up(struct route *route, const struct record *record, int64_t row, double *scores)
{
	char room[VALUES_ROOM];
	size_t length;

	if (route->means) {
		memcpy(
		    scores, route->means, (size_t)route->scores->count * sizeof *scores);
	} else {
		const char *id = per_query_id(
		    route->in, record, row, route->rows + row + 1, room, &length);
		gate_scores_of(route->scores, id, length, scores);
	}
	return gate_scores_best(scores, route->scores->count, NULL);
}

static void
route_rows(struct route *route, const struct record *record, struct record *made)
{
	double *scores = gate_columns_scores(route->columns, record->rows);
	int32_t *chosen = gate_columns_chosen(route->columns, record->rows);

	for (int64_t row = 0; row < record->rows; row++)
		chosen[row] =
		    route->scores
			? look_up(route, record, row, scores + row * route->scores->count)
			: (int)rng_below(&route->rng,
			      (uint64_t)strings_count(route->library->gates));
	gate_columns_put(route->columns, made, record->rows, NULL);
	route->rows += record->rows;
}

static void
add_columns(struct route *route, struct writer *out)
{
	for (struct routed_vectors **at = route->routed; at && *at; at++)
		routed_vectors_add(*at, out);
	if (!route->routed)
		route->columns = gate_columns_new(out, route->in, NULL, false,
		    route->scores ? route->scores->gates : route->library->gates,
		    route->scores ? GATE_COLUMNS_F64 : GATE_COLUMNS_NONE);
}

static void
run(struct route *route)
{
	const struct settings *settings = route->settings;
	struct writer *out = stream_create(settings->output, route->in);
	struct record record;

	stream_level(out, settings->level);
	if (settings->mode == BY_RANDOM)
		stream_seed(out, settings->seed);
	add_columns(route, out);
	struct progress *progress = stream_progress(route->in);
	while (stream_next(route->in, &record)) {
		struct record *made = stream_make(out, &record);
		for (struct routed_vectors **at = route->routed; at && *at; at++)
			routed_vectors_route(*at, route->routing, &record, made);
		if (!route->routed)
			route_rows(route, &record, made);
		stream_put(out, made);
	}
	progress_free(progress);
	stream_finish(out);
}

static void
close_route(struct route *route)
{
	for (struct routed_vectors **at = route->routed; at && *at; at++)
		routed_vectors_close(*at);
	free(route->routed);
	if (route->columns)
		gate_columns_free(route->columns);
	if (route->routing)
		router_free(route->routing);
	if (route->library)
		pilot_library_free(route->library);
	if (route->scores)
		gate_scores_close(route->scores);
	free(route->means);
	stream_close(route->in);
}

int
main(int argc, char **argv)
{
	struct settings settings = {
		.output = "-", .level = -1, .metric = "ndcg_at_10", .seed = 42, .rule = -1
	};

	nn_start(0, argv); /* --version prints it */
	cli_start(&cli, argc, argv);
	parse(&settings, argc, argv);
	check(&settings, argc - optind);
	if (settings.threads)
		nn_start(settings.threads, argv);
	struct route route = open_route(&settings, argv + optind, argc - optind);
	run(&route);
	close_route(&route);
	free(settings.fields.items);
	return 0;
}
