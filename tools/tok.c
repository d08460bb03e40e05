/*
 * tok - turn text into token ids
 *
 * reads	FIELD		text [.]	texts, or lists of texts; folders of documents
 * writes	FIELD.ids	i32 [.]		token ids, special tokens included
 *		path, start, text		of passages: the file, the line and the text
 *
 * and with --decode the other way round.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/lock.h"
#include "base/progress.h"
#include "folder/model_folder.h"
#include "nn/host/host.h"
#include "text/datafile.h"
#include "token/detokenise.h"
#include "token/tokenise.h"
#include "token/train/trainer.h"

enum {
	OPT_TASK = CLI_LONG,
	OPT_PROMPT,
	OPT_TEMPLATE,
	OPT_PREPARE,
	OPT_LENGTH,
	OPT_TRUNCATE,
	OPT_SIDE,
	OPT_REFUSE,
	OPT_PASSAGES,
	OPT_OVERLAP,
	OPT_KEEP,
	OPT_ROWS,
	OPT_FORMAT,
	OPT_SHARD,
	OPT_MAX_LINE,
	OPT_DECODE,
	OPT_SPECIALS,
	OPT_TRAIN,
	OPT_SIZE,
	OPT_LEAST,
	OPT_ALPHABET,
	OPT_CASED
};

static const struct cli_option options[] = {
	CLI_GROUP("Texts and tokens:"),
	{ 'm', "model", "MODEL",
	    "model folder, its name on the Hugging Face Hub, or a\ntokenizer.json (default: $MOTES_MODEL)" },
	{ 'f', "field", "FIELD", "tokenise this text, or join: NAME=a+b; repeatable" },
	{ OPT_TASK, "task", "NAME",
	    "put the model's prompt of that name before each text" },
	{ OPT_PROMPT, "prompt", "TEXT", "put this before each text" },
	{ OPT_TEMPLATE, "template", "NAME",
	    "put this around each text: a name of share/templates.yaml,\nor a text with {text} in it" },
	{ OPT_PREPARE, "prepare", "none|moee",
	    "what is done to a text first (default: none)" },
	CLI_GROUP("Length:"),
	{ OPT_LENGTH, "max-length", "N",
	    "ids of a text at most (default: the model's maximum)" },
	{ OPT_TRUNCATE, "truncate", NULL, "cut longer texts, and count them (default)" },
	{ OPT_SIDE, "truncation-side", "left|right",
	    "the end at which a longer text is cut (default: the model's)" },
	{ OPT_REFUSE, "no-truncate", NULL, "fail on a longer text" },
	{ OPT_PASSAGES, "passages", "N",
	    "cut texts into passages of N ids at most, and text files as a whole\n"
	    "(default: for a folder 256, or the model's maximum if less)" },
	{ OPT_OVERLAP, "overlap", "N",
	    "tokens that a passage repeats of the one before it (default: 0)" },
	CLI_GROUP("Input and output:"),
	{ OPT_KEEP, "keep", NULL, "keep the texts" },
	{ OPT_FORMAT, "format", "jsonl|tsv|csv|lines",
	    "of text input (default: by name)" },
	{ OPT_SHARD, "shard", "K/N",
	    "of text files only the rows that begin in the K-th of N equal parts\nof their bytes" },
	{ OPT_MAX_LINE, "max-line", "BYTES",
	    "of text input: refuse longer lines (default: 64M)" },
	{ OPT_ROWS, "record-rows", "N",
	    "rows of a record made from text input (default: 1024)" },
	CLI_LEVEL,
	CLI_THREADS,
	CLI_GROUP("Ids back into text:"),
	{ OPT_DECODE, "decode", NULL, "turn the token ids of a stream back into text" },
	{ OPT_SPECIALS, "specials", NULL, "decode the special tokens, too" },
	CLI_GROUP("A vocabulary of one's own:"),
	{ OPT_TRAIN, "learn", "wordpiece|bpe", "learn a vocabulary; bpe: of bytes" },
	{ 'o', "output", "FILE",
	    "write there instead of standard output; with --learn the\n"
	    "folder of the learnt tokenizer (needed)" },
	{ OPT_SIZE, "vocab-size", "N", "tokens to learn (default: 8192)" },
	{ OPT_LEAST, "min-frequency", "N", "merge no pair that is rarer (default: 2)" },
	{ OPT_ALPHABET, "alphabet", "N",
	    "keep so many different characters (default: 1000)" },
	{ OPT_CASED, "cased", NULL, "learn with capitals and accents" },
	{ 0, NULL, NULL, NULL },
};
static const struct cli cli = { "tok", "turn text into token ids",
	"[-m MODEL] [OPTION]... [FILE|FOLDER]...", options,
	"  tok -m MODEL notes/ | encode -m MODEL > notes.mts\n"
	"  tok -m MODEL -f sentence1 -f sentence2 pairs.jsonl | encode -m MODEL > emb.mts\n"
	"  tok -m MODEL --task search_document -f document=title+text corpus.tsv.gz > ids.mts\n"
	"  tok -m MODEL --template prompteol texts.txt > ids.mts\n"
	"  tok -m MODEL texts.txt | tok -m MODEL --decode | mts head\n"
	"  tok --learn wordpiece --vocab-size 8192 -o DIR corpus.txt\n",
	NULL, NULL, ".jsonl|.ndjson|.json|.tsv|.csv|.txt|.mts" };

struct settings {
	struct tokenise_options token;
	const char *train;
	int size, alphabet;
	int64_t least;
	bool cased, decode, specials;
};

/* What says something to each thing that it does. */
static const char encode_options[] =
    "model field task prompt template prepare max-length truncate truncation-side no-truncate passages overlap keep format shard max-line record-rows level threads output";
