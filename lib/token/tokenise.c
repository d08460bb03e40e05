#include "token/tokenise.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "stream/documents.h"
#include "stream/stream.h"
#include "stream/stream_format.h"
#include "stream/table.h"
#include "token/passage_rows.h"
#include "token/role.h"
#include "token/template.h"
#include "token/token_columns.h"
#include "token/tokenizer.h"

enum { RECORD_BYTES = 64 << 20, PASSAGE = 256 };

/* Opening. ------------------------------------------------------------------------------- */

struct tokenise {
	struct tokenise_options *options;
	struct text_field_list *fields;
	struct tokenizer *tokenizer;
	struct template template;
	struct role *role; /* of a late-interaction model; else NULL */
	char *fingerprint;
	size_t most;
	struct writer *writer;
	const struct table *table; /* of the text file that is being read, or NULL */
	char *first;		   /* the input that decided on the columns */
	struct column *columns;
	int column_count;
	struct token_columns *made;
	struct progress *progress;
	double before, of_all; /* shares of the work: before this file; of this file */
	bool cuts;	       /* texts into passages: */
	struct passages *passages; /* until passage_rows has them */
	struct passage_rows *passage_rows;
};

/* Truncation at the left removes the start of the string, as in the reference, but a template must stay. */
static void
set_side(struct tokenise *stream, const struct tokenizer_static *table)
{
	enum tokenise_side side = stream->options->side;

	if (side)
		tokenizer_cut(stream->tokenizer, side == TOKENISE_LEFT);
	if (!tokenizer_cuts_left(stream->tokenizer))
		return;
	if (table && table->characters)
		die_usage(
		    "--truncation-side: left does not apply to %s: model2vec cuts the end",
		    stream->options->model);
	if (stream->options->template && *stream->template.before)
		die_usage(
		    "--template: '%s' stands before a text, where texts are cut; use --truncation-side right",
		    stream->template.before);
}

/* Whether texts are cut into passages, and how. */
static void
set_passages(struct tokenise *stream, char *const *files, int count)
{
	const struct tokenise_options *options = stream->options;
	size_t most = options->passage;

	stream->cuts = most > 0;
	for (int i = 0; i < count; i++)
		stream->cuts |= documents_is_folder(files[i]);
	if (!stream->cuts && options->overlap)
		die_usage("--overlap needs --passages or a folder");
	if (!stream->cuts)
		return;
	if (options->pair)
		die_usage("--pair does not apply to a folder of documents");
	if (options->shard.count)
		die_usage(
		    "--shard does not apply to passages; mts split cuts their stream");
	if (!most)
		most = stream->most && stream->most < PASSAGE ? stream->most : PASSAGE;
	if (stream->most && most > stream->most)
		die_usage(
		    "--passages: %zu, but texts have %zu ids at most (--max-length, else the model's)",
		    most, stream->most);
	if (options->overlap > most / 2)
		die_usage("--overlap: %zu is more than half of a passage of %zu",
		    options->overlap, most);
	if (stream->role)
		most -= stream->role->markers;
	stream->passages =
	    passages_new(token_columns_frame(stream->made, most), stream->tokenizer,
		token_columns_prompt(stream->made), most, options->overlap);
}

struct tokenise *
tokenise_open(struct tokenise_options *options, char *const *files, int count)
{
	struct tokenise *stream = mem_zero(1, sizeof *stream);
	const char *model = options->model;

	stream->options = options;
	stream->fields = &options->fields;
	stream->tokenizer = tokenizer_open(model);
	tokenizer_check_end(stream->tokenizer, model);
	stream->fingerprint = tokenizer_fingerprint(model);
	const struct tokenizer_static *table = tokenizer_static(stream->tokenizer);
	stream->role = role_open(model, options->task, stream->tokenizer, options->most);
	stream->most = stream->role    ? stream->role->most
		       : options->most ? options->most
		       : table	       ? table->most
				       : tokenizer_max_length(model);
	if (options->template)
		stream->template = template_find(options->template);
	set_side(stream, table);
	stream->made = token_columns_new(options, stream->tokenizer,
	    options->template ? &stream->template : NULL, stream->role, stream->most);
	set_passages(stream, files, count);
	stream->progress = options->shard.count ? progress_new("texts", 0)
						: progress_files("texts", files, count);
	stream->of_all = 1;
	return stream;
}

/* Columns. ------------------------------------------------------------------------- */

static bool
same_columns(const struct tokenise *stream, const struct column *columns, int count)
{
	bool same = count == stream->column_count;

	for (int i = 0; same && i < count; i++)
		same = !column_difference(&columns[i], &stream->columns[i]);
	return same;
}

