/*
 * train - train a model on batches of tokens
 *
 * reads	query.ids	i32, depth 1	row i's query
 *		document.ids	i32, depth 1	row i's positive
 *		negatives.ids	i32, depth 2	hard negatives, optional
 *		*.key		i64		hashes of texts, optional
 *		pair.ids, pair.second		--objective bce, listnet: i32 of tok --pair; or the pairs
 *						document.ids, negatives.ids and their .second
 *		document.score	number		scored pairs: of each row
 *		negatives.score	number, depth 1	of each negative
 *		relation.target	f32 [2 width]	--reze: what reze-stats apply makes
 *		*.ids		i32		--objective mlm, clm: all of them
 * writes	a model folder, a log and checkpoints beside it
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "folder/model_folder.h"
#include "model/lora_settings.h"
#include "model/model.h"
#include "nn/nn.h"
#include "ranks/ranks.h"
#include "train/dropout_rates.h"
#include "train/option_conflicts.h"
#include "train/trainer.h"

enum { OPT_OBJECTIVE = CLI_LONG, OPT_DROPOUT, OPT_LORA };

struct settings {
	char *dir;
	const char *path;
	bool from_scratch, bf16;
	struct cli_list freeze, rates;
	struct lora_settings lora;
	int threads;
	struct trainer_options trainer;
};

static const struct cli_option options[] = {
	CLI_GROUP("Model and output:"),
	CLI_MODEL(dir),
	{ 'o', "output", "DIR",
	    "model folder to write; DIR.log.tsv and DIR.checkpoint are beside it",
	    CLI_TEXT(trainer.out) },
	{ 0, "from-scratch", NULL,
	    "initialise the weights at random; MODEL needs only config.json and a tokenizer",
	    CLI_FLAG(from_scratch) },
	{ 0, "dtype", "f32|f16|bf16", "type of the saved weights (default: f32)",
	    CLI_WORD(trainer.dtype, DTYPE_F32) },
	CLI_GROUP("Optimiser:"),
	{ 0, "steps", "N", "optimiser steps (default: all of the input)",
	    CLI_INTEGER(trainer.optim.steps, 1, INT32_MAX) },
	{ 0, "epochs", "N", "passes over FILE (default: 1)",
	    CLI_INTEGER(trainer.objective.contrast.epochs, 1, 1 << 20) },
	{ 0, "lr", "X", "peak learning rate (default: 2e-5; mlm, clm: 5e-4)",
	    CLI_REAL(trainer.optim.rate, 1e-12, 10) },
	{ 0, "lr-of", "PATTERN=X",
	    "peak rate of the weights that fit: 'embeddings.*=1e-5'; repeatable",
	    CLI_LIST(rates) },
	{ 0, "schedule", "constant|linear|cosine|wsd",
	    "decay of the learning rate; wsd: in the last tenth of the steps (default: cosine)",
	    CLI_WORD(trainer.optim.schedule, SCHEDULE_CONSTANT) },
	{ 0, "warmup", "N", "warm-up steps; below 1: share of all steps (default: 0.05)",
	    CLI_REAL(trainer.optim.warmup, 0, INT32_MAX) },
	{ 0, "decay", "X", "decoupled weight decay (default: 0.01)",
	    CLI_REAL(trainer.optim.decay, 0, 10) },
	{ 0, "beta1", "X", "AdamW: decay of the first moment (default: 0.9)",
	    CLI_REAL(trainer.optim.beta1, 0, 0.99999999) },
	{ 0, "beta2", "X", "AdamW: decay of the second moment (default: 0.999)",
	    CLI_REAL(trainer.optim.beta2, 0, 0.99999999) },
	{ 0, "eps", "X", "AdamW: term in the denominator (default: 1e-8)",
	    CLI_REAL(trainer.optim.epsilon, 0, 1) },
	{ 0, "clip", "X", "largest gradient norm; 0: no limit (default: 1)",
	    CLI_REAL(trainer.optim.clip, 0, 1e9) },
	{ 0, "ema", "X",
	    "write the moving average of the weights, of decay X: 0.999 (default: 0, none)",
	    CLI_REAL(trainer.ema, 0, 0.99999999) },
	{ 0, "accumulate", "N", "batches per step (default: 1)",
	    CLI_INTEGER(trainer.accumulate, 1, 1 << 20) },
	{ 0, "update-unused", NULL, "decay parameters without a gradient too",
	    CLI_FLAG(trainer.optim.update_unused) },
	{ 0, "freeze", "PATTERN",
	    "weights that do not learn: 'embeddings.*'; '!PATTERN': these do; repeatable",
	    CLI_LIST(freeze) },
	{ OPT_DROPOUT, "dropout", "config|X",
	    "dropout at the rates of config.json, or at X in the same places (default: none)",
	    CLI_CUSTOM },
	{ 's', "seed", "N", "seed of the random numbers (default: 0)",
	    CLI_INTEGER(trainer.objective.seed, 0, INT64_MAX) },
	CLI_GROUP("Loss:"),
	{ OPT_OBJECTIVE, "objective",
	    "infonce|mlm|clm|cosent|angle|mse|contrastive|online|margin-mse|kl|bce|listnet|distil|triplet",
	    "loss (default: infonce)", CLI_CUSTOM },
	{ 0, "temperature", "X",
	    "of similarities (default: the record's, else 0.03; cosent, angle: 0.05; kl: 1); listnet: of labels (1)",
	    CLI_REAL(trainer.objective.contrast.temperature, 1e-4, 100) },
	{ 0, "similarity", "cosine|dot", "of query and document (default: cosine)",
	    CLI_WORD(trainer.objective.dot, 0) },
	{ 0, "margin", "X",
	    "contrastive, online: distance from which a negative is far; triplet: how much less similar it is (default: 0.5)",
	    CLI_REAL(trainer.objective.margin, 0, 2) },
	{ 0, "positive-weight", "X", "bce: weight of positive pairs (default: 1)",
	    CLI_REAL(trainer.objective.positive, 1e-6, 1e6) },
	{ 0, "matryoshka", "N,...",
	    "sum the losses of the first N components of the vectors, N:W with a weight",
	    CLI_TEXT(trainer.objective.matryoshka) },
	{ 0, "project", "N",
	    "distil: learn a linear layer to a teacher of N components; it is not written",
	    CLI_INTEGER(trainer.objective.project, 1, 1 << 16) },
	{ 0, "bidirectional", NULL, "add the loss of documents that choose queries",
	    CLI_FLAG(trainer.objective.bidirectional) },
	{ 0, "balance", "X",
	    "weight of the load-balancing loss of token experts (default: 0.001; clm: config.json's)",
	    CLI_REAL(trainer.objective.balance, 0, 1e6) },
	{ 0, "reze", "X", "weight of the loss to targets of reze-stats (default: 0)",
	    CLI_REAL(trainer.objective.reze, 0, 1e6) },
	{ 0, "no-mask-duplicates", NULL, "equal texts are negatives too",
	    CLI_FLAG(trainer.objective.contrast.keep_duplicates) },
	{ 0, "false-negatives", "X",
	    "leave out candidates more similar than the document by more than X (default: none)",
	    CLI_REAL(trainer.objective.false_negatives, -10, 10) },
	{ 0, "guide", NULL,
	    "--false-negatives by another model's query.emb, document.emb; X is 0 if not given",
	    CLI_FLAG(trainer.objective.contrast.guide) },
	{ 0, "own-negatives", NULL,
	    "candidates are the row's document and its own negatives alone",
	    CLI_FLAG(trainer.objective.own_negatives) },
	{ 0, "denominator", "qq,dq,dd",
	    "add similarities of queries, of the document and queries, of documents",
	    CLI_TEXT(trainer.objective.denominator) },
	{ 'e', "expert", "NAME", "task, or task expert, if the stream names none",
	    CLI_TEXT(trainer.objective.contrast.expert) },
	{ 0, "batch-tokens", "N", "mlm, clm: tokens of a batch (default: 8192)",
	    CLI_INTEGER(trainer.objective.batch_tokens, 1, 1 << 24) },
	{ 0, "mask-share", "X", "mlm: share of tokens to predict (default: 0.15)",
	    CLI_REAL(trainer.objective.mask_share, 1e-6, 1) },
	CLI_GROUP("Held-out data:"),
	{ 0, "dev", "FILE",
	    "pairs or texts that are not trained on: their loss goes to the log",
	    CLI_TEXT(trainer.objective.dev) },
	{ 0, "dev-corpus", "FILE",
	    "documents that the pairs' queries search, beside the pairs' own",
	    CLI_TEXT(trainer.objective.dev_corpus) },
	{ 0, "dev-every", "N",
	    "steps between measurements (default: --save-every, and the last)",
	    CLI_INTEGER(trainer.dev_every, 1, INT32_MAX) },
	{ 0, "last-step", NULL,
	    "write the model of the last step, not of the best (by nDCG@10, else by loss)",
	    CLI_FLAG(trainer.last_step) },
	{ 0, "patience", "N",
	    "end after N measurements in a row without a new best (default: never)",
	    CLI_INTEGER(trainer.patience, 1, INT32_MAX) },
	CLI_GROUP("Memory, precision, checkpoints:"),
	{ 0, "precision", "f32|bf16", "precision of the linear layers (default: f32)",
	    CLI_WORD(bf16, 0) },
	{ 0, "memory", "SIZE", "memory of the activations (default: 1G)",
	    CLI_BYTES(trainer.memory) },
	{ 0, "tokens", "N", "tokens of a chunk, instead of --memory",
	    CLI_INTEGER(trainer.objective.tokens, 1, 1 << 24) },
	{ 0, "save-every", "N", "steps between checkpoints; 0: none (default: 500)",
	    CLI_INTEGER(trainer.save_every, 0, INT32_MAX) },
	{ 0, "restart", NULL, "ignore an existing checkpoint",
	    CLI_FLAG(trainer.restart) },
	{ 0, "timing", NULL, "log seconds and tokens per second",
	    CLI_FLAG(trainer.timing) },
	CLI_THREADS(threads),
	CLI_GROUP("LoRA adapters, precomputed documents:"),
	{ OPT_LORA, "lora", "HOW",
	    "train a LoRA adapter: rank=8,alpha=16,targets=query+value,dropout=0.1, or an adapter folder to continue from",
	    CLI_CUSTOM },
	{ 0, "freeze-documents", NULL,
	    "with --lora: documents keep the base model's embeddings",
	    CLI_FLAG(trainer.objective.contrast.freeze_documents) },
	{ 0, "documents", "FILE",
	    "precomputed embeddings of documents, from encode --keep",
	    CLI_TEXT(trainer.objective.contrast.documents) },
	{ 0 },
};

static const struct cli cli = { "train", "train a model on batches of tokens",
	"[-m MODEL] -o DIR [OPTION]... [FILE]", options,
	"  tasksample mix.yaml | tok -m mote/ | train -m mote/ -o trained/\n"
	"  tok -m base/ text.jsonl > text.mts\n"
	"  train -m base/ --from-scratch --objective mlm --epochs 5 -o model/ text.mts\n",
	nn_about, NULL, ".mts" };

/* Dies on an option that does not apply to the objective. */
static void
demand_applies(const struct objective_type *type)
{
	char *mode = mem_format("--objective %s", type->name);
	char *applies = mem_format(
	    "model output objective steps epochs lr lr-of schedule warmup decay beta1 beta2 eps "
	    "clip accumulate expert update-unused freeze dropout ema precision memory tokens "
	    "save-every restart timing dtype seed threads dev dev-every last-step patience %s %s",
	    type->classifies ? "" : "from-scratch", type->applies);

	cli_only(&cli, mode, applies);
	free(mode);
	free(applies);
}