static const char decode_options[] = "decode model keep level specials output";
static const char wordpiece_options[] =
    "learn field format max-line max-length output vocab-size min-frequency alphabet cased";
static const char bpe_options[] =
    "learn field format max-line max-length output vocab-size min-frequency";

static void
encode(struct settings *set, char **files, int count)
{
	cli_only(&cli, "tokenising", encode_options);
	if (set->token.task && set->token.prompt)
		die_usage("--task and --prompt exclude each other");
	char *model = tokenizer_model(model_folder(set->token.model));
	set->token.model = model;
	struct tokenise *stream = tokenise_open(&set->token, files, count);
	char dash[] = "-", *standard[] = { dash };
	if (!count) {
		files = standard;
		count = 1;
	}
	if (set->token.shard.count)
		tokenise_add_shard(stream, files, count);
	for (int i = 0; i < count && !set->token.shard.count; i++)
		tokenise_add(stream, files[i]);
	tokenise_close(stream);
	free(model);
}

static void
decode(const struct settings *set, char **files, int count)
{
	cli_only(&cli, "--decode", decode_options);
	if (count > 1)
		die_usage("--decode: one stream at a time; '%s' is the second", files[1]);
	char *model = tokenizer_model(model_folder(set->token.model));
	detokenise(&(struct detokenise_options){ .model = model,
		       .specials = set->specials,
		       .keep = set->token.keep,
		       .level = set->token.level,
		       .output = set->token.output },
	    count ? files[0] : "-");
	free(model);
}

static void
count_value(struct vocabulary_trainer *trainer, const struct tree *value)
{
	if (value && value->kind == TREE_STRING)
		trainer_count(trainer, value->string, value->length);
	for (size_t i = 0; value && value->kind == TREE_LIST && i < value->count; i++)
		count_value(trainer, value->items[i]);
}

static int64_t
count_file(struct vocabulary_trainer *trainer, const char *path,
    const struct settings *set, struct progress *progress)
{
	struct datafile *file = datafile_open(path, set->token.format);
	progress_file(progress);
	struct text_field *const *fields = set->token.fields.items;
	const struct tree *row;
	int64_t rows = 0;

	datafile_max_line(file, set->token.max_line);
	for (; (row = datafile_next(file)); rows++) {
		for (size_t f = 0; f < set->token.fields.count; f++) {
			text_field_check(
			    fields[f], datafile_name(file), datafile_line(file), row);
			for (size_t p = 0; p < fields[f]->count; p++)
				count_value(trainer, tree_get(row, fields[f]->parts[p]));
		}
		progress_span(progress, datafile_share(file), 0);
		progress_add(progress, 1);
	}
	datafile_close(file);
	return rows;
}

