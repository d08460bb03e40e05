/*
 * encode - turn tokens into embeddings
 *
 * reads	X.ids	i32 [.]		token ids, at depth 1 or 2
 * writes	X.emb	f32 [width]	the embedding of each text; f16 or codes with --dtype
 *		X.tokens f32 [.,width]	of a late-interaction model instead: a vector of each token
 *		X.NAME			with --emit: hidden states, routing weights
 *
 * A record's texts are batched by a token budget, so memory does not depend on the input's size.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "folder/adapter_folder.h"
#include "folder/model_folder.h"
#include "folder/modules.h"
#include "folder/similarity_name.h"
#include "encode/embed.h"
#include "encode/emit.h"
#include "encode/text_batch.h"
#include "model/model.h"
#include "encode/with_tokens.h"
#include "model/pooling.h"
#include "nn/nn.h"
#include "papers/routing/routed_pass.h"
#include "stream/cast.h"
#include "stream/stream.h"
#include "token/tokenizer.h"

struct settings {
	char *model;
	char *head, *adapter; /* of an adapter's folder given as the model; else NULL */
	const char *input, *output, *lora, *gates, *pilots, *expert, *pooling, *emit,
	    *ranges;
	int64_t tokens, dim, cache;
	bool normalize, raw, keep, any_tokenizer, int8, weights_cache;
	int precision, empty, level, threads;
	enum cast_kind dtype;
};

enum { EMPTY_REFUSE, EMPTY_ZERO, EMPTY_SKIP };

static const struct cli_option options[] = { CLI_GROUP("Model:"), CLI_MODEL(model),
	{ 'e', "expert", "NAME", "task, or task expert, of records that name none",
	    CLI_TEXT(expert) },
	{ 0, "adapter", "DIR", "apply this LoRA adapter (PEFT) to all texts",
	    CLI_TEXT(lora) },
	{ 0, "gates", "DIR",
	    "folder of LoRA adapters: apply to each text the one that its column 'gate' names",
	    CLI_TEXT(gates) },
	{ 0, "pilots", "FILE",
	    "with --gates: choose each text's adapter here, by a library of pilot-build, in the same pass",
	    CLI_TEXT(pilots) },
	{ 0, "any-tokenizer", NULL, "accept tokens of any tokenizer",
	    CLI_FLAG(any_tokenizer) },
	CLI_GROUP("Output:"), CLI_OUTPUT(output),
	{ 0, "pooling", "KIND",
	    "cls, mean, max, mean_sqrt, weighted, last, or several joined by '+' (default: the folder's)",
	    CLI_TEXT(pooling) },
	{ 0, "normalize", NULL, "normalise embeddings to length 1, after --dim",
	    CLI_FLAG(normalize) },
	{ 0, "no-normalize", NULL, "skip the folder's final Normalize module",
	    CLI_FLAG(raw) },
	{ 0, "dim", "K", "keep the first K values (Matryoshka)",
	    CLI_INTEGER(dim, 1, 1 << 20) },
	{ 0, "emit", "LIST",
	    "outputs joined by ',': emb, tokens (of a late-interaction model), sparse (weights of terms), hs (hidden states), rw (routing weights of token experts), for example hs:layers=all:pool=tokens",
	    CLI_TEXT(emit) },
	{ 0, "keep", NULL, "keep the columns of token ids", CLI_FLAG(keep) },
	{ 0, "empty", "refuse|zero|skip",
	    "a text without tokens: an error (default), a zero embedding, or drop its row",
	    CLI_WORD(empty, EMPTY_REFUSE) },
	{ 0, "dtype", CAST_KINDS,
	    "write embeddings as floats of 32 (default) or 16 bits, codes of 8 bits or single bits",
	    CLI_WORD(dtype, CAST_F32) },
	{ 0, "ranges", "FILE",
	    "with --dtype i8: ranges of the codes are those of the vectors in FILE (default: of the first 10,000)",
	    CLI_TEXT(ranges) },
	CLI_LEVEL(level), CLI_GROUP("Speed:"), CLI_THREADS(threads),
	{ 0, "precision", "f32|bf16|int8",
	    "precision of the linear layers (default: f32)", CLI_WORD(precision, 0) },
	{ 0, "weights", "stored|int8", "storage of the linear layers (default: stored)",
	    CLI_WORD(int8, 0) },
	{ 0, "weights-cache", NULL,
	    "save int8 weights in the model's folder, and use them from there",
	    CLI_FLAG(weights_cache) },
	{ 0, "cache", "SIZE",
	    "memory of the embedding cache, for repeated texts (default: 128M)",
	    CLI_BYTES(cache) },
	{ 0, "tokens", "N", "tokens of a batch (default: 8192; --emit: 2048)",
	    CLI_INTEGER(tokens, 1, 1 << 28) },
	{ 0 } };

