/*
 * tok - turn text into token ids
 *
 * reads	FIELD		text [.]	texts, or lists of texts; folders of documents
 * writes	FIELD.ids	i32 [.]		token ids, special tokens included
 *		path, start, text		with passages: the file, the line and the text
 *
 * --decode turns ids back into text; --learn learns a vocabulary.
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

enum { OPT_SHARD = CLI_LONG };

struct settings {
	struct tokenise_options token;
	enum { LEARN_NONE, LEARN_WORDPIECE, LEARN_BPE } learn;
	int size, alphabet, threads;
	int64_t least;
	bool cased, decode, specials;
};

static const struct cli_option options[] = {
	CLI_GROUP("Texts and tokens:"),
	{ 'm', "model", "MODEL",
	    "model folder, its name on the Hugging Face Hub, or a tokenizer.json (default: $MOTES_MODEL)",
	    CLI_TEXT(token.model) },
	{ 'f', "field", "FIELD",
	    "field to tokenise, or NAME=a+b to join fields; repeatable", CLI_CUSTOM },
	{ 0, "task", "NAME", "put the model's prompt NAME before each text",
	    CLI_TEXT(token.task) },
	{ 0, "prompt", "TEXT", "put TEXT before each text", CLI_TEXT(token.prompt) },
	{ 0, "template", "NAME",
	    "template around each text: a name in share/templates.yaml, or a text with {text} in it; with --pair: a name in share/rerankers.yaml",
	    CLI_TEXT(token.template) },
	{ 0, "prepare", "none|moee", "edit each text first, as MoEE does (default: none)",
	    CLI_WORD(token.prepare, FRAME_NONE) },
	{ 0, "pair", NULL, "put the texts of two fields into one sequence, for rerank",
	    CLI_FLAG(token.pair) },
	{ 0, "instruction", "TEXT",
	    "with --pair: instruction in the model's chat template (default: the model's)",
	    CLI_TEXT(token.asking.instruction) },
	CLI_GROUP("Length:"),
	{ 0, "max-length", "N", "largest number of ids (default: the model's)",
	    CLI_INTEGER(token.most, 1, 1 << 24) },
	{ 0, "truncate", NULL, "cut longer texts, and count them (default)",
	    CLI_SET(token.refuse, false) },
	{ 0, "truncation-side", "left|right",
	    "the end that is cut (default: the model's)",
	    CLI_WORD(token.side, TOKENISE_LEFT) },
	{ 0, "no-truncate", NULL, "fail on a longer text", CLI_FLAG(token.refuse) },
	{ 0, "truncation", "longest_first|only_second",
	    "with --pair: the text that is cut (default: longest_first)",
	    CLI_WORD(token.truncation, PAIR_LONGEST_FIRST) },
	{ 0, "passages", "N",
	    "cut texts, and text files as a whole, into passages of at most N ids (default: for a folder 256, or the model's maximum if less)",
	    CLI_INTEGER(token.passage, 8, 1 << 24) },
	{ 0, "overlap", "N", "tokens that a passage repeats of the last one (default: 0)",
	    CLI_INTEGER(token.overlap, 0, 1 << 24) },
	CLI_GROUP("Input and output:"),
	{ 0, "keep", NULL, "keep the texts", CLI_FLAG(token.keep) },
	{ 0, "format", "jsonl|tsv|csv|lines", "format of text files (default: by name)",
	    CLI_WORD(token.format, DATAFILE_JSONL) },
	{ OPT_SHARD, "shard", "K/N",
	    "text files: read only the rows that begin in part K of N equal parts of their bytes",
	    CLI_CUSTOM },
	{ 0, "max-line", "BYTES", "text files: refuse longer lines (default: 64M)",
	    CLI_BYTES(token.max_line) },
	{ 0, "record-rows", "N", "text files: rows of a record (default: 1024)",
	    CLI_INTEGER(token.rows, 1, 1 << 30) },
	CLI_LEVEL(token.level),
	CLI_THREADS(threads),
	CLI_GROUP("Ids back to text:"),
	{ 0, "decode", NULL, "turn the token ids of a stream into text",
	    CLI_FLAG(decode) },
	{ 0, "specials", NULL, "with the special tokens", CLI_FLAG(specials) },
	CLI_GROUP("Learning a vocabulary:"),
	{ 0, "learn", "wordpiece|bpe", "learn a vocabulary; bpe: of bytes",
	    CLI_WORD(learn, LEARN_WORDPIECE) },
	{ 'o', "output", "FILE",
	    "write FILE instead of standard output; with --learn the folder of the tokenizer (required)",
	    CLI_TEXT(token.output) },
	{ 0, "vocab-size", "N", "size of the vocabulary (default: 8192)",
	    CLI_INTEGER(size, 8, 1 << 22) },
	{ 0, "min-frequency", "N", "merge no rarer pair (default: 2)",
	    CLI_INTEGER(least, 1, INT64_MAX) },
	{ 0, "alphabet", "N", "wordpiece: different characters (default: 1000)",
	    CLI_INTEGER(alphabet, 1, 0x110000) },
	{ 0, "cased", NULL, "wordpiece: keep capitals and accents", CLI_FLAG(cased) },
	{ 0 },
};
static const struct cli cli = { "tok", "turn text into token ids",
	"[-m MODEL] [OPTION]... [FILE|FOLDER]...", options,
	"  tok -m MODEL notes/ | encode -m MODEL > notes.mts\n"
	"  tok -m MODEL -f sentence1 -f sentence2 pairs.jsonl | encode -m MODEL > emb.mts\n"
	"  tok -m MODEL --task search_document -f document=title+text corpus.tsv > c.mts\n"
	"  tok -m MODEL --pair -f query -f text pairs.tsv | rerank -m MODEL > s.mts\n"
	"  tok -m MODEL --template prompteol texts.txt > ids.mts\n"
	"  tok -m MODEL texts.txt | tok -m MODEL --decode | mts head\n"
	"  tok --learn wordpiece --vocab-size 8192 -o DIR corpus.txt\n",
	NULL, NULL, ".jsonl|.ndjson|.json|.tsv|.csv|.txt|.mts" };

/* The options of each mode. */
static const char encode_options[] =
    "model field task prompt template prepare max-length truncate truncation-side no-truncate passages overlap keep format shard max-line record-rows level threads output";