static struct settings
parse(int argc, char **argv)
{
	struct settings a = { 0 };
	struct optim_options *o = &a.trainer.optim;
	int opt;

	*o = (struct optim_options){ .beta1 = 0.9,
		.beta2 = 0.999,
		.epsilon = 1e-8,
		.decay = 0.01,
		.clip = 1,
		.schedule = SCHEDULE_COSINE,
		.warmup = -1 };
	a.trainer.accumulate = 1;
	a.trainer.save_every = 500;
	a.trainer.objective = (struct objective_options){ .type = objectives[0],
		.contrast.epochs = 1,
		.batch_tokens = 8192,
		.mask_share = 0.15,
		.margin = 0.5,
		.false_negatives = INFINITY,
		.positive = 1,
		.balance = -1 };
	while ((opt = cli_next(&cli, argc, argv, &a)) != -1)
		if (opt == OPT_OBJECTIVE)
			a.trainer.objective.type = objective_called(optarg);
		else if (opt == OPT_DROPOUT)
			a.trainer.dropout = dropout_rates_parse();
		else
			a.lora = lora_settings_parse(a.trainer.lora = optarg);
	a.trainer.precision = a.bf16 ? DTYPE_BF16 : DTYPE_F32;
	demand_applies(a.trainer.objective.type);
	if (!a.trainer.out)
		die_usage("-o DIR is missing: the model folder to write");
	a.path = cli_input(argc, argv);
	if (strcmp(a.path, "-") == 0 && a.trainer.objective.contrast.epochs > 1)
		die_usage("--epochs: standard input can be read only once; give a FILE");
	a.trainer.freeze = a.freeze.items;
	option_conflicts_refuse(&a.trainer, a.from_scratch);
	if (o->rate == 0)
		o->rate = a.trainer.objective.type->rate;
	a.dir = model_folder(a.dir);
	o->rates = a.rates.items;
	return a;
}

