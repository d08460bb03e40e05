/*
 * near - exact nearest neighbours of one stream in another
 *
 * reads	FIELD.emb (f32 [width]), in both; _id or id (text or i64), where there are; FIELD or
 *		text (text), where it was kept, or another column
 * writes	lines for people, TREC's columns or JSON Lines
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/output.h"
#include "base/terminal.h"
#include "mts/hits.h"
#include "nn/nn.h"
#include "search/corpus_search.h"
#include "search/merge.h"

enum {
	OPT_THRESHOLD = CLI_LONG,
	OPT_SELF,
	OPT_PAIRS,
	OPT_SHOW,
	OPT_RUN,
	OPT_JSON,
	OPT_MERGE,
	OPT_TEXT,
	OPT_SIMILARITY,
	OPT_ANY_MODEL,
	OPT_MEMORY
};

static const struct cli_option options[] = {
	{ 'k', "top", "N", "documents a query (default: 10; with --run 1000)" },
	{ OPT_THRESHOLD, "threshold", "SCORE", "none whose score is below it" },
	{ OPT_SELF, "exclude-self", NULL,
	    "no document with the query's id; of streams without ids, that\n"
	    "are one file, not the query's own row" },
	{ OPT_PAIRS, "self", NULL,
	    "the pairs of one stream: each once, the most similar first;\n"
	    "-k neighbours of each row are looked at (default: 100)" },
	{ OPT_SHOW, "show", "COLUMN", "what is shown of a document (default: its text)" },
	{ OPT_TEXT, "texts", "FILE",
	    "the documents' texts: JSON Lines, TSV, CSV or lines" },
	{ OPT_JSON, "json", NULL, "print an object a query, with its hits" },
	{ OPT_RUN, "run", "FILE",
	    "write TREC's columns there instead ('-': print them)" },
	{ OPT_MERGE, "merge", NULL,
	    "search no more: of runs over shards of a corpus, by --run or --json,\n"
	    "make that of the whole" },
	CLI_FIELD,
	{ OPT_SIMILARITY, "similarity", "cosine|dot",
	    "what is greatest (default: the model's way, else cosine)" },
	{ OPT_ANY_MODEL, "any-model", NULL, "the streams may be of two models" },
	{ OPT_MEMORY, "memory", "SIZE",
	    "what queries, hits and two blocks of documents may take,\n"
	    "as 512M or 2G (default: 16 MB for a block)" },
	CLI_OUTPUT, CLI_THREADS, { 0 }
};

static const struct cli cli = { "near",
	"find the nearest neighbours of one stream in another",
	"[OPTION]... QUERIES CORPUS...\n"
	"       near [OPTION]... CORPUS\n"
	"       near --self [OPTION]... CORPUS\n"
	"       near --merge [-k N] RUN...",
	options,
	"  near q.mts c.mts\n"
	"  tok -m DIR questions.txt | encode -m DIR | near -k 3 --texts corpus.jsonl c.mts\n"
	"  near --self --threshold 0.9 c.mts\n"
	"  near --merge c1.run c2.run c3.run > c.run\n"
	"  near q.mts c.mts --run - | mteb-score retrieval --qrels test.tsv --from-run -\n",
	nn_about, NULL, ".mts" };

struct settings {
	struct search_options search;
	const char *run, *text, *output;
	bool json, merge, self;
	int threads;
};

static void
parse(struct settings *settings, int argc, char **argv)
{
	static const char *const similarities[] = { "cosine", "dot", NULL };
	struct search_options *search = &settings->search;
	int option;

	while ((option = cli_next(&cli, argc, argv)) != -1)
		switch (option) {
		case 'k': search->depth = cli_integer("--top", 1, 1000000); break;
		case OPT_THRESHOLD:
			search->threshold =
			    (float)cli_real("--threshold", -FLT_MAX, FLT_MAX);
			break;
		case OPT_SELF: search->exclude_self = true; break;
		case OPT_PAIRS: settings->self = true; break;
		case OPT_SHOW: search->show = optarg; break;
		case OPT_RUN: settings->run = optarg; break;
		case OPT_JSON: settings->json = true; break;
		case OPT_MERGE: settings->merge = true; break;
		case OPT_TEXT: settings->text = optarg; break;
		case 'f': search->field = optarg; break;
		case OPT_SIMILARITY:
			search->similarity =
			    cli_word("--similarity", optarg, similarities)
				? SIMILARITY_DOT
				: SIMILARITY_COSINE;
			break;
		case OPT_ANY_MODEL: search->any_model = true; break;
		case OPT_MEMORY: search->memory = (size_t)cli_bytes("--memory"); break;
		case 'o': settings->output = optarg; break;
		case 'j': settings->threads = cli_threads(); break;
		}
}

/* One operand is the corpus; of several the first is the queries. */
static void
take_streams(struct search_options *search, char **operands, int count, bool self)
{
	if (self && (count != 1 || !strcmp(operands[0], "-")))
		die_usage("--self takes one stream, in a file, which is read twice");
	if (count == 0)
		die_usage("near takes two streams: queries and corpus");
	if (count == 1 && !self && isatty(STDIN_FILENO))
		die_usage(
		    "there are no queries: %s is the corpus, and standard input a terminal; --self searches it for its own rows",
		    operands[0]);
	search->queries = count == 1 && !self ? "-" : operands[0];
	search->corpus = (const char *const *)operands + (count > 1);
	search->streams = count - (count > 1);
	if (count == 1 && !self && !strcmp(operands[0], "-"))
		die_usage("standard input is the queries: name the corpus");
}

