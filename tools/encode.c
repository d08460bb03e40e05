/*
 * encode - turn tokens into embeddings.
 *
 * A record's texts are cut into batches by a token budget, so memory depends on the budget
 * and not on the input; what is made is written record by record.
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
#include "nn/nn.h"
#include "papers/routing/routed_pass.h"
#include "stream/stream.h"
#include "token/tokenizer.h"

enum {
	OPT_TOKENS = CLI_LONG,
	OPT_POOLING,
	OPT_NORMALIZE,
	OPT_RAW,
	OPT_DIM,
	OPT_LORA,
	OPT_GATES,
	OPT_PILOTS,
	OPT_EMIT,
	OPT_KEEP,
	OPT_CACHE,
	OPT_WEIGHTS,
	OPT_WEIGHTS_CACHE,
	OPT_PRECISION,
	OPT_ANY_TOKENIZER,
	OPT_EMPTY
};

static const struct cli_option options[] = { CLI_GROUP("What encodes:"), CLI_MODEL,
	{ 'e', "expert", "NAME", "task, or task expert, for records that name none" },
	{ OPT_LORA, "adapter", "DIR",
	    "LoRA adapter, in PEFT's layout, that all texts go through" },
	{ OPT_GATES, "gates", "DIR",
	    "a folder of such adapters: a text goes through the one that the\n"
	    "column 'gate' names" },
	{ OPT_PILOTS, "pilots", "FILE",
	    "with --gates: choose each text's gate here, by a library of the\n"
	    "hidden states of a layer (pilot-build), in the same pass" },
	CLI_OUTPUT, CLI_GROUP("What is made of a text:"),
	{ OPT_POOLING, "pooling", "KIND",
	    "cls, mean, max, mean_sqrt, weighted, last, or several\n"
	    "joined by '+', instead of what the folder says" },
	{ OPT_NORMALIZE, "normalize", NULL,
	    "give embeddings length 1 at the end, also what --dim keeps" },
	{ OPT_RAW, "no-normalize", NULL, "leave out the folder's last step to length 1" },
	{ OPT_DIM, "dim", "K", "keep the first K values of each embedding (Matryoshka)" },
	{ OPT_EMIT, "emit", "LIST",
	    "what to make: emb, hs (hidden states) and rw (routing weights of\n"
	    "token experts), joined by ','; e.g. hs:layers=all:pool=tokens" },
	{ OPT_KEEP, "keep", NULL, "keep the columns of token ids" }, CLI_GROUP("Speed:"),
	{ OPT_TOKENS, "tokens", "N",
	    "tokens computed at a time by a thread (default: 8192; --emit: 2048)" },
	{ OPT_CACHE, "cache", "SIZE",
	    "memory for texts that were met, which are not computed again\n(default: 128M)" },
	{ OPT_WEIGHTS, "weights", "stored|int8",
	    "compute with weights as they are stored, or those of linear layers\n"
	    "and experts in eight bits (default: stored)" },
	{ OPT_WEIGHTS_CACHE, "weights-cache", NULL,
	    "with --weights int8 or --precision int8: keep the eight bits in the\n"
	    "model's folder, and use them from there" },
	{ OPT_PRECISION, "precision", "f32|bf16|int8",
	    "multiply in floats, or the linear layers in halves of them or in eight\n"
	    "bits: quicker, and nearly the same embeddings (default: f32)" },
	CLI_GROUP("Else:"),
	{ OPT_ANY_TOKENIZER, "any-tokenizer", NULL,
	    "take tokens of another tokenizer, too" },
	{ OPT_EMPTY, "empty", "refuse|zero|skip",
	    "a text without tokens is a fault (default), has the embedding 0, or\nits row is left out" },
	CLI_LEVEL, CLI_THREADS, { 0 } };

static const struct cli cli = { "encode", "turn tokens into embeddings",
	"[-m MODEL] [OPTION]... [FILE]", options,
	"  tok -m MODEL texts.jsonl | encode -m MODEL > texts.mts\n"
	"  tok -m MOTE --task clustering texts.jsonl | encode -m MOTE | mts stat\n",
	nn_about, NULL, ".mts" };

struct settings {
	char *model;
	char *head, *adapter; /* of an adapter's folder in its place; NULL: it is none */
	const char *lora, *gates, *pilots, *expert, *output, *pooling, *emit;
	int64_t tokens, dim, level, threads, cache;
	bool normalize, raw, keep, any_tokenizer, int8, weights_cache;
	int precision, empty;
};

enum { EMPTY_REFUSE, EMPTY_ZERO, EMPTY_SKIP };

static const enum dtype precisions[] = { DTYPE_F32, DTYPE_BF16, DTYPE_I8 };

