/*
 * near - exact nearest neighbours of one stream in another
 *
 * reads	FIELD.emb	f32 [width]	in both streams
 *		_id or id	text or i64	optional
 *		FIELD or text	text		optional, or another column: what is shown
 *		of the corpus also from an index
 *		--mine: a run and qrels
 * writes	text, JSON Lines or a TREC run
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/local_socket.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/serve.h"
#include "mts/hits.h"
#include "nn/nn.h"
#include "search/corpus_search.h"
#include "search/fuse.h"
#include "search/index_search.h"
#include "search/merge.h"
#include "search/mine.h"

struct settings {
	struct search_options search;
	struct cli_list where;
	const char *probe;
	const char *run, *text, *output, *listen;
	bool json, merge, self;
	enum fuse_method fuse; /* 0: none */
	const char *run_weights;
	struct mine_options mine;
	int threads;
};

static const struct cli_option options[] = {
	{ 'k', "top", "N", "documents a query (default: 10; with --run 1000)",
	    CLI_INTEGER(search.depth, 1, 1000000) },
	{ 0, "threshold", "SCORE", "drop documents with a lower score",
	    CLI_REAL(search.threshold, -FLT_MAX, FLT_MAX) },
	{ 0, "exclude-self", NULL,
	    "drop the document with the query's id; without ids, of one file, the query's own row",
	    CLI_FLAG(search.exclude_self) },
	{ 0, "self", NULL,
	    "print the similar pairs of one stream, the most similar first, of -k neighbours a row (default: 100)",
	    CLI_FLAG(self) },
	{ 0, "best", NULL,
	    "rank documents by their best passages: rows with the same id (default: the first)",
	    CLI_FLAG(search.best) },
	{ 0, "rescore", "N",
	    "of an index: choose N times -k documents by bits and compare these exactly (default: exact by all)",
	    CLI_INTEGER(search.rescore, 1, 1000000) },
	{ 0, "probe", "N",
	    "of an index with cells: search the N cells nearest to a query, or 'all' (default: all)",
	    CLI_TEXT(probe) },
	{ 0, "beam", "N",
	    "of an index with a graph: keep the N nearest documents while following links (default: exact by all)",
	    CLI_INTEGER(search.beam, 1, 1000000) },
	{ 0, "where", "CONDITION",
	    "search documents with COLUMN=VALUE, or !=, <, <=, >, >=, ~, !~; repeatable: all must hold",
	    CLI_LIST(where) },
	{ 0, "candidates", "RUN",
	    "with --run: compare each query with its documents in this run alone",
	    CLI_TEXT(search.candidates) },
	{ 0, "show", "COLUMN", "column to show of a document (default: its text)",
	    CLI_TEXT(search.show) },
	{ 0, "texts", "FILE", "texts of documents: JSON Lines, TSV, CSV or lines",
	    CLI_TEXT(text) },
	{ 0, "json", NULL, "print a JSON object for each query", CLI_FLAG(json) },
	{ 0, "run", "FILE", "write a TREC run ('-': standard output) instead",
	    CLI_TEXT(run) },
	{ 0, "listen", "SOCKET",
	    "answer streams of queries that come to a Unix socket: 'near QUERIES SOCKET'",
	    CLI_TEXT(listen) },
	{ 0, "merge", NULL, "merge the runs of a corpus' shards into one",
	    CLI_FLAG(merge) },
	{ 0, "fuse", "rrf|min-max",
	    "fuse the runs of several searches, by ranks or by scaled scores",
	    CLI_WORD(fuse, FUSE_RRF) },
	{ 0, "run-weights", "W,...", "with --fuse: weights of the runs (default: 1 each)",
	    CLI_TEXT(run_weights) },
	{ 0, "mine", "QRELS",
	    "print pairs with hard negatives from a run, JSON Lines, -k a pair (default: 3)",
	    CLI_TEXT(mine.qrels) },
	{ 0, "query-texts", "FILE", "with --mine and --texts: texts of queries",
	    CLI_TEXT(mine.query_texts) },
	{ 0, "skip", "N", "with --mine: skip the N best candidates (default: 0)",
	    CLI_INTEGER(mine.first, 0, 1000000) },
	{ 0, "depth", "N",
	    "with --mine: candidates, with those skipped (default: as needed)",
	    CLI_INTEGER(mine.last, 1, 1000000) },
	{ 0, "margin", "X",
	    "with --mine: score + X is at most that of the relevant document",
	    CLI_REAL(mine.margin, -FLT_MAX, FLT_MAX) },
	{ 0, "relative-margin", "X",
	    "with --mine: a score is that share below that of the relevant document",
	    CLI_REAL(mine.relative_margin, 0, 1e6) },
	{ 0, "max-score", "X", "with --mine: largest score of a negative",
	    CLI_REAL(mine.most, -FLT_MAX, FLT_MAX) },
	{ 0, "random", NULL, "with --mine: take candidates at random, not the best",
	    CLI_FLAG(mine.random) },
	{ 's', "seed", "N", "with --mine: seed of --random (default: 0)",
	    CLI_INTEGER(mine.seed, 0, INT64_MAX) },
	{ 'f', "field", "NAME", "embeddings are NAME.emb (default: the only ones)",
	    CLI_TEXT(search.field) },
	{ 0, "similarity", "cosine|dot|maxsim|meanmaxsim",
	    "similarity function (default: the model's, else cosine); maxsim: late interaction, by NAME.tokens",
	    CLI_WORD(search.similarity, SIMILARITY_COSINE) },
	{ 0, "any-model", NULL, "accept streams of two models",
	    CLI_FLAG(search.any_model) },
	{ 0, "memory", "SIZE",
	    "memory for queries, hits and two blocks of documents, 512M or 2G (default: blocks of 16 MB)",
	    CLI_BYTES(search.memory) },
	CLI_OUTPUT(output), CLI_THREADS(threads), { 0 }
};

