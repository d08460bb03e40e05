/*
 * mts - look at, cut, join, compare and convert tensor streams
 *
 * reads	any columns
 * writes	cat: those kept; paste: those of all streams; from: those of the file
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "mts/mts.h"
#include "nn/nn.h"
#include "stream/stream.h"

enum { OPT_RENAME = CLI_LONG, OPT_SORT };

struct settings {
	int64_t show, rows, max_line, seed; /* seed -1: not given */
	double absolute, relative;
	struct selection selection;
	struct cli_list numbers, vectors;
	struct row_selection chosen;
	struct index_request index;
	bool json, spread;
	int level, threads, dim; /* level -1: the default */
	const char *ranges, *output;
};

static const struct cli_option options[] = {
	{ 'n', "count", "N",
	    "head: rows to show (default: 5)\nsplit: number of streams to make",
	    CLI_INTEGER(show, 0, INT64_MAX) },
	{ 0, "json", NULL,
	    "head: a line of JSON for the header and each row\nstat: one JSON object",
	    CLI_FLAG(json) },
	{ 0, "rows", "LIST",
	    "rows: row numbers, from 1, as in 1-10,200- (default: all); repeatable",
	    CLI_LIST(chosen.numbers) },
	{ 0, "where", "CONDITION",
	    "rows: COLUMN=VALUE, or with !=, <, <=, >, >=, ~, !~; repeatable: all must hold",
	    CLI_LIST(chosen.conditions) },
	{ 0, "sample", "N", "rows: a random subset of N rows",
	    CLI_INTEGER(chosen.sample, 1, INT64_MAX) },
	{ 's', "seed", "N", "rows: seed of --sample (default: 0)",
	    CLI_INTEGER(seed, 0, INT64_MAX) },
	{ OPT_SORT, "sort", "COLUMN,...",
	    "rows: sort by columns; '-COLUMN': descending; repeatable", CLI_CUSTOM },
	{ 0, "atol", "X", "diff: absolute tolerance (default: 0)",
	    CLI_REAL(absolute, 0, 1e300) },
	{ 0, "rtol", "X", "diff: relative tolerance (default: 0)",
	    CLI_REAL(relative, 0, 1e300) },
	{ 'c', "columns", "NAME,...",
	    "cat, to: columns to keep (default: all); repeatable\ncast: columns of vectors (default: emb, *.emb, *.tokens)\nindex: columns that near --where asks for\nfrom npy: name of the column (default: emb)\nfrom safetensors: tensors to read (default: all)",
	    CLI_CUSTOM },
	{ 0, "ranges", "FILE",
	    "cast i8: ranges of the codes are those of the vectors in FILE (default: of the first 10,000)",
	    CLI_TEXT(ranges) },
	{ 0, "dim", "K", "cast: keep the first K numbers of a vector (Matryoshka)",
	    CLI_INTEGER(dim, 1, 1 << 20) },
	{ 0, "spread", NULL,
	    "to tsv, csv: a column for each number of a vector, X_0, X_1, ...",
	    CLI_FLAG(spread) },
	{ OPT_RENAME, "rename", "OLD=NEW", "cat: rename a column; repeatable",
	    CLI_CUSTOM },
	{ 0, "record-rows", "N", "from: rows of a record (default: 1024)",
	    CLI_INTEGER(rows, 1, 1 << 24) },
	{ 0, "numbers", "NAME,...",
	    "from tsv, csv, jsonl: columns whose text is numbers; repeatable",
	    CLI_LIST(numbers) },
	{ 0, "vectors", "NAME,...",
	    "from jsonl: columns whose lists of numbers are vectors; repeatable",
	    CLI_LIST(vectors) },
	{ 0, "max-line", "BYTES",
	    "from tsv, csv, jsonl: refuse longer lines (default: 64M)",
	    CLI_BYTES(max_line) },
	{ 0, "append", NULL, "index: add the rows with new ids to the index",
	    CLI_FLAG(index.append) },
	{ 0, "replace", NULL, "index: add the rows; they replace those with their ids",
	    CLI_FLAG(index.replace) },
	{ 0, "sync", NULL,
	    "index: as --replace, and remove the rows that the streams lack",
	    CLI_FLAG(index.sync) },
	{ 0, "remove", "FILE", "index: remove the rows whose ids are lines of FILE",
	    CLI_TEXT(index.remove) },
	{ 0, "best", NULL,
	    "index: rows with the same id are passages; the best ranks their document",
	    CLI_FLAG(index.options.passages) },
	{ 0, "check", NULL, "index: compare an index with its checksums",
	    CLI_FLAG(index.check) },
	{ 0, "cells", "N",
	    "index: lay similar rows together in N cells, for near --probe",
	    CLI_INTEGER(index.options.cells, 1, 1 << 24) },
	{ 0, "graph", "N", "index: link each row to N others, for near --beam (try 32)",
	    CLI_INTEGER(index.options.degree, 2, GRAPH_LINKS_MOST) },
	{ 0, "codes-only", NULL, "index: keep 8 bits of a number, no floats",
	    CLI_FLAG(index.options.codes_only) },
	{ 'f', "field", "NAME", "index: embeddings are NAME.emb (default: the only ones)",
	    CLI_TEXT(index.options.field) },
	{ 0, "similarity", "cosine|dot",
	    "index: similarity function (default: the model's, else cosine)",
	    CLI_WORD(index.options.similarity, SIMILARITY_COSINE) },
	CLI_LEVEL(level), CLI_THREADS(threads),
	{ 'o', "output", "FILE",
	    "write FILE instead of standard output\nsplit: prefix of the parts (default: FILE's name)\nindex: the folder to write",
	    CLI_TEXT(output) },
	{ 0 }
};