static void
drop_texts(struct tokenise *stream)
{
	bool *dropped = mem_zero((size_t)stream->column_count + 1, sizeof *dropped);

	for (size_t f = 0; f < stream->fields->count; f++)
		for (size_t p = 0; p < stream->fields->items[f]->count; p++) {
			int column = stream->fields->items[f]->columns[p];
			if (!dropped[column])
				stream_drop(stream->writer, stream->columns[column].name);
			dropped[column] = true;
		}
	free(dropped);
}

/* The columns of an input, and `made` ones of its passages; to be freed. */
static struct column *
columns_of(const char *name, const struct column *columns, int count, int made)
{
	struct column *all = mem_new((size_t)(count + made), sizeof *all);

	for (int i = 0; i < count; i++) {
		all[i] = columns[i];
		for (int j = 0; j < made; j++)
			if (!strcmp(columns[i].name, passage_columns[j].name))
				die("%s: has a column '%s', which --passages makes; rename it",
				    name, columns[i].name);
	}
	for (int i = 0; i < made; i++)
		all[count + i] = passage_columns[i];
	return all;
}

/* Prepares cutting passages of the text column, which have `made` columns more. */
static void
set_passage_rows(struct tokenise *stream, int count, int made)
{
	const struct text_field_list *fields = stream->fields;
	const struct text_field *field = fields->items[0];
	int path = -1;

	if (fields->count > 1 ||
	    stream->columns[field->columns[field->count - 1]].depth > 1)
		die_usage("--passages cuts one text a row; name it with -f");
	for (int i = 0; i < count; i++)
		if (!strcmp(stream->columns[i].name, documents_columns->name) &&
		    stream->columns[i].text && stream->columns[i].depth == 1)
			path = i;
	stream->passage_rows =
	    passage_rows_new(stream->passages, stream->columns, count, field, path, made);
	stream->passages = NULL;
}

/* Dies if ids of another tokenizer would pass, because the tokenizer is a property of the whole stream. */
static void
check_others(const struct tokenise *stream, const struct reader *reader)
{
	const char *made = tree_string(stream_properties(reader), "tokenizer", NULL);

	if (!made || !strcmp(made, stream->fingerprint))
		return;
	for (int i = 0; i < stream_columns(reader); i++) {
		const char *name = stream_column(reader, i)->name,
			   *dot = strrchr(name, '.');
		if (dot && !strcmp(dot, ".ids") && stream_made_column(stream->writer, i))
			die("%s: '%s' was made by another tokenizer (%.12s) than that of %s (%.12s); make both with one, or drop it (mts cat -c)",
			    stream_name(reader), name, made, stream->options->model,
			    stream->fingerprint);
	}
}

/* The columns of the first input, as the stream's: the reader's, if there is one, and those from `added` on. */
static void
create(struct tokenise *stream, struct reader *reader, int added)
{
	stream->writer = stream_create(stream->options->output, reader);
	stream_level(stream->writer, stream->options->level);
	stream_property(stream->writer, "tokenizer", stream->fingerprint);
	if (stream->options->pair)
		stream_property(
		    stream->writer, "template", stream->options->asking.template);
	for (int i = added; i < stream->column_count; i++)
		stream_add(stream->writer, &stream->columns[i]);
	if (!stream->options->keep && !stream->cuts)
		drop_texts(stream);
	token_columns_add(stream->made, stream->columns, stream->writer);
	if (reader)
		check_others(stream, reader);
}

/* The columns of an input: those of the first one make the stream's header. */
static void
set_columns(struct tokenise *stream, const char *name, struct reader *reader,
    const struct column *columns, int count)
{
	int made = !stream->cuts ? 0 : columns == documents_columns ? 2 : 1;
	struct column *all = columns_of(name, columns, count, made);
	int of_all = count + made;

	if (stream->writer && !same_columns(stream, all, of_all))
		die("%s: its fields differ from those of %s; make one stream of each",
		    name, stream->first);
	if (stream->writer) {
		free(all);
		return;
	}
	if (!stream->fields->count)
		text_field_add_columns(stream->fields, columns, count);
	for (size_t f = 0; f < stream->fields->count; f++)
		text_field_find(stream->fields->items[f], name, columns, count);
	stream->first = mem_string(name);
	stream->columns = all;
	stream->column_count = of_all;
	for (int i = 0; i < of_all; i++)
		all[i].name = mem_string(all[i].name);
	create(stream, reader, reader ? count : 0);
	if (stream->cuts)
		set_passage_rows(stream, count, made);
}

/* Records. ------------------------------------------------------------------------- */