static const struct cli cli = { "encode", "turn tokens into embeddings",
	"[-m MODEL] [OPTION]... [FILE]", options,
	"  tok -m MODEL texts.jsonl | encode -m MODEL > texts.mts\n"
	"  tok -m MOTE --task clustering texts.jsonl | encode -m MOTE | mts stat\n",
	nn_about, NULL, ".mts" };

static const enum dtype precisions[] = { DTYPE_F32, DTYPE_BF16, DTYPE_I8 };

/* Takes the folder of an adapter, given as the model, for its base model and the adapter. */
static void
take_adapter(struct settings *s, char *folder)
{
	char *base = adapter_folder_base(folder);

	s->model = folder;
	if (!base || ((s->lora || s->gates) && !strcmp(base, folder))) {
		free(base);
		return;
	}
	if (s->lora || s->gates)
		die_usage(
		    "%s is a LoRA adapter itself; --adapter and --gates take adapters of the model that -m names",
		    folder);
	s->model = base;
	s->lora = s->adapter = modules_transformer(folder);
	s->head = folder;
}

static struct settings
parse(int argc, char **argv)
{
	struct settings s = { .level = -1, .output = "-", .cache = 128 << 20 };

	cli_next(&cli, argc, argv, &s);
	if (s.normalize && s.raw)
		die_usage("--normalize and --no-normalize exclude each other");
	if (s.emit)
		cli_only(&cli, "--emit",
		    "model expert adapter gates pilots output tokens pooling normalize no-normalize dim dtype ranges emit keep weights weights-cache precision any-tokenizer empty level threads");
	if (s.pilots && !s.gates)
		die_usage("--pilots chooses among adapters; --gates says where they are");
	if (s.pilots)
		cli_only(&cli, "--pilots",
		    "model expert gates pilots output tokens normalize no-normalize dim dtype ranges emit keep weights weights-cache precision any-tokenizer empty level threads");
	if (s.weights_cache && !s.int8 && precisions[s.precision] != DTYPE_I8)
		die_usage("--weights-cache needs --weights int8 or --precision int8");
	if (s.precision && s.int8)
		die_usage("--precision and --weights int8 exclude each other");
	if (s.lora && s.gates)
		die_usage("--adapter and --gates exclude each other");
	if (s.empty == EMPTY_ZERO && (s.emit || s.pilots))
		die_usage(
		    "--empty zero applies to embeddings only; with %s use refuse or skip",
		    s.emit ? "--emit" : "--pilots");
	if (s.ranges && s.dtype != CAST_I8)
		die_usage("--ranges needs --dtype i8");
	s.input = cli_input(argc, argv);
	take_adapter(&s, model_folder(s.model));
	return s;
}

static struct model *
open_model(const struct settings *s)
{
	struct model *model =
	    s->int8 ? model_open_int8(s->model, s->weights_cache)
	    : s->precision
		? model_open_packed(s->model, precisions[s->precision], s->weights_cache)
		: model_open(s->model, MODEL_ENCODE, 0);
	struct head *head = model_head(model);

	if (s->head || s->lora)
		model_take_head(model, s->head ? s->head : s->lora);
	if (s->pooling && !pooling_set(head, s->pooling))
		die_usage(
		    "--pooling: '%s' is not supported; supported are cls, mean, max, mean_sqrt, weighted and last",
		    s->pooling);
	if (head->assumed && !s->pooling)
		warn("%s: %s: %s pooling is assumed; --pooling says otherwise", s->model,
		    head->listed ? "has no module Pooling in modules.json"
				 : "has no modules.json",
		    head->pool[0] == NN_POOL_LAST ? "last-token" : "mean");
	if (s->normalize || s->raw)
		head_normalize(head, s->normalize);
	const struct spec *spec = model_spec(model);
	if (s->expert && !spec->experts && !spec->loras)
		die_usage(
		    "--expert does not apply to %s, which has no task experts", s->model);
	if (s->expert)
		text_batch_option(model, s->expert);
	if (s->dim > model_width(model))
		die_usage("--dim: %lld is more than the %d values of an embedding of %s",
		    (long long)s->dim, model_width(model), s->model);
	return model;
}

