/*
 * train - train a model on batches of tokens
 *
 * reads	query.ids	i32, depth 1	row i's query
 *		document.ids	i32, depth 1	row i's positive
 *		negatives.ids	i32, depth 2	hard negatives, optional
 *		*.key		i64		hashes of texts, optional
 *		relation.target	f32 [2 width]	--reze: what reze-stats apply makes
 *		*.ids		i32		--objective mlm, clm: all of them
 * writes	a model folder, a log and checkpoints beside it
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "folder/model_folder.h"
#include "model/lora_settings.h"
#include "model/model.h"
#include "nn/nn.h"
#include "ranks/ranks.h"
#include "train/dropout.h"
#include "train/trainer.h"

enum {
	OPT_FROM_SCRATCH = CLI_LONG,
	OPT_OBJECTIVE,
	OPT_STEPS,
	OPT_EPOCHS,
	OPT_LR,
	OPT_SCHEDULE,
	OPT_WARMUP,
	OPT_DECAY,
	OPT_BETA1,
	OPT_BETA2,
	OPT_EPSILON,
	OPT_CLIP,
	OPT_ACCUMULATE,
	OPT_TEMPERATURE,
	OPT_BIDIRECTIONAL,
	OPT_BALANCE,
	OPT_REZE,
	OPT_NO_MASK,
	OPT_UPDATE_UNUSED,
	OPT_PRECISION,
	OPT_MEMORY,
	OPT_TOKENS,
	OPT_BATCH_TOKENS,
	OPT_MASK_SHARE,
	OPT_DEV,
	OPT_SAVE_EVERY,
	OPT_RESTART,
	OPT_TIMING,
	OPT_DTYPE,
	OPT_LORA,
	OPT_FREEZE,
	OPT_DOCUMENTS
};

static const struct cli_option options[] = {
	CLI_GROUP("What is trained, and where it goes:"),
	CLI_MODEL,
	{ 'o', "output", "DIR",
	    "model folder to write; DIR.log.tsv and DIR.checkpoint lie beside it" },
	{ OPT_FROM_SCRATCH, "from-scratch", NULL,
	    "draw the weights; DIR needs config.json and a tokenizer" },
	{ OPT_OBJECTIVE, "objective", "infonce|mlm|clm", "loss (default: infonce)" },
	CLI_GROUP("Steps and rates:"),
	{ OPT_STEPS, "steps", "N",
	    "optimiser steps (default: as many as the input gives)" },
	{ OPT_EPOCHS, "epochs", "N", "times that each FILE is read (default: 1)" },
	{ OPT_LR, "lr", "X", "greatest learning rate (default: 2e-5; mlm, clm: 5e-4)" },
	{ OPT_SCHEDULE, "schedule", "cosine|linear|constant",
	    "of the learning rate (default: cosine)" },
	{ OPT_WARMUP, "warmup", "N",
	    "steps of warm-up; below 1: share of all steps (default: 0.05)" },
	{ OPT_DECAY, "decay", "X", "decoupled weight decay (default: 0.01)" },
	{ OPT_BETA1, "beta1", "X", "AdamW: decay of the first moment (default: 0.9)" },
	{ OPT_BETA2, "beta2", "X", "AdamW: decay of the second moment (default: 0.999)" },
	{ OPT_EPSILON, "eps", "X", "AdamW: term in the denominator (default: 1e-8)" },
	{ OPT_CLIP, "clip", "X", "greatest norm of the gradient; 0: any (default: 1)" },
	{ OPT_ACCUMULATE, "accumulate", "N",
	    "batches to one optimiser step (default: 1)" },
	{ 's', "seed", "N", "of the random numbers (default: 0)" },
	CLI_GROUP("The loss:"),
	{ OPT_TEMPERATURE, "temperature", "X",
	    "of InfoNCE (default: the record's, else 0.03)" },
	{ OPT_BIDIRECTIONAL, "bidirectional", NULL,
	    "add the loss of documents choosing queries" },
	{ OPT_BALANCE, "balance", "X",
	    "weight of the load-balancing loss of token experts\n(default: 0.001; clm: config.json's)" },
	{ OPT_REZE, "reze", "X",
	    "weight of the loss against targets of reze-stats (default: 0)" },
	{ OPT_NO_MASK, "no-mask-duplicates", NULL,
	    "equal texts are negatives like any other" },
	{ 'e', "expert", "NAME", "task expert where the stream names none" },
	{ OPT_UPDATE_UNUSED, "update-unused", NULL,
	    "decay parameters that took no part in a step" },
	CLI_GROUP("Language models, --objective mlm or clm:"),
	{ OPT_BATCH_TOKENS, "batch-tokens", "N",
	    "mlm, clm: tokens of a batch (default: 8192)" },
	{ OPT_MASK_SHARE, "mask-share", "X",
	    "mlm: share of the tokens to predict (default: 0.15)" },
	{ OPT_DEV, "dev", "FILE",
	    "mlm, clm: texts held out, whose loss is logged every\n--save-every steps and at the last" },
	CLI_GROUP("Memory, precision, checkpoints:"),
	{ OPT_PRECISION, "precision", "f32|bf16",
	    "of the linear layers' products (default: f32)" },
	{ OPT_MEMORY, "memory", "SIZE",
	    "of the activations of tokens forward and backward at a\ntime (default: 1G)" },
	{ OPT_TOKENS, "tokens", "N", "so many tokens at a time, whatever the memory" },
	{ OPT_SAVE_EVERY, "save-every", "N",
	    "steps between checkpoints; 0: none (default: 500)" },
	{ OPT_RESTART, "restart", NULL, "begin anew though there is a checkpoint" },
	{ OPT_TIMING, "timing", NULL, "log seconds and tokens per second too" },
	{ OPT_DTYPE, "dtype", "f32|bf16|f16", "of the saved weights (default: f32)" },
	CLI_THREADS,
	CLI_GROUP("Adapters, frozen documents:"),
	{ OPT_LORA, "lora", "HOW",
	    "write a LoRA adapter:\n"
	    "rank=8,alpha=16,targets=query+value,dropout=0.1[,rslora],\n"
	    "or an adapter folder to go on from" },
	{ OPT_FREEZE, "freeze-documents", NULL,
	    "with --lora: documents keep the base model's embeddings" },
	{ OPT_DOCUMENTS, "documents", "FILE",
	    "take the documents' embeddings from this stream of encode --keep" },
	{ 0 },
};

static const struct cli cli = { "train", "train a model on batches of tokens",
	"[-m MODEL] -o DIR [OPTION]... [FILE]", options,
	"  tasksample mix.yaml | tok -m mote/ | train -m mote/ -o trained/\n"
	"  tok -m base/ text.jsonl > text.mts\n"
	"  train -m base/ --from-scratch --objective mlm --epochs 5 -o model/ text.mts\n",
	nn_about, NULL, ".mts" };

struct arguments {
	char *dir;
	const char *path;
	bool from_scratch;
	struct lora_settings lora;
	int threads;
	struct trainer_options trainer;
};

/* One option; the trainer's defaults that depend on the objective are 0 until then. */
static void
take_option(int opt, struct arguments *a)
{
	static const char *const precisions[] = { "f32", "bf16", NULL };
	struct trainer_options *t = &a->trainer;
	struct objective_options *b = &t->objective;
	struct optim_options *o = &t->optim;

	switch (opt) {
	case 'm': a->dir = optarg; break;
	case 'o': t->out = optarg; break;
	case 's': b->seed = (uint64_t)cli_integer("--seed", 0, INT64_MAX); break;
	case 'j': a->threads = cli_threads(); break;
	case OPT_FROM_SCRATCH: a->from_scratch = true; break;
	case OPT_OBJECTIVE: b->type = objective_called(optarg); break;
	case OPT_STEPS: o->steps = cli_integer("--steps", 1, INT32_MAX); break;
	case OPT_EPOCHS: b->contrast.epochs = cli_integer("--epochs", 1, 1 << 20); break;
	case OPT_LR: o->rate = cli_real("--lr", 1e-12, 10); break;
	case OPT_SCHEDULE:
		if (!optim_schedule(optarg, &o->schedule))
			die_usage("--schedule: \"%s\" is not constant, linear or cosine",
			    optarg);
		break;
	case OPT_WARMUP: o->warmup = cli_real("--warmup", 0, INT32_MAX); break;
	case OPT_DECAY: o->decay = cli_real("--decay", 0, 10); break;
	case OPT_BETA1: o->beta1 = cli_real("--beta1", 0, 0.99999999); break;
	case OPT_BETA2: o->beta2 = cli_real("--beta2", 0, 0.99999999); break;
	case OPT_EPSILON: o->epsilon = cli_real("--eps", 0, 1); break;
	case OPT_CLIP: o->clip = cli_real("--clip", 0, 1e9); break;
	case OPT_ACCUMULATE:
		t->accumulate = cli_integer("--accumulate", 1, 1 << 20);
		break;
	case OPT_TEMPERATURE:
		b->contrast.temperature = cli_real("--temperature", 1e-4, 100);
		break;
	case OPT_BIDIRECTIONAL: b->bidirectional = true; break;
	case OPT_BALANCE: b->balance = cli_real("--balance", 0, 1e6); break;
	case OPT_REZE: b->reze = cli_real("--reze", 0, 1e6); break;
	case OPT_NO_MASK: b->contrast.keep_duplicates = true; break;
	case 'e': b->contrast.expert = optarg; break;
	case OPT_UPDATE_UNUSED: o->update_unused = true; break;
	case OPT_PRECISION:
		t->precision =
		    cli_word("--precision", optarg, precisions) ? DTYPE_BF16 : DTYPE_F32;
		break;
	case OPT_MEMORY: t->memory = (size_t)cli_bytes("--memory"); break;
	case OPT_TOKENS: b->tokens = cli_integer("--tokens", 1, 1 << 24); break;
	case OPT_BATCH_TOKENS:
		b->batch_tokens = cli_integer("--batch-tokens", 1, 1 << 24);
		break;
	case OPT_MASK_SHARE: b->mask_share = cli_real("--mask-share", 1e-6, 1); break;
	case OPT_DEV: b->dev = optarg; break;
	case OPT_SAVE_EVERY:
		t->save_every = cli_integer("--save-every", 0, INT32_MAX);
		break;
	case OPT_DOCUMENTS: b->contrast.documents = optarg; break;
	case OPT_FREEZE: b->contrast.freeze_documents = true; break;
	case OPT_LORA:
		t->lora = optarg;
		a->lora = lora_settings_parse(optarg);
		break;
	case OPT_RESTART: t->restart = true; break;
	case OPT_TIMING: t->timing = true; break;
	case OPT_DTYPE:
		if (!dtype_parse(optarg, &t->dtype) || t->dtype > DTYPE_BF16)
			die_usage("--dtype: \"%s\" is not f32, f16 or bf16", optarg);
		break;
	}
}