static const struct cli cli = { "near",
	"find the nearest neighbours of one stream in another",
	"[OPTION]... QUERIES CORPUS...\n"
	"       near [OPTION]... QUERIES INDEX\n"
	"       near [OPTION]... CORPUS\n"
	"       near --listen SOCKET [OPTION]... CORPUS|INDEX\n"
	"       near QUERIES SOCKET\n"
	"       near --self [OPTION]... CORPUS\n"
	"       near --merge [-k N] RUN...\n"
	"       near --fuse rrf|min-max [--run-weights W,...] [-k N] RUN...\n"
	"       near --mine QRELS [OPTION]... RUN",
	options,
	"  near q.mts c.mts\n"
	"  tok -m DIR q.txt | encode -m DIR | near -k 3 --texts corpus.jsonl c.mts\n"
	"  mts index -o c.index c.mts && near q.mts c.index\n"
	"  near --self --threshold 0.9 c.mts\n"
	"  near --merge c1.run c2.run c3.run > c.run\n"
	"  near --fuse rrf words.run meaning.run > both.run\n"
	"  near --mine train.tsv --texts c.jsonl --query-texts q.jsonl c.run > hard.jsonl\n"
	"  near q.mts c.mts --run - | mteb-score retrieval --qrels test.tsv --from-run -\n",
	nn_about, NULL, ".mts" };

/* One operand is the corpus; of several the first is the queries. */
static void
take_streams(
    struct search_options *search, char **operands, int count, bool self, bool listens)
{
	bool given = self || listens; /* the queries */

	if (self && (count != 1 || !strcmp(operands[0], "-")))
		die_usage("--self takes one stream, in a file, which is read twice");
	if (count == 0)
		die_usage("near takes two streams: queries and corpus");
	if (count == 1 && !given && isatty(STDIN_FILENO))
		die_usage(
		    "there are no queries: %s is the corpus, and standard input a terminal; --self searches it for its own rows",
		    operands[0]);
	int queries = count > 1 && !listens;
	search->queries = listens || (count == 1 && !self) ? "-" : operands[0];
	search->corpus = (const char *const *)operands + queries;
	search->streams = count - queries;
	if (count == 1 && !self && !strcmp(operands[0], "-"))
		die_usage("standard input is the queries: name the corpus");
}

/* Opens the output, and leaves the terminal alone, only when there is an answer. */
static void
search_all(void *context)
{
	const struct settings *settings = context;
	struct corpus_search *searching = corpus_search_open(&settings->search);
	struct output *output = NULL;
	struct run *run;

	while ((run = corpus_search_next(searching))) {
		bool first = !output;
		if (first)
			output = settings->run ? output_open(settings->run, false)
					       : output_print(settings->output);
		if (settings->run) {
			run_write(run, output, settings->search.depth);
			output_flush(output);
		} else {
			if (settings->text)
				run_read_texts(run, settings->text);
			hits_print_run(
			    run, settings->json, settings->self, first, output);
		}
		run_free(run);
	}
	output_finish(output);
	corpus_search_close(searching);
}

/* Answers the clients of a socket.  The process of each client opens the corpus, and so finds rows that were appended. */
static void
listen_at(struct settings *settings)
{
	bool made;

	if (settings->run && strcmp(settings->run, "-") != 0)
		die_usage("--run: with --listen the run goes to the client: '-'");
	corpus_search_check(&settings->search);
	int listener = local_socket_listen(settings->listen, &made);
	inform("listens at %s", settings->listen);
	serve(listener, search_all, settings);
	if (made)
		unlink(settings->listen);
}