static void
train(struct settings *set, char **files, int count)
{
	int length = set->token.most ? (int)set->token.most : 512;
	static const char *const kinds[] = { "wordpiece", "bpe", NULL };
	const char *folder = set->token.output;
	int64_t rows = 0;

	bool bytes = cli_word("--learn", set->train, kinds) == 1;
	cli_only(&cli, bytes ? "--learn bpe" : "--learn wordpiece",
	    bytes ? bpe_options : wordpiece_options);
	if (!strcmp(folder, "-"))
		die_usage("-o DIR is missing: the folder of the learnt tokenizer");
	trainer_writable(folder);
	struct lock *lock = lock_take(folder);
	if (!set->token.fields.count)
		text_field_add(&set->token.fields, "text");
	struct vocabulary_trainer *trainer =
	    trainer_new(bytes ? TRAINER_BPE : TRAINER_WORDPIECE, set->cased);
	struct progress *progress = progress_files("texts", files, count);
	for (int i = 0; i < count || i == 0; i++)
		rows += count_file(trainer, count ? files[i] : "-", set, progress);
	progress_free(progress);
	if (!rows)
		die("there is no text to learn from");
	int tokens = trainer_learn(trainer, set->size, set->least, set->alphabet);
	if (tokens < set->size)
		warn("%s: the text gives only %d tokens, not %d", folder, tokens,
		    set->size);
	trainer_write(trainer, folder, length);
	lock_end(lock);
	trainer_free(trainer);
}

static const char *const prepares[] = { "none", "moee", NULL };
static const char *const sides[] = { "left", "right", NULL };

static void
set_option(struct settings *set, int option)
{
	struct tokenise_options *token = &set->token;

	switch (option) {
	case 'm': token->model = optarg; break;
	case 'f': text_field_add(&token->fields, optarg); break;
	case 'j': omp_set_num_threads(cli_threads()); break;
	case OPT_TASK: token->task = optarg; break;
	case OPT_PROMPT: token->prompt = optarg; break;
	case OPT_TEMPLATE: token->template = optarg; break;
	case OPT_PREPARE:
		token->prepare =
		    (enum frame_prepare)cli_word("--prepare", optarg, prepares);
		break;
	case OPT_LENGTH:
		token->most = (size_t)cli_integer("--max-length", 1, 1 << 24);
		break;
	case OPT_TRUNCATE: token->refuse = false; break;
	case OPT_SIDE:
		token->side = TOKENISE_LEFT + (enum tokenise_side)cli_word(
						  "--truncation-side", optarg, sides);
		break;
	case OPT_REFUSE: token->refuse = true; break;
	case OPT_PASSAGES:
		token->passage = (size_t)cli_integer("--passages", 8, 1 << 24);
		break;
	case OPT_OVERLAP:
		token->overlap = (size_t)cli_integer("--overlap", 0, 1 << 24);
		break;
	case OPT_KEEP: token->keep = true; break;
	case OPT_ROWS: token->rows = cli_integer("--record-rows", 1, 1 << 30); break;
	case OPT_FORMAT: token->format = datafile_parse("--format", optarg); break;
	case OPT_SHARD: token->shard = shard_parse("--shard", optarg); break;
	case OPT_MAX_LINE: token->max_line = cli_bytes("--max-line"); break;
	case CLI_OPT_LEVEL: token->level = cli_level(); break;
	case 'o': token->output = optarg; break;
	case OPT_TRAIN: set->train = optarg; break;
	case OPT_SIZE: set->size = (int)cli_integer("--vocab-size", 8, 1 << 22); break;
	case OPT_LEAST: set->least = cli_integer("--min-frequency", 1, INT64_MAX); break;
	case OPT_ALPHABET:
		set->alphabet = (int)cli_integer("--alphabet", 1, 0x110000);
		break;
	case OPT_DECODE: set->decode = true; break;
	case OPT_SPECIALS: set->specials = true; break;
	case OPT_CASED: set->cased = true; break;
	}
}

int
main(int argc, char **argv)
{
	struct settings set = { .token = { .max_line = DATAFILE_LINE,
				    .rows = 1024,
				    .level = -1,
				    .output = "-" },
		.size = 8192,
		.alphabet = 1000,
		.least = 2 };
	int option;

	host_start(0, argv); /* threads that wait are to sleep */
	cli_start(&cli, argc, argv);
	while ((option = cli_next(&cli, argc, argv)) != -1)
		set_option(&set, option);
	if (set.train)
		train(&set, argv + optind, argc - optind);
	else if (set.decode)
		decode(&set, argv + optind, argc - optind);
	else
		encode(&set, argv + optind, argc - optind);
	text_field_list_free(&set.token.fields);
	return 0;
}