/* Dies on an option that does not apply to the objective. */
static void
demand_applies(const struct objective_type *type)
{
	char *mode = mem_format("--objective %s", type->name);
	char *applies = mem_format(
	    "model output from-scratch objective steps epochs lr schedule warmup decay "
	    "beta1 beta2 eps clip accumulate expert update-unused precision memory "
	    "tokens save-every restart timing dtype seed threads %s",
	    type->applies);

	cli_only(&cli, mode, applies);
	free(mode);
	free(applies);
}

static struct arguments
parse(int argc, char **argv)
{
	struct arguments a = { .path = "-" };
	struct optim_options *o = &a.trainer.optim;
	int opt;

	*o = (struct optim_options){ .beta1 = 0.9,
		.beta2 = 0.999,
		.epsilon = 1e-8,
		.decay = 0.01,
		.clip = 1,
		.schedule = SCHEDULE_COSINE,
		.warmup = 0.05 };
	a.trainer.accumulate = 1;
	a.trainer.save_every = 500;
	a.trainer.objective = (struct objective_options){ .type = objectives[0],
		.contrast.epochs = 1,
		.batch_tokens = 8192,
		.mask_share = 0.15,
		.balance = -1 };
	while ((opt = cli_next(&cli, argc, argv)) != -1)
		take_option(opt, &a);

	demand_applies(a.trainer.objective.type);
	if (!a.trainer.out)
		die_usage("-o DIR is missing: the model folder to write");
	if (argc - optind > 1)
		die_usage("one FILE at most, not %d", argc - optind);
	if (optind < argc)
		a.path = argv[optind];
	if (strcmp(a.path, "-") == 0 && a.trainer.objective.contrast.epochs > 1)
		die_usage("--epochs: standard input can be read but once; give a FILE");
	if (a.trainer.objective.dev && strcmp(a.trainer.objective.dev, "-") == 0)
		die_usage("--dev: is read again and again; give a FILE");
	if (a.trainer.memory && a.trainer.objective.tokens)
		die_usage("--memory and --tokens exclude each other");
	if (a.trainer.lora && a.from_scratch)
		die_usage(
		    "--lora changes a trained model; it goes without --from-scratch");
	if (a.trainer.lora && a.trainer.objective.balance > 0)
		die_usage("--balance moves routers, which --lora leaves as they are");
	if (a.trainer.objective.contrast.freeze_documents && !a.trainer.lora)
		die_usage("--freeze-documents needs --lora: it is the base that stays");
	if (a.trainer.objective.contrast.documents &&
	    a.trainer.objective.contrast.freeze_documents)
		die_usage("--documents has them; --freeze-documents would compute them");
	if (o->rate == 0)
		o->rate = a.trainer.objective.type->rate;
	a.dir = model_folder(a.dir);
	return a;
}