static void
put_record(struct tokenise *stream, const char *name, int64_t number,
    const struct record *from, struct record *made, double share)
{
	progress_span(
	    stream->progress, share, from->rows * (int64_t)stream->fields->count);
	made->rows = from->rows;
	/* the header may be that of an input of another kind, with the same columns */
	for (int i = 0; i < stream->column_count; i++)
		made->columns[i] = from->columns[i];
	int64_t texts = token_columns_counts(stream->made)->texts;
	token_columns_make(stream->made,
	    &(struct token_place){ name, number, stream->cuts ? NULL : stream->table },
	    from, made);
	progress_add(stream->progress, token_columns_counts(stream->made)->texts - texts);
	stream_put(stream->writer, made);
	progress_span(
	    stream->progress, share, 0); /* a row may have many texts, or none */
}

/* A record, or those of its passages; streamed: with its attributes. */
static void
put(struct tokenise *stream, const char *name, int64_t number, const struct record *from,
    bool streamed, double share)
{
	struct record piece;

	if (!stream->cuts) {
		put_record(stream, name, number, from,
		    stream_make(stream->writer, streamed ? from : NULL), share);
		return;
	}
	passage_rows_cut(stream->passage_rows, from);
	while (passage_rows_next(
	    stream->passage_rows, stream->options->rows, RECORD_BYTES, &piece))
		put_record(stream, name, number, &piece,
		    stream_make(stream->writer, streamed ? &piece : NULL), share);
}

static void
add_stream(struct tokenise *stream, struct input *input)
{
	struct reader *reader = stream_open_input(input);
	struct record record;

	set_columns(stream, stream_name(reader), reader, stream_column(reader, 0),
	    stream_columns(reader));
	while (stream_next(reader, &record))
		put(stream, stream_name(reader), stream_records(reader), &record, true,
		    stream_share(reader));
	progress_span(stream->progress, stream_share(reader), 0);
	stream_close(reader);
}

static void
set_table_columns(struct tokenise *stream)
{
	const struct table *table = stream->table;
	int count = table_columns(table);
	struct column *columns = mem_new((size_t)count, sizeof *columns);

	for (int i = 0; i < count; i++)
		columns[i] = *table_column(table, i);
	set_columns(stream, datafile_name(table_file(table)), NULL, columns, count);
	free(columns);
}

/* One record of rows of a text file. */
static void
put_rows(struct tokenise *stream, int64_t number, const struct record *from)
{
	const struct datafile *file = table_file(stream->table);

	set_table_columns(stream);
	put(stream, datafile_name(file), number, from, false,
	    stream->before + datafile_share(file) * stream->of_all);
}

static void
look(void *context, const struct datafile *file, const struct tree *record)
{
	struct text_field_list *fields = context;

	if (!fields->count)
		text_field_add_members(fields, record);
	for (size_t f = 0; f < fields->count; f++)
		text_field_check(
		    fields->items[f], datafile_name(file), datafile_line(file), record);
}

/* The rows of a text file; with a piece, those of it alone. */
static void
add_rows(struct tokenise *stream, struct datafile *file, const struct shard_piece *piece)
{
	struct table *table = table_open(file);
	struct record rows;
	int64_t number = 0, others;

	datafile_max_line(file, stream->options->max_line);
	table_watch(table, look, stream->fields);
	stream->table = table;
	if (piece) {
		table_seek(table, piece->from, piece->to);
		datafile_rename(file, piece->name);
	}
	others = piece ? datafile_repaired(file) : 0;
	while (table_next(table, stream->options->rows, RECORD_BYTES, &rows))
		put_rows(stream, ++number, &rows);
	if (datafile_repaired(file) > others)
		warn("%s: %lld invalid parts of UTF-8 were replaced by U+FFFD",
		    datafile_name(file), (long long)(datafile_repaired(file) - others));
	if (piece && !stream->writer && table_columns(table))
		set_table_columns(stream);
	stream->table = NULL;
	table_close(table);
}

/* folder: where the paths are, for ids. */
static void
add_documents(struct tokenise *stream, struct documents *documents, const char *name,
    const char *folder)
{
	struct record record;
	int64_t number = 0;

	while (documents_next(documents, stream->options->rows, RECORD_BYTES, &record)) {
		set_columns(stream, name, NULL, documents_columns, DOCUMENTS_COLUMNS);
		passage_rows_folder(stream->passage_rows, folder);
		put(stream, name, ++number, &record, false, documents_share(documents));
	}
	documents_close(documents);
}

/* The folder before paths in it, as grep -r writes it, to be freed: "notes/"; of ".", nothing. */
static char *
before_paths(const char *folder)
{
	size_t length = strlen(folder);

	while (length > 1 && folder[length - 1] == '/')
		length--;
	while (length > 1 && folder[0] == '.' && folder[1] == '/') {
		folder += 2;
		length -= 2;
	}
	bool here = length == 1 && *folder == '.';
	return here || !length ? mem_string("")
			       : mem_format("%.*s%s", (int)length, folder,
				     folder[length - 1] == '/' ? "" : "/");
}

