#include "token/tokenise.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "folder/modules.h"
#include "folder/prompt.h"
#include "stream/stream.h"
#include "stream/table.h"
#include "text/json.h"
#include "token/frame.h"
#include "token/ids.h"
#include "token/template.h"
#include "token/tokenizer.h"

enum { RECORD_BYTES = 64 << 20, ALONE = 1 << 15 };

/* A column, by all threads. -------------------------------------------------------------- */

/* Made lists, kept and reused from call to call. */
struct tokenised {
	int64_t *offsets; /* [lists + 1] into ids */
	int32_t *ids;
	int64_t cut;	   /* texts that were longer than `most` */
	int64_t repaired;  /* texts with invalid UTF-8, taken as U+FFFD */
	int64_t first_cut; /* index of the first text that was cut; -1: none */
	size_t offsets_room, ids_room;
};

/* What one thread makes of the texts first .. last-1. */
struct part {
	struct ids ids;
	int64_t first, last, cut, repaired, first_cut;
};

static void
encode_part(struct part *part, const struct frame *frame, const char *bytes,
    const int64_t *offsets, int64_t *lengths)
{
	struct framed string = { 0 };

	for (int64_t i = part->first; i < part->last; i++) {
		const char *text = bytes + offsets[i];
		size_t length = (size_t)(offsets[i + 1] - offsets[i]),
		       before = part->ids.count;
		part->repaired += utf8_valid(text, length) < length;
		if (frame_encode(frame, text, length, &string, &part->ids) &&
		    part->cut++ == 0)
			part->first_cut = i;
		lengths[i] = (int64_t)(part->ids.count - before);
	}
	free(string.text);
}

