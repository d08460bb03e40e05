/*
 * rerank - score pairs of texts with a cross-encoder
 *
 * reads	X.ids, X.second	i32 [.], i32	pairs as one sequence, of tok --pair; or lists of them
 * writes	X.score		f32		the score; f32 [labels] of a model with several
 *
 * With --queries and --texts: reads a run and the texts, writes the run in the order of the scores.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "encode/embed.h"
#include "folder/model_folder.h"
#include "model/model.h"
#include "nn/nn.h"
#include "search/rerank.h"
#include "stream/stream.h"
#include "text/tree.h"
#include "token/tokenizer.h"

struct settings {
	char *model;
	const char *input, *output;
	struct rerank_options run;
	int64_t most, cache;
	bool refuse, keep, any_tokenizer, weights_cache;
	int precision, level, threads;
};

static const struct cli_option options[] = { CLI_GROUP("Model:"), CLI_MODEL(model),
	{ 0, "precision", "f32|bf16|int8",
	    "precision of the linear layers (default: f32)", CLI_WORD(precision, 0) },
	{ 0, "weights-cache", NULL,
	    "save int8 weights in the model's folder, and use them from there",
	    CLI_FLAG(weights_cache) },
	{ 0, "template", "NAME",
	    "chat template of pairs: a name in share/rerankers.yaml (default: the model's)",
	    CLI_TEXT(run.asking.template) },
	CLI_GROUP("A run:"),
	{ 0, "queries", "FILE", "texts of the queries, with ids: rerank a run",
	    CLI_TEXT(run.queries) },
	{ 0, "texts", "FILE", "texts of the documents, with ids",
	    CLI_TEXT(run.documents) },
	{ 'f', "field", "FIELD",
	    "field of the documents, or NAME=a+b to join fields (default: text)",
	    CLI_TEXT(run.field) },
	{ 0, "instruction", "TEXT",
	    "instruction in the chat template (default: the model's)",
	    CLI_TEXT(run.asking.instruction) },
	{ 'k', "top", "N", "documents a query; those below are dropped (default: 100)",
	    CLI_INTEGER(run.depth, 1, 1000000) },
	{ 0, "max-length", "N", "largest number of ids (default: the model's)",
	    CLI_INTEGER(most, 1, 1 << 24) },
	{ 0, "no-truncate", NULL, "fail on a longer pair", CLI_FLAG(refuse) },
	{ 0, "truncation", "longest_first|only_second",
	    "the text that is cut (default: longest_first)",
	    CLI_WORD(run.truncation, PAIR_LONGEST_FIRST) },
	CLI_GROUP("A stream of pairs:"),
	{ 0, "keep", NULL, "keep the columns of token ids", CLI_FLAG(keep) },
	{ 0, "any-tokenizer", NULL, "accept tokens of any tokenizer",
	    CLI_FLAG(any_tokenizer) },
	CLI_LEVEL(level), CLI_GROUP("Output and speed:"), CLI_OUTPUT(output),
	CLI_THREADS(threads),
	{ 0, "tokens", "N", "tokens of a batch (default: 8192)",
	    CLI_INTEGER(run.tokens, 1, 1 << 28) },
	{ 0 } };

static const struct cli cli = { "rerank", "score pairs of texts with a cross-encoder",
	"[-m MODEL] [OPTION]... [FILE]\n"
	"       rerank [-m MODEL] --queries FILE --texts FILE [OPTION]... [RUN]",
	options,
	"  tok -m MODEL --pair -f query -f text pairs.jsonl |\n      rerank -m MODEL | mts to tsv\n"
	"  near q.mts c.mts --run - |\n"
	"      rerank -m MODEL --queries queries.jsonl --texts corpus.jsonl |\n"
	"      mteb-score retrieval --qrels test.tsv --from-run -\n",
	nn_about, NULL, ".mts|.run" };

static const enum dtype precisions[] = { DTYPE_F32, DTYPE_BF16, DTYPE_I8 };

/* The largest number of ids of a pair, not more than the model takes. */
static size_t
most_ids(const struct settings *s, const struct model *model)
{
	size_t takes = (size_t)model_spec(model)->positions;
	size_t most = tokenizer_max_length(s->model);

	if ((size_t)s->most > takes)
		die("%s: takes %zu tokens; --max-length %lld is more", s->model, takes,
		    (long long)s->most);
	if (s->most)
		return (size_t)s->most;
	return most && most < takes ? most : takes;
}