static void
print(
    const struct run *run, bool json, bool self, const struct output *output, bool first)
{
	int width = terminal_width(STDOUT_FILENO);

	if (self) {
		hits_print_pairs(run, json, width);
		if (fflush(stdout) || ferror(stdout))
			die("%s:", output_name(output));
		return;
	}
	for (int64_t i = 0; i < strings_count(run->queries); i++) {
		if (json) {
			hits_print_json(run, i);
			continue;
		}
		if (i || !first)
			putchar('\n');
		hits_print(run, i, width);
	}
	if (fflush(stdout) || ferror(stdout))
		die("%s:", output_name(output));
}

/* Nothing is opened, nor taken from the terminal, before there is an answer. */
static void
answer(struct corpus_search *searching, const struct settings *settings)
{
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
			print(run, settings->json, settings->self, output, first);
		}
		run_free(run);
	}
	output_finish(output);
}

static void
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
		print(run, json, false, output, true);
	else
		run_write(run, output, INT64_MAX);
	output_finish(output);
	run_free(run);
}

static void
check(const struct settings *settings)
{
	if (settings->run)
		cli_only(&cli, "--run",
		    "top threshold exclude-self run field similarity any-model memory threads");
	if (settings->self)
		cli_only(&cli, "--self",
		    "self top threshold show json field similarity any-model memory output threads");
	if (settings->text && settings->search.show)
		die_usage("what is shown? --text or --show, not both");
}

int
main(int argc, char **argv)
{
	struct settings settings = { .search = { .threshold = -INFINITY },
		.output = "-" };
	struct search_options *search = &settings.search;

	cli_start(&cli, argc, argv);
	parse(&settings, argc, argv);
	if (settings.merge) {
		merge(&settings, argv + optind, argc - optind);
		return 0;
	}
	take_streams(search, argv + optind, argc - optind, settings.self);
	check(&settings);
	if (!search->depth)
		search->depth = settings.run ? 1000 : settings.self ? 100 : 10;
	search->reason = settings.run ? "by which a run names the rows" : NULL;
	search->texts = !settings.run;
	search->live = !settings.self;
	search->self = settings.self;
	search->exclude_self |= settings.self;
	nn_start(settings.threads, argv);
	struct corpus_search *searching = corpus_search_open(search);
	answer(searching, &settings);
	corpus_search_close(searching);
	return 0;
}