static void
add_folder(struct tokenise *stream, const char *path)
{
	const struct token_counts *counts = token_columns_counts(stream->made);
	int64_t before = counts->texts;

	if (stream->options->format != DATAFILE_GUESS)
		die_usage("--format does not apply to a folder");
	char *folder = before_paths(path);
	add_documents(stream, documents_open(path), path, folder);
	free(folder);
	if (counts->texts == before)
		die("%s: its files hold no text", path);
}

void
tokenise_add(struct tokenise *stream, const char *path)
{
	progress_file(stream->progress);
	if (documents_is_folder(path)) {
		add_folder(stream, path);
		return;
	}
	struct input *input = input_open(path);
	if (stream_is(input)) {
		add_stream(stream, input);
		return;
	}
	if (stream->cuts && stream->options->format == DATAFILE_GUESS &&
	    datafile_guess(input) == DATAFILE_LINES) {
		char *name = mem_string(input_name(input)); /* outlives the input */
		add_documents(stream, documents_of(input), name, "");
		free(name);
	} else {
		add_rows(
		    stream, datafile_open_input(input, stream->options->format), NULL);
	}
}

static void
add_piece(struct tokenise *stream, struct shard_piece *piece)
{
	const struct tokenise_options *options = stream->options;
	struct input *input = input_open(piece->path);

	if (stream_is(input))
		die("%s: is a tensor stream, and --shard cuts text files; mts split -n %lld cuts this",
		    piece->path, (long long)options->shard.count);
	input_close(input);
	add_rows(stream, piece_open(piece, options->shard, options->format), piece);
	piece_close(piece);
}

void
tokenise_add_shard(struct tokenise *stream, char *const *files, int count)
{
	struct shard_piece *pieces = shard_pieces(stream->options->shard, files, count);
	double bytes = 0;

	for (int i = 0; i < count; i++)
		bytes += (double)(pieces[i].high - pieces[i].low);
	stream->before = 0;
	for (int i = 0; i < count; i++) {
		int64_t own = pieces[i].high - pieces[i].low;
		stream->of_all = (double)own / bytes;
		if (own)
			add_piece(stream, &pieces[i]);
		stream->before += own ? stream->of_all : 0;
	}
	/* without a row, it has the columns of the others */
	for (int i = 0; i < count && !stream->writer; i++)
		add_piece(stream, &pieces[i]);
	free(pieces);
}

/* No input had a row: a stream without records, with the columns that were asked for. */
static void
put_nothing(struct tokenise *stream)
{
	struct column *columns = NULL;
	size_t count = 0, room = 0;

	if (!stream->fields->count)
		text_field_add(stream->fields, "text");
	for (size_t f = 0; f < stream->fields->count; f++)
		for (size_t p = 0; p < stream->fields->items[f]->count; p++) {
			char *name = stream->fields->items[f]->parts[p];
			size_t i = 0;
			while (i < count && strcmp(columns[i].name, name))
				i++;
			columns = mem_grow(columns, &room, count + 1, sizeof *columns);
			columns[i] = (struct column){
				.name = name, .dtype = DTYPE_U8, .text = true, .depth = 1
			};
			count += i == count;
		}
	set_columns(stream, "<stdin>", NULL, columns, (int)count);
	free(columns);
}

void
tokenise_close(struct tokenise *stream)
{
	if (!stream->writer)
		put_nothing(stream);
	stream_finish(stream->writer);
	progress_free(stream->progress);
	const struct token_counts *counts = token_columns_counts(stream->made);
	const char *what = stream->options->pair ? "pairs" : "texts";
	if (counts->cut)
		warn(
		    "%lld of %lld %s were longer than %zu tokens and were cut (see --max-length, --no-truncate)",
		    (long long)counts->cut, (long long)counts->texts, what, stream->most);
	if (counts->empty && !tokenizer_static(stream->tokenizer))
		warn(
		    "%lld of %lld texts have no tokens; what becomes of them is for encode --empty to say",
		    (long long)counts->empty, (long long)counts->texts);
	if (counts->repaired)
		warn("%lld %s had invalid UTF-8, which was taken as U+FFFD",
		    (long long)counts->repaired, what);
	if (stream->passage_rows)
		passage_rows_free(stream->passage_rows);
	if (stream->passages)
		passages_free(stream->passages);
	for (int i = 0; i < stream->column_count; i++)
		free((char *)stream->columns[i].name);
	free(stream->columns);
	free(stream->first);
	free(stream->fingerprint);
	token_columns_free(stream->made);
	template_free(&stream->template);
	if (stream->role)
		role_free(stream->role);
	tokenizer_close(stream->tokenizer);
	free(stream);
}