static const char pair_options[] =
    "model field template pair instruction truncation max-length truncate truncation-side no-truncate keep format shard max-line record-rows level threads output";
static const char decode_options[] = "decode model keep level specials output";
static const char wordpiece_options[] =
    "learn field format max-line max-length output vocab-size min-frequency alphabet cased";
static const char bpe_options[] =
    "learn field format max-line max-length output vocab-size min-frequency";

static void
encode(struct settings *set, char **files, int count)
{
	bool pair = set->token.pair;

	cli_only(
	    &cli, pair ? "--pair" : "tokenising", pair ? pair_options : encode_options);
	if (pair && set->token.fields.count < 2)
		die_usage("--pair takes two fields or more: -f FIRST -f SECOND");
	if (pair && set->token.refuse)
		set->token.truncation = PAIR_REFUSE;
	if (pair) {
		set->token.asking.template = set->token.template;
		set->token.template = NULL;
	}
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
	datafile_warn_repaired(file);
	datafile_close(file);
	return rows;
}

static void
train(struct settings *set, char **files, int count)
{
	int length = set->token.most ? (int)set->token.most : 512;
	const char *folder = set->token.output;
	int64_t rows = 0;

	bool bytes = set->learn == LEARN_BPE;
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

static void
set_option(struct settings *set, int option)
{
	if (option == OPT_SHARD)
		set->token.shard = shard_parse("--shard", optarg);
	else
		text_field_add(&set->token.fields, optarg);
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
	while ((option = cli_next(&cli, argc, argv, &set)) != -1)
		set_option(&set, option);
	if (set.threads)
		omp_set_num_threads(set.threads);
	if (set.learn)
		train(&set, argv + optind, argc - optind);
	else if (set.decode)
		decode(&set, argv + optind, argc - optind);
	else
		encode(&set, argv + optind, argc - optind);
	text_field_list_free(&set.token.fields);
	return 0;
}