static const struct cli cli;

static int
head(void *with, char **files, int count)
{
	const struct settings *settings = with;
	int64_t show = settings->show < 0 ? 5 : settings->show;
	struct reader *reader = stream_open(count ? files[0] : "-");
	struct output *output = output_print(settings->output);

	(settings->json ? head_json : head_print)(reader, show);
	stream_close(reader);
	output_finish(output);
	return 0;
}

static int
stat_stream(void *with, char **files, int count)
{
	const struct settings *settings = with;
	struct reader *reader = stream_open(count ? files[0] : "-");
	struct output *output = output_print(settings->output);

	if (!settings->json)
		head_header(reader);
	struct stat *stat = stat_new(reader);
	(settings->json ? stat_json : stat_print)(stat, reader);
	stat_free(stat);
	stream_close(reader);
	output_finish(output);
	return 0;
}

static int
rows(void *with, char **files, int count)
{
	const struct settings *settings = with;

	if (settings->seed >= 0 && !settings->chosen.sample)
		die_usage("--seed needs --sample");
	rows_select(
	    count ? files[0] : "-", &settings->chosen, settings->output, settings->level);
	return 0;
}

static int
cat(void *with, char **files, int count)
{
	const struct settings *settings = with;
	char dash[] = "-", *standard[] = { dash };

	cat_streams(count ? files : standard, count ? count : 1, &settings->selection,
	    settings->output, settings->level);
	return 0;
}

static int
split(void *with, char **files, int count)
{
	const struct settings *settings = with;

	if (settings->show < 1 || settings->show > SPLIT_MOST)
		die_usage("split: -n says how many streams to make, 1 to %d", SPLIT_MOST);
	split_stream(count ? files[0] : "-", (int)settings->show,
	    strcmp(settings->output, "-") != 0 ? settings->output : NULL,
	    settings->level);
	return 0;
}

static int
paste(void *with, char **files, int count)
{
	const struct settings *settings = with;

	paste_streams(files, count, settings->output, settings->level);
	return 0;
}

static int
diff(void *with, char **files, int count)
{
	const struct settings *settings = with;

	exit_failed = EXIT_USAGE; /* 1 says that they differ */
	struct reader *one = stream_open(files[0]), *two = stream_open(files[1]);
	struct output *output = output_print(settings->output);
	bool same = diff_streams(one, two, settings->absolute, settings->relative);

	(void)count;
	stream_close(one);
	stream_close(two);
	output_finish(output);
	return same ? 0 : EXIT_DATA;
}

static int
to(void *with, char **files, int count)
{
	const struct settings *settings = with;
	enum to_format format = to_parse(files[0], settings->spread);
	struct reader *reader = stream_open(count > 1 ? files[1] : "-");
	struct progress *progress = stream_progress(reader);
	to_file(reader, format, &settings->selection.kept, settings->spread,
	    settings->output);
	progress_free(progress);
	stream_close(reader);
	return 0;
}

static int
from(void *with, char **files, int count)
{
	const struct settings *settings = with;

	from_file(&cli, files[0], count > 1 ? files[1] : "-",
	    &(struct from_options){ &settings->selection.kept, &settings->numbers,
		&settings->vectors, settings->rows, settings->max_line, settings->level,
		settings->output });
	return 0;
}

static int
cast(void *with, char **files, int count)
{
	const struct settings *settings = with;

	cast_stream(files[0], count > 1 ? files[1] : "-", &settings->selection.kept,
	    &(struct cast_options){
		settings->ranges, settings->dim, settings->level, settings->output });
	return 0;
}

static int
make_index(void *with, char **files, int count)
{
	struct settings *settings = with;

	settings->index.options.kept = settings->selection.kept.items;
	settings->index.options.kept_count = settings->selection.kept.count;
	index_command(&cli, &settings->index, settings->output, files, count);
	return 0;
}