/* A folder of an adapter in the place of a model's stands for both. */
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
	static const char *const weights[] = { "stored", "int8", NULL };
	static const char *const precision[] = { "f32", "bf16", "int8", NULL };
	static const char *const empty[] = { "refuse", "zero", "skip", NULL };
	struct settings s = { .level = -1, .output = "-", .cache = 128 << 20 };
	int opt;

	while ((opt = cli_next(&cli, argc, argv)) != -1)
		switch (opt) {
		case 'm': s.model = optarg; break;
		case 'e': s.expert = optarg; break;
		case 'o': s.output = optarg; break;
		case 'j': s.threads = cli_threads(); break;
		case OPT_TOKENS: s.tokens = cli_integer("--tokens", 1, 1 << 28); break;
		case OPT_POOLING: s.pooling = optarg; break;
		case OPT_NORMALIZE: s.normalize = true; break;
		case OPT_RAW: s.raw = true; break;
		case OPT_DIM: s.dim = cli_integer("--dim", 1, 1 << 20); break;
		case OPT_LORA: s.lora = optarg; break;
		case OPT_GATES: s.gates = optarg; break;
		case OPT_PILOTS: s.pilots = optarg; break;
		case OPT_EMIT: s.emit = optarg; break;
		case OPT_KEEP: s.keep = true; break;
		case OPT_CACHE: s.cache = cli_bytes("--cache"); break;
		case OPT_WEIGHTS: s.int8 = cli_word("--weights", optarg, weights); break;
		case OPT_WEIGHTS_CACHE: s.weights_cache = true; break;
		case OPT_PRECISION:
			s.precision = cli_word("--precision", optarg, precision);
			break;
		case OPT_ANY_TOKENIZER: s.any_tokenizer = true; break;
		case OPT_EMPTY: s.empty = cli_word("--empty", optarg, empty); break;
		case CLI_OPT_LEVEL: s.level = cli_level(); break;
		}
	if (s.normalize && s.raw)
		die_usage("--normalize and --no-normalize exclude each other");
	if (s.emit)
		cli_only(&cli, "--emit",
		    "model expert adapter gates pilots output tokens pooling normalize no-normalize dim emit keep weights weights-cache precision any-tokenizer empty level threads");
	if (s.pilots && !s.gates)
		die_usage("--pilots chooses among gates; --gates says where they are");
	if (s.pilots)
		cli_only(&cli, "--pilots",
		    "model expert gates pilots output tokens normalize no-normalize dim emit keep weights weights-cache precision any-tokenizer empty level threads");
	if (s.weights_cache && !s.int8 && precisions[s.precision] != DTYPE_I8)
		die_usage(
		    "--weights-cache keeps what --weights int8 or --precision int8 makes");
	if (s.precision && s.int8)
		die_usage("--precision and --weights int8 exclude each other");
	if (s.lora && s.gates)
		die_usage("--adapter and --gates exclude each other");
	if (s.empty == EMPTY_ZERO && (s.emit || s.pilots))
		die_usage(
		    "--empty zero is of embeddings alone; with %s it is refuse or skip",
		    s.emit ? "--emit" : "--pilots");
	if (argc - optind > 1)
		die_usage("one input at a time; '%s' is the second", argv[optind + 1]);
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
	if (s->pooling && !head_pool(head, s->pooling))
		die_usage(
		    "--pooling: '%s' is not known; known are cls, mean, max, mean_sqrt, weighted and last",
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

static struct reader *
open_input(const struct settings *s, const char *path)
{
	struct reader *in = stream_open(path);

	if (!s->any_tokenizer)
		tokenizer_check(in, s->model);
	return in;
}

static void
put(struct embed *embed, struct writer *out, const struct record *record)
{
	struct record *made = stream_make(out, record);

	embed_end(embed, record, made);
	stream_put(out, made);
}

/* Where a device computes, a record is on it while the next is read and the one before is written; unless the next may
 * be long in coming. */
static void
embed_all(struct embed *embed, struct reader *in, struct with_tokens *with,
    struct writer *out, struct progress *progress)
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
			put(embed, out, &before);
		waiting = embed_ahead(embed) && !stream_waits(in, 0);
		if (!waiting)
			put(embed, out, &record);
		before = record;
	}
	if (waiting)
		put(embed, out, &before);
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
		.cache = s->cache });
	struct with_tokens *with = s->empty == EMPTY_SKIP ? with_tokens_new(in) : NULL;
	struct progress *progress = progress_new("tokens", 0);

	if (!embed_embeds(embed))
		cli_only(&cli, "--emit without emb",
		    "model expert adapter gates pilots output tokens pooling emit keep weights weights-cache precision any-tokenizer empty level threads");
	if (s->level >= 0)
		stream_level(out, (int)s->level);
	stream_property(out, "model", model_fingerprint(model));
	stream_property(out, "gates", model_adapter_marks(model));
	similarity_name_tell(out, s->model);
	emit_tell(out, s->emit);
	embed_all(embed, in, with, out, progress);
	progress_span(progress, stream_share(in), 0);
	stream_finish(out);
	progress_free(progress);
	embed_free(embed);
	if (with && with_tokens_dropped(with))
		warn("%lld rows had a text without tokens and were left out",
		    (long long)with_tokens_dropped(with));
	if (with)
		with_tokens_free(with);
	if (pass)
		routed_pass_free(pass);
	if (library)
		pilot_library_free(library);
}

int
main(int argc, char **argv)
{
	nn_start(0, argv); /* before --version speaks of it */
	cli_start(&cli, argc, argv);
	struct settings s = parse(argc, argv);
	if (s.threads)
		nn_start((int)s.threads, argv);
	inform("%s", nn_about());
	struct model *model = open_model(&s);
	model_open_adapters(model, s.lora, s.gates);
	struct reader *in = open_input(&s, optind < argc ? argv[optind] : "-");
	run(&s, model, in);
	stream_close(in);
	model_close(model);
	free(s.model);
	free(s.head);
	free(s.adapter);
	return 0;
}