/* Asks a near that listens. */
static void
ask(const struct settings *settings)
{
	cli_only(&cli, "a socket, whose program has the options", "output");
	struct output *output = output_open(settings->output, false);

	local_socket_ask(settings->search.corpus[0], settings->search.queries, output);
	output_finish(output);
}

static int
merge(const struct settings *settings, char **runs, int count)
{
	bool json;

	cli_only(&cli, "--merge", "merge top output");
	if (!count)
		die_usage("--merge takes runs, a file each");
	struct run *run =
	    merge_runs((const char *const *)runs, count, settings->search.depth, &json);
	struct output *output =
	    json ? output_print(settings->output) : output_open(settings->output, false);
	if (json)
		hits_print_run(run, json, false, true, output);
	else
		run_write(run, output, INT64_MAX);
	output_finish(output);
	run_free(run);
	return 0;
}

static int
fuse(const struct settings *settings, char **runs, int count)
{
	cli_only(&cli, "--fuse", "fuse run-weights top output");
	if (count < 2)
		die_usage("--fuse takes two runs or more, a file each");
	double *weights = fuse_weights(settings->run_weights, count);
	struct run *run = fuse_runs(settings->fuse, (const char *const *)runs, weights,
	    count, settings->search.depth ? settings->search.depth : 1000);
	struct output *output = output_open(settings->output, false);

	run_write(run, output, INT64_MAX);
	output_finish(output);
	run_free(run);
	free(weights);
	return 0;
}

static int
mine_run(struct settings *settings, int argc, char **argv)
{
	struct mine_options *o = &settings->mine;

	cli_only(&cli, "--mine",
	    "mine top threshold texts query-texts skip depth margin relative-margin max-score random seed output");
	o->run = cli_input(argc, argv);
	o->count = settings->search.depth ? settings->search.depth : 3;
	o->least = settings->search.threshold;
	o->texts = settings->text;
	mine(o, settings->output);
	return 0;
}

static void
check(const struct settings *settings)
{
	if (settings->search.candidates)
		cli_only(&cli, "--candidates",
		    "top candidates run field similarity any-model memory threads");
	else if (settings->run)
		cli_only(&cli, "--run",
		    "listen top threshold exclude-self best rescore probe beam where run field similarity any-model memory threads");
	if (settings->search.candidates && !settings->run)
		die_usage("--candidates needs --run");
	if (settings->self)
		cli_only(&cli, "--self",
		    "self top threshold where show json field similarity any-model memory output threads");
	if (settings->listen)
		cli_only(&cli, "--listen",
		    "listen top threshold exclude-self best rescore probe beam where show texts json run field similarity any-model memory threads");
	if (settings->text && settings->search.show)
		die_usage("--texts and --show exclude each other");
}

int
main(int argc, char **argv)
{
	struct settings settings = { .search = { .threshold = -INFINITY },
		.mine = { .margin = -INFINITY,
		    .relative_margin = -INFINITY,
		    .most = INFINITY },
		.output = "-" };
	struct search_options *search = &settings.search;

	cli_start(&cli, argc, argv);
	cli_next(&cli, argc, argv, &settings);
	if (settings.merge)
		return merge(&settings, argv + optind, argc - optind);
	if (settings.fuse)
		return fuse(&settings, argv + optind, argc - optind);
	if (settings.mine.qrels)
		return mine_run(&settings, argc, argv);
	if (settings.run_weights)
		die_usage("--run-weights needs --fuse");
	cli_only(&cli, "a search",
	    "top threshold exclude-self self best rescore probe beam where candidates show texts json run field similarity any-model memory output threads listen");
	take_streams(
	    search, argv + optind, argc - optind, settings.self, settings.listen);
	check(&settings);
	if (!settings.listen && search->streams == 1 &&
	    local_socket_is(search->corpus[0])) {
		ask(&settings);
		return 0;
	}
	if (!search->depth)
		search->depth = settings.run ? 1000 : settings.self ? 100 : 10;
	search->probe = index_search_probe(settings.probe);
	search->where = settings.where.items;
	search->where_count = settings.where.count;
	search->reason = settings.run ? "by which a run names the rows" : NULL;
	search->texts = !settings.run;
	search->live = !settings.self;
	search->self = settings.self;
	search->exclude_self |= settings.self;
	nn_start(settings.threads, argv);
	if (settings.listen)
		listen_at(&settings);
	else
		search_all(&settings);
	free(settings.where.items);
	return 0;
}