static const struct cli_command commands[] = {
	{ "head", "the header and the first rows", "count json output", 0, 1, head },
	{ "stat", "the header and statistics of each column", "json output", 0, 1,
	    stat_stream },
	{ "rows", "rows by number, condition or at random, sorted",
	    "rows where sample seed sort level output", 0, 1, rows },
	{ "cat", "streams one after another, or some of their columns",
	    "columns rename level output", 0, -1, cat },
	{ "split", "split a stream into several", "count level output", 0, 1, split },
	{ "paste", "streams side by side", "level output", 2, -1, paste },
	{ "diff", "whether two streams are the same within a tolerance",
	    "atol rtol output", 2, 2, diff },
	{ "to", "a stream as another kind of file", "columns spread output", 1, 2, to },
	{ "from", "another kind of file as a stream",
	    "columns record-rows numbers vectors max-line level output", 1, 2, from },
	{ "cast", "vectors as other numbers: f32, f16, codes of 8 bits, single bits",
	    "columns ranges dim level output", 1, 2, cast },
	{ "index", "a folder of vectors that near(1) searches quickly",
	    "append replace sync remove best cells graph codes-only check columns field similarity threads output",
	    0, -1, make_index },
	{ 0 },
};

static const struct cli cli = { "mts",
	"look at, cut, join, compare and convert tensor streams",
	"head [-n N] [FILE]\n"
	"       mts stat [FILE]\n"
	"       mts rows [--rows LIST] [--where CONDITION]... [OPTION]... [FILE]\n"
	"       mts cat [-c NAME,...] [--rename OLD=NEW]... [FILE]...\n"
	"       mts split -n N [-o PREFIX] [FILE]\n"
	"       mts paste FILE FILE...\n"
	"       mts diff [--atol X] [--rtol X] FILE FILE\n"
	"       mts to npy|safetensors|jsonl|tsv|csv [-c NAME,...] [FILE]\n"
	"       mts from npy|safetensors|jsonl|tsv|csv|index [--record-rows N] [FILE]\n"
	"       mts cast f32|f16|i8|bit [-c NAME,...] [--dim K] [--ranges FILE] [FILE]\n"
	"       mts index [OPTION]... -o DIR [FILE]...\n"
	"       mts index [--append|--replace|--sync] [--remove FILE] -o DIR [FILE]...\n"
	"       mts index --check DIR",
	options,
	"  tok -m DIR text.jsonl | encode -m DIR | mts head\n"
	"  mts stat x.mts\n"
	"  mts rows --where label=joy --where 'score>=4' --sort -score x.mts > y.mts\n"
	"  mts cat -c _id,text.emb a.mts b.mts > x.mts\n"
	"  mts split -n 64 -o parts/x x.mts\n"
	"  mts paste queries.mts answers.mts > pairs.mts\n"
	"  mts diff --atol 1e-5 --rtol 1e-4 old.mts new.mts\n"
	"  mts to npy -c text.emb x.mts > x.npy\n"
	"  mts from npy -c text.emb x.npy > x.mts\n"
	"  mts cast i8 --ranges c.mts c.mts > small.mts\n"
	"  mts index -o c.index c.mts\n"
	"  mts index --replace --remove gone.txt -o c.index changed.mts\n",
	NULL, commands,
	".mts\n"
	"to: npy|safetensors|jsonl|tsv|csv .mts\n"
	"cast: f32|f16|i8|bit .mts\n"
	"from: npy|safetensors|jsonl|tsv|csv|index .npy|.safetensors|.jsonl|.tsv|.csv" };

int
main(int argc, char **argv)
{
	struct settings settings = { .show = -1,
		.seed = -1,
		.rows = 1024,
		.max_line = DATAFILE_LINE,
		.level = -1,
		.output = "-" };

	struct selection *selection = &settings.selection;
	int option;

	cli_start(&cli, argc, argv);
	while ((option = cli_next(&cli, argc, argv, &settings)) != -1)
		switch (option) {
		case 'c': names_add_list(&selection->kept, optarg); break;
		case OPT_RENAME: names_add_rename(&selection->renames, optarg); break;
		case OPT_SORT: names_add_list(&settings.chosen.sorts, optarg); break;
		}
	if (settings.seed > 0)
		settings.chosen.seed = (uint64_t)settings.seed;
	if (settings.index.append || settings.index.replace || settings.index.sync ||
	    settings.index.options.cells || settings.index.options.degree)
		nn_start(settings.threads, argv);
	int status = cli_find(&cli, argc, argv)
			 ->run(&settings, argv + optind + 1, argc - optind - 1);
	names_free(&settings.selection.kept);
	names_free(&settings.selection.renames);
	free(settings.numbers.items);
	free(settings.vectors.items);
	free(settings.chosen.numbers.items);
	free(settings.chosen.conditions.items);
	names_free(&settings.chosen.sorts);
	return status;
}