/* Where thread `index` of `count` begins: equal shares of bytes, not of texts. */
static int64_t
share(const int64_t *offsets, int64_t texts, int index, int count)
{
	int64_t bytes = offsets[texts] - offsets[0];
	int64_t wanted = offsets[0] + bytes / count * index, low = 0, high = texts;

	if (index == count)
		return texts;
	while (low < high) {
		int64_t middle = (low + high) / 2;
		if (offsets[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
gather(struct tokenised *made, struct part *part, int parts)
{
	size_t total = 0;

	for (int p = 0; p < parts; p++)
		total += part[p].ids.count;
	made->ids = mem_grow(made->ids, &made->ids_room, total + 1, sizeof *made->ids);
	made->cut = made->repaired = 0;
	made->first_cut = -1;
	total = 0;
	for (int p = 0; p < parts; p++) {
		if (part[p].ids.count)
			memcpy(made->ids + total, part[p].ids.id,
			    part[p].ids.count * sizeof *made->ids);
		total += part[p].ids.count;
		if (part[p].cut && made->first_cut < 0)
			made->first_cut = part[p].first_cut;
		made->cut += part[p].cut;
		made->repaired += part[p].repaired;
		ids_free(&part[p].ids);
	}
}

/* Text i is bytes[offsets[i]] .. bytes[offsets[i + 1] - 1].  The result does not depend on the
 * number of threads. */
static void
tokenise_texts(struct tokenised *made, const struct frame *frame, const char *bytes,
    const int64_t *offsets, int64_t texts)
{
	bool few = offsets[texts] - offsets[0] < ALONE; /* not worth waking threads */
	int parts = few ? 1 : omp_get_max_threads();
	struct part *part = mem_zero((size_t)parts, sizeof *part);

	bytes = bytes ? bytes : ""; /* no text at all */
	made->offsets = mem_grow(
	    made->offsets, &made->offsets_room, (size_t)texts + 1, sizeof *made->offsets);
	made->offsets[0] = 0;
	int64_t *lengths = made->offsets + 1;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
	for (int p = 0; p < parts; p++) {
		part[p].first = share(offsets, texts, p, parts);
		part[p].last = share(offsets, texts, p + 1, parts);
		encode_part(&part[p], frame, bytes, offsets, lengths);
	}
	for (int64_t i = 0; i < texts; i++)
		made->offsets[i + 1] += made->offsets[i];
	gather(made, part, parts);
	free(part);
}

/* Opening. ------------------------------------------------------------------------------- */

struct tokenise {
	struct tokenise_options *options;
	struct text_field_list *fields;
	struct tokenizer *tokenizer;
	struct template template;
	struct frame *frame;
	char *prompt, *fingerprint;
	bool forced; /* the prompt is the command line's, not the model's default */
	size_t most;
	struct writer *writer;
	const struct table *table; /* of the text file that is being read, or NULL */
	char *first;		   /* the input that decided on the columns */
	struct column *columns;
	int column_count;
	int *made_columns;	/* [fields] */
	struct tokenised *made; /* [fields] */
	int64_t texts, cut, repaired, empty;
	struct progress *progress;
	double before, of_all; /* of the work: what was before this file, and its share */
};

/* A model that pools the last token was trained with one that ends each text. */
static void
check_end(const struct tokenizer *tokenizer, const char *model)
{
	struct modules *modules = modules_read(model);
	size_t before, after;

	tokenizer_template(tokenizer, &before, &after);
	for (size_t i = 0; modules && i < modules->count && !after; i++) {
		if (strcmp(modules->at[i].type, "Pooling"))
			continue;
		char *path = mem_format("%s/config.json", modules->at[i].folder);
		struct tree *pooling = json_read_optional(path);
		if (tree_boolean(pooling, "pooling_mode_lasttoken", false) ||
		    !strcmp(tree_string(pooling, "pooling_mode", ""), "lasttoken"))
			warn("%s: the model pools the last token, but its tokenizer puts "
			     "none behind a text; let the post_processor of its "
			     "tokenizer.json be a TemplateProcessing that does",
			    model);
		tree_free(pooling);
		free(path);
	}
	modules_free(modules);
}

/* A cut at the left takes what stands before a text with it, as in the reference; a template is to stay. */
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
		    "--truncation-side: left says nothing to %s: model2vec cuts the end",
		    stream->options->model);
	if (stream->options->template && *stream->template.before)
		die_usage(
		    "--template: '%s' stands before a text, where texts are cut; use "
		    "--truncation-side right",
		    stream->template.before);
}

struct tokenise *
tokenise_open(struct tokenise_options *options, char *const *files, int count)
{
	struct tokenise *stream = mem_zero(1, sizeof *stream);
	const char *model = options->model;

	stream->options = options;
	stream->fields = &options->fields;
	stream->tokenizer = tokenizer_open(model);
	check_end(stream->tokenizer, model);
	stream->fingerprint = tokenizer_fingerprint(model);
	const struct tokenizer_static *table = tokenizer_static(stream->tokenizer);
	stream->most = options->most ? options->most
		       : table	     ? table->most
				     : tokenizer_max_length(model);
	stream->forced = options->task || options->prompt;
	stream->prompt = options->task	   ? prompt_find(model, options->task)
			 : options->prompt ? mem_string(options->prompt)
					   : prompt_default(model);
	if (options->template)
		stream->template = template_find(options->template);
	set_side(stream, table);
	stream->frame = frame_new(stream->tokenizer,
	    options->template ? &stream->template : NULL, options->prepare, stream->most);
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

	for (int i = 0; same && i < count; i++) {
		const struct column *a = &columns[i], *b = &stream->columns[i];
		same = !strcmp(a->name, b->name) && a->dtype == b->dtype &&
		       a->text == b->text && a->depth == b->depth && a->rank == b->rank &&
		       !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape);
	}
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

static void
add_ids(struct tokenise *stream)
{
	size_t count = stream->fields->count;

	stream->made_columns = mem_new(count, sizeof *stream->made_columns);
	stream->made = mem_zero(count, sizeof *stream->made);
	for (size_t f = 0; f < count; f++) {
		const struct text_field *field = stream->fields->items[f];
		char *name = mem_format("%s.ids", field->name);
		struct column ids = { .name = name,
			.dtype = DTYPE_I32,
			.depth = stream->columns[field->columns[0]].depth };
		stream->made_columns[f] = stream_add(stream->writer, &ids);
		free(name);
	}
}

/* The columns of an input: those of the first one make the stream's header. */
static void
set_columns(struct tokenise *stream, const char *name, struct reader *reader,
    const struct column *columns, int count)
{
	if (stream->writer && !same_columns(stream, columns, count))
		die("%s: its fields differ from those of %s; make one stream of each",
		    name, stream->first);
	if (stream->writer)
		return;
	if (!stream->fields->count)
		text_field_add_columns(stream->fields, columns, count);
	for (size_t f = 0; f < stream->fields->count; f++)
		text_field_find(stream->fields->items[f], name, columns, count);
	stream->first = mem_string(name);
	stream->column_count = count;
	stream->columns = mem_new((size_t)count, sizeof *stream->columns);
	for (int i = 0; i < count; i++) {
		stream->columns[i] = columns[i];
		stream->columns[i].name = mem_string(columns[i].name);
	}
	stream->writer = stream_create(stream->options->output, reader);
	if (stream->options->level >= 0)
		stream_level(stream->writer, stream->options->level);
	stream_property(stream->writer, "tokenizer", stream->fingerprint);
	for (int i = 0; i < count && !reader; i++)
		stream_add(stream->writer, &columns[i]);
	if (!stream->options->keep)
		drop_texts(stream);
	add_ids(stream);
}

/* Records. ------------------------------------------------------------------------- */

/* A member of an object among the attributes, which is made if need be; NULL takes it away. */
static void
set_attribute(
    struct tree *attributes, const char *object, const char *key, struct tree *value)
{
	struct tree *inner = tree_get(attributes, object);

	if (value)
		tree_set(inner ? inner : tree_set(attributes, object, tree_object()), key,
		    value);
	else if (inner)
		tree_remove(inner, key);
}

/* The prompt of a field: the command line's, else the record's, else the model's default. */
static void
set_prompt(struct tokenise *stream, const char *field, struct tree *attributes)
{
	const char *task = stream->options->task, *prompt = stream->prompt;

	if (!stream->forced)
		prompt = tree_string(tree_get(attributes, "prompts"), field, prompt);
	if (task)
		set_attribute(attributes, "experts", field, tree_of_string(task));
	frame_prompt(stream->frame, prompt ? prompt : "");
	set_attribute(attributes, "prompts", field,
	    prompt && *prompt ? tree_of_string(prompt) : NULL);
	int64_t head = (int64_t)frame_head(stream->frame);
	set_attribute(
	    attributes, "prompt_tokens", field, head ? tree_of_integer(head) : NULL);
}

_Noreturn static void
die_long(const struct tokenise *stream, const struct text_field *field, int depth,
    const char *name, int64_t number, int64_t text)
{
	static const char advice[] =
	    "leave out --no-truncate, or give more with --max-length";

	if (stream->table && depth == 1)
		die("%s:%lld: '%s' is longer than %zu tokens; %s", name,
		    (long long)table_line(stream->table, text), field->name, stream->most,
		    advice);
	die("%s: record %lld: text %lld of '%s' is longer than %zu tokens; %s", name,
	    (long long)number, (long long)text + 1, field->name, stream->most, advice);
}

static void
tokenise_field(struct tokenise *stream, size_t index, const char *name, int64_t number,
    const struct record *from, struct record *made)
{
	struct text_field *field = stream->fields->items[index];
	int depth = stream->columns[field->columns[0]].depth;
	struct tokenised *result = &stream->made[index];
	struct array texts = text_field_texts(field, from);
	int64_t count = depth == 2 ? texts.offsets[0][from->rows] : from->rows;

	set_prompt(stream, field->name, made->attributes);
	tokenise_texts(
	    result, stream->frame, texts.data, texts.offsets[depth - 1], count);
	if (result->cut && stream->options->refuse)
		die_long(stream, field, depth, name, number, result->first_cut);
	stream->texts += count;
	stream->cut += result->cut;
	stream->repaired += result->repaired;
	for (int64_t i = 0; i < count; i++)
		stream->empty += result->offsets[i] == result->offsets[i + 1];
	made->columns[stream->made_columns[index]] = (struct array){ .data = result->ids,
		.offsets = { depth == 2 ? texts.offsets[0] : result->offsets,
		    depth == 2 ? result->offsets : NULL } };
	progress_add(stream->progress, count);
}

static void
put(struct tokenise *stream, const char *name, int64_t number, const struct record *from,
    struct record *made, double share)
{
	progress_span(
	    stream->progress, share, from->rows * (int64_t)stream->fields->count);
	/* the header may be that of an input of another kind, with the same columns */
	for (int i = 0; i < stream->column_count; i++)
		made->columns[i] = from->columns[i];
	for (size_t f = 0; f < stream->fields->count; f++)
		tokenise_field(stream, f, name, number, from, made);
	stream_put(stream->writer, made);
	progress_span(
	    stream->progress, share, 0); /* a row may have many texts, or none */
}

static void
add_stream(struct tokenise *stream, struct input *input)
{
	struct reader *reader = stream_open_input(input);
	int count = stream_columns(reader);
	struct column *columns = mem_new((size_t)count, sizeof *columns);
	struct record record;

	for (int i = 0; i < count; i++)
		columns[i] = *stream_column(reader, i);
	set_columns(stream, stream_name(reader), reader, columns, count);
	free(columns);
	while (stream_next(reader, &record))
		put(stream, stream_name(reader), stream_records(reader), &record,
		    stream_make(stream->writer, &record), stream_share(reader));
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
	struct record *made = stream_make(stream->writer, NULL);
	made->rows = from->rows;
	put(stream, datafile_name(file), number, from, made,
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
add_rows(struct tokenise *stream, struct datafile *file, const struct piece *piece)
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

void
tokenise_add(struct tokenise *stream, const char *path)
{
	struct input *input = input_open(path);

	progress_file(stream->progress);
	if (stream_is(input))
		add_stream(stream, input);
	else
		add_rows(
		    stream, datafile_open_input(input, stream->options->format), NULL);
}

static void
add_piece(struct tokenise *stream, struct piece *piece)
{
	const struct tokenise_options *options = stream->options;
	struct input *input = input_open(piece->path);

	if (stream_is(input))
		die("%s: is a tensor stream, and --shard cuts text files; mts split -n "
		    "%lld cuts this",
		    piece->path, (long long)options->shard.count);
	input_close(input);
	add_rows(stream, piece_open(piece, options->shard, options->format), piece);
	piece_close(piece);
}

void
tokenise_add_shard(struct tokenise *stream, char *const *files, int count)
{
	struct piece *pieces = shard_pieces(stream->options->shard, files, count);
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
	if (stream->cut)
		warn("%lld of %lld texts were longer than %zu tokens and were cut (see "
		     "--max-length, --no-truncate)",
		    (long long)stream->cut, (long long)stream->texts, stream->most);
	if (stream->empty && !tokenizer_static(stream->tokenizer))
		warn("%lld of %lld texts have no tokens; what becomes of them is for "
		     "encode "
		     "--empty to say",
		    (long long)stream->empty, (long long)stream->texts);
	if (stream->repaired)
		warn("%lld texts had invalid UTF-8, which was taken as U+FFFD",
		    (long long)stream->repaired);
	for (size_t f = 0; f < stream->fields->count; f++) {
		free(stream->made[f].offsets);
		free(stream->made[f].ids);
	}
	for (int i = 0; i < stream->column_count; i++)
		free((char *)stream->columns[i].name);
	free(stream->made);
	free(stream->made_columns);
	free(stream->columns);
	free(stream->first);
	free(stream->prompt);
	free(stream->fingerprint);
	frame_free(stream->frame);
	template_free(&stream->template);
	tokenizer_close(stream->tokenizer);
	free(stream);
}