static void
rerank(struct settings *s, struct model *model)
{
	struct tokenizer *tokenizer = tokenizer_open(s->model);
	struct progress *progress = progress_new("pairs", 0);

	s->run.most = most_ids(s, model);
	struct run *run = run_read(s->input);
	rerank_run(run, model, tokenizer, &s->run, progress);
	progress_free(progress);
	struct output *output = output_open(s->output, false);
	run_write(run, output, INT64_MAX);
	output_finish(output);
	run_free(run);
	tokenizer_close(tokenizer);
}

/* Dies unless each column of ids is of pairs. */
static void
demand_pairs(const struct reader *in, const char *model)
{
	int pairs = 0, others = 0;

	for (int i = 0; i < stream_columns(in); i++) {
		const char *name = stream_column(in, i)->name, *dot = strrchr(name, '.');
		if (!dot || strcmp(dot, ".ids"))
			continue;
		char *second = mem_format("%.*s.second", (int)(dot - name), name);
		if (stream_find(in, second) < 0)
			others++;
		else
			pairs++;
		free(second);
	}
	if (!pairs || others)
		die("%s: has no pairs ('pair.ids', 'pair.second'); put 'tok -m %s --pair -f FIRST -f SECOND' before",
		    stream_name(in), model);
}

/* Dies unless --template is that of the pairs: their text and the answers belong together. */
static void
demand_template(const struct reader *in, const char *asked)
{
	const char *made = tree_string(stream_properties(in), "template", NULL);

	if (made && !asked)
		die("%s: its pairs were made with --template %s; give that to rerank, too",
		    stream_name(in), made);
	if (asked && (!made || strcmp(made, asked)))
		die("%s: its pairs were made %s%s; give --template %s to 'tok --pair' or leave it out here",
		    stream_name(in), made ? "with --template " : "without --template",
		    made ? made : "", asked);
}

static void
score(const struct settings *s, struct model *model)
{
	struct reader *in = stream_open(s->input);
	struct record record;

	if (!s->any_tokenizer)
		tokenizer_check(in, s->model);
	demand_pairs(in, s->model);
	demand_template(in, s->run.asking.template);
	struct writer *out = stream_create(s->output, in);
	struct embed *embed = embed_new(model, in, out,
	    &(struct embed_options){ .tokens = s->run.tokens,
		.keep = s->keep,
		.scores = true,
		.cache = s->cache });
	struct progress *progress = progress_new("tokens", 0);
	stream_level(out, s->level);
	stream_property(out, "model", model_fingerprint(model));
	if (!s->keep)
		stream_property(out, "template", NULL);
	while (stream_next(in, &record)) {
		embed_begin(embed, &record, progress);
		struct record *made = stream_make(out, &record);
		embed_end(embed, &record, made);
		stream_put(out, made);
	}
	progress_span(progress, stream_share(in), 0);
	stream_finish(out);
	progress_free(progress);
	embed_free(embed);
	stream_close(in);
}

static struct settings
parse(int argc, char **argv)
{
	struct settings s = {
		.level = -1, .output = "-", .cache = 128 << 20, .run = { .depth = 100 }
	};

	cli_next(&cli, argc, argv, &s);
	if (!s.run.queries != !s.run.documents)
		die_usage("--queries and --texts go together");
	if (s.run.queries)
		cli_only(&cli, "--queries",
		    "model precision weights-cache template queries texts field instruction top max-length no-truncate truncation output threads tokens");
	else
		cli_only(&cli, "a stream of pairs",
		    "model precision weights-cache template keep any-tokenizer level output threads tokens");
	if (s.weights_cache && precisions[s.precision] != DTYPE_I8)
		die_usage("--weights-cache needs --precision int8");
	if (s.refuse)
		s.run.truncation = PAIR_REFUSE;
	s.input = cli_input(argc, argv);
	s.model = model_folder(s.model);
	return s;
}

int
main(int argc, char **argv)
{
	nn_start(0, argv); /* --version prints it */
	cli_start(&cli, argc, argv);
	struct settings s = parse(argc, argv);
	if (s.threads)
		nn_start(s.threads, argv);
	inform("%s", nn_about());
	struct model *model = model_open_classifier(
	    s.model, precisions[s.precision], s.weights_cache, s.run.asking.template);
	if (s.run.queries)
		rerank(&s, model);
	else
		score(&s, model);
	model_close(model);
	free(s.model);
	return 0;
}