/* Where nothing is said, the load-balancing loss has the weight of the reference. */
static void
choose_balance(struct arguments *a, const struct model *model)
{
	const struct spec_mixture *mixture = &model_spec(model)->mixture;
	double known = a->trainer.objective.type->balance;
	double *balance = &a->trainer.objective.balance;

	if (*balance > 0 && !mixture->count)
		die("--balance: %s has no token experts", a->dir);
	if (*balance >= 0)
		return;
	*balance = 0;
	if (mixture->count && known < 0) {
		*balance = mixture->balance;
		if (mixture->balance_apart && *balance > 0)
			warn(
			    "%s: its 'aux_loss_alpha', %g, weighs a loss of each block and text apart; here it weighs one of all together: --balance says another weight, or 0",
			    a->dir, *balance);
	} else if (mixture->count && !a->trainer.lora)
		*balance = known;
}

int
main(int argc, char **argv)
{
	cli_start(&cli, argc, argv);
	struct arguments a = parse(argc, argv);
	nn_start(a.threads, argv);
	ranks_start();

	uint64_t seed = a.trainer.objective.seed;
	struct model *model = model_open(a.dir,
	    a.trainer.lora   ? MODEL_ENCODE
	    : a.from_scratch ? MODEL_INIT
			     : MODEL_TRAIN,
	    seed);
	dropout_tell(a.dir);
	choose_balance(&a, model);
	if (a.trainer.lora) {
		model_adapt(model, &a.lora, seed);
		/* as in PEFT: a gradient that is zero because B still is moves A's moments */
		a.trainer.optim.update_unused |= !model_spec(model)->experts;
	}
	if (a.trainer.precision == DTYPE_BF16)
		model_round(model);
	trainer_run(model, a.path, &a.trainer);
	model_close(model);
	free(a.dir);
	ranks_finish();
	return 0;
}