/* A late-interaction model embeds tokens, a sparse encoder terms, unless something else is asked for. */
static void
settle_emit(struct settings *s, struct model *model)
{
	const struct head *head = model_head(model);
	const char *kind = head->tokens ? "late-interaction model" : "sparse encoder";

	if (!head->tokens && !head->splade.is)
		return;
	if (s->pooling && !(head->tokens && s->emit))
		die_usage("--pooling does not apply to a %s, which %s", kind,
		    head->tokens ? "embeds tokens" : "pools terms");
	if (s->emit)
		return;
	if (s->pilots || s->gates)
		die_usage("%s does not apply to a %s", s->pilots ? "--pilots" : "--gates",
		    kind);
	s->emit = head->tokens ? "tokens" : "sparse";
	if (s->empty == EMPTY_ZERO)
		die_usage(
		    "--empty zero applies to embeddings only; with a %s use refuse or skip",
		    kind);
}

static struct reader *
open_input(const struct settings *s)
{
	struct reader *in = stream_open(s->input);

	if (!s->any_tokenizer)
		tokenizer_check(in, s->model);
	return in;
}

static void
put(struct embed *embed, struct writer *out, struct cast *cast,
    const struct record *record)
{
	struct record *made = stream_make(out, record);

	embed_end(embed, record, made);
	cast_put(cast, made);
}

/* A device computes one record while the next is read and the last is written; it does not wait for a pipe that pauses. */
static void
embed_all(struct embed *embed, struct reader *in, struct with_tokens *with,
    struct writer *out, struct cast *cast, struct progress *progress)
{
	struct record record, before;
	bool waiting = false;

	if (embed_ahead(embed))
		stream_keep(in);
	while (stream_next(in, &record)) {
		if (with)
			with_tokens_take(with, &record);
		embed_begin(embed, &record, progress);
		if (waiting)
			put(embed, out, cast, &before);
		waiting = embed_ahead(embed) && !stream_waits(in, 0);
		if (!waiting)
			put(embed, out, cast, &record);
		before = record;
	}
	if (waiting)
		put(embed, out, cast, &before);
}

/* Casts the embeddings and vectors of tokens that are made here. */
static struct cast *
cast_made(const struct settings *s, const struct reader *in, struct writer *out)
{
	struct cast *cast = cast_new(in, out, s->dtype, s->ranges);
	int count = 0;

	for (int i = stream_columns(in); i < stream_made_columns(out); i++) {
		if (!cast_fits(cast, i, true))
			continue;
		cast_column(cast, i);
		count++;
	}
	if (s->dtype && !count)
		die_usage(
		    "--dtype applies to columns X.emb and X.tokens, which --emit leaves out");
	return cast;
}

static void
run(const struct settings *s, struct model *model, struct reader *in)
{
	struct writer *out = stream_create(s->output, in);
	struct pilot_library *library = s->pilots ? pilot_library_read(s->pilots) : NULL;
	struct routed_pass *pass =
	    library ? routed_pass_new(model, library, s->pilots, in, out) : NULL;
	struct embed *embed = embed_new(model, in, out,
	    &(struct embed_options){ .tokens = s->tokens,
		.width = (int)s->dim,
		.normalize = s->normalize,
		.expert = s->expert,
		.routed = s->gates && !s->pilots,
		.router = pass ? routed_pass_router(pass) : NULL,
		.keep = s->keep,
		.zero = s->empty == EMPTY_ZERO,
		.emit = s->emit,
		.precision = precisions[s->precision],
		.cache = s->cache });
	struct with_tokens *with = s->empty == EMPTY_SKIP ? with_tokens_new(in) : NULL;
	struct progress *progress = progress_new("tokens", 0);

	if (!embed_embeds(embed))
		cli_only(&cli, "--emit without emb",
		    "model expert adapter gates pilots output tokens pooling dtype ranges emit keep weights weights-cache precision any-tokenizer empty level threads");
	stream_level(out, s->level);
	stream_property(out, "model", model_fingerprint(model));
	stream_property(out, "gates", model_adapter_marks(model));
	similarity_name_tell(out, s->model);
	emit_tell(out, s->emit, model_head(model)->other_pool ? s->pooling : NULL);
	struct cast *cast = cast_made(s, in, out);
	embed_all(embed, in, with, out, cast, progress);
	progress_span(progress, stream_share(in), 0);
	cast_finish(cast);
	stream_finish(out);
	progress_free(progress);
	embed_free(embed);
	if (with && with_tokens_dropped(with))
		warn("%lld rows had a text without tokens and were left out",
		    (long long)with_tokens_dropped(with));
	with_tokens_free(with);
	if (pass)
		routed_pass_free(pass);
	if (library)
		pilot_library_free(library);
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
	struct model *model = open_model(&s);
	settle_emit(&s, model);
	model_open_adapters(model, s.lora, s.gates);
	struct reader *in = open_input(&s);
	run(&s, model, in);
	stream_close(in);
	model_close(model);
	free(s.model);
	free(s.head);
	free(s.adapter);
	return 0;
}