static struct model *
open_model(const struct settings *a, uint64_t seed)
{
	enum model_mode mode = a->trainer.lora	 ? MODEL_ENCODE
			       : a->from_scratch ? MODEL_INIT
						 : MODEL_TRAIN;

	return model_open_training(a->dir, mode, seed,
	    &(struct model_training){ .freeze = a->freeze.items,
		.project = a->trainer.objective.project,
		.classifies = a->trainer.objective.type->classifies });
}

/* Dies if --freeze leaves only a head that the objective does not use, or nothing. */
static void
demand_learning(const struct settings *a, const struct model *model)
{
	bool predicts = a->trainer.objective.type->predicts;

	for (int i = 0; i < model_parameters(model); i++)
		if (predicts || !model_parameter(model, i)->predicts)
			return;
	die("--freeze: nothing is left of %s to train", a->dir);
}

int
main(int argc, char **argv)
{
	cli_start(&cli, argc, argv);
	struct settings a = parse(argc, argv);
	nn_start(a.threads, argv);
	ranks_start();

	uint64_t seed = a.trainer.objective.seed;
	struct model *model = open_model(&a, seed);
	dropout_rates_apply(model, a.trainer.dropout, seed);
	objective_choose_balance(&a.trainer.objective, model, a.trainer.lora);
	if (a.trainer.lora) {
		model_adapt(model, &a.lora, seed);
		/* as in PEFT: A's moments change although its gradient is zero while B is */
		a.trainer.optim.update_unused |= !model_spec(model)->experts;
	}
	demand_learning(&a, model);
	if (a.trainer.precision == DTYPE_BF16)
		model_round(model);
	trainer_run(model, a.path, &a.trainer);
	model_close(model);
	free(a.dir);
	ranks_finish();
	return 0;
}
